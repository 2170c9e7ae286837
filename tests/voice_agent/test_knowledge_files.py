"""What the configuration names of the knowledge base arrives as configured."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.bm25 import Bm25
from retrieval.errors import CorpusError
from retrieval.query import make_query
from retrieval.types import Passage, PassageId
from voice_agent.config import Config, load_config
from voice_agent.knowledge_files import read_corpus, read_lexicon

ROOT = Path(__file__).resolve().parents[2]
PAGE = "<h1>手册</h1><p>" + "退货须在签收后七天内申请。" * 30 + "</p>"


def configured(folder: Path, text: str = "") -> Config:
    (folder / "kb").mkdir(exist_ok=True)
    (folder / "config.yaml").write_text(f"paths: {{kb: kb}}\n{text}", encoding="utf-8")
    return load_config(folder / "config.yaml")


def test_the_shipped_sizes_cut_the_manuals_as_their_labels_say() -> None:
    """The evaluation names passages of the manuals by part number: other sizes would make other parts."""
    ids = [p.id for p in read_corpus(load_config(ROOT / "config.yaml")).passages if "#" in p.id]
    assert len(ids) == 63
    assert {"manual_router#首次设置/登录管理页面-2", "manual_broadband#光猫使用/指示灯-3"} <= set(ids)


def test_sizes_are_settings(tmp_path: Path) -> None:
    """Larger passages are fewer."""
    config = configured(tmp_path)
    (tmp_path / "kb" / "a.md").write_text("# 甲\n\n" + "退货须在签收后七天内申请。" * 100, encoding="utf-8")
    small = read_corpus(config).passages
    large = read_corpus(configured(tmp_path, "chunks: {target_tokens: 400, limit_tokens: 480}")).passages
    assert len(large) < len(small)
    assert max(len(p.text) for p in small) <= 422


def test_documents_are_kept_beside_the_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second start does not convert again."""
    monkeypatch.setenv("VOICE_AGENT_HOME", str(tmp_path / "home"))
    config = configured(tmp_path)
    (tmp_path / "kb" / "a.html").write_text(PAGE, encoding="utf-8")
    first = read_corpus(config)
    (kept,) = (tmp_path / "home" / "documents").iterdir()
    kept.write_text("# 手册\n\n这是留下的那份。", encoding="utf-8")
    assert "留下的那份" not in first.passages[0].text
    assert "留下的那份" in read_corpus(config).passages[0].text


def test_the_users_words_are_whole_in_passages_and_in_questions(tmp_path: Path) -> None:
    """One tokenizer on both sides: 澄湾商城 is one term where it is searched and where it is asked."""
    (tmp_path / "words.txt").write_text("澄湾商城\n", encoding="utf-8")
    words = read_lexicon(configured(tmp_path, "retrieval: {dictionary: words.txt}"))
    channel = Bm25([Passage(PassageId("a"), "澄湾商城支持退货。")], words.terms)
    query = make_query("澄湾商城能退货吗", cut=words.terms)
    assert "澄湾商城" in query.terms
    assert channel.scores(["澄湾商城"])[0] > 0
    assert "澄湾商城" not in make_query("澄湾商城能退货吗").terms


def test_wrong_lines_of_the_dictionary_stop_the_start(tmp_path: Path) -> None:
    """Each is named with its file and line."""
    (tmp_path / "words.txt").write_text("好词\n，\n澄湾 100 n\n", encoding="utf-8")
    with pytest.raises(CorpusError) as caught:
        read_lexicon(configured(tmp_path, "retrieval: {dictionary: words.txt}"))
    assert "words.txt:2 " in str(caught.value) and "words.txt:3 " in str(caught.value)
