"""Laws of the tokenizer and of the user dictionary."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.errors import CorpusError
from retrieval.terms import STOP_WORDS, Lexicon, load_user_words, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3天到账", {"3天", "3", "天", "到", "账"}),
        ("不支持7天无理由退货", {"不", "支持", "7天", "无", "理由", "退货"}),
        ("ERR_2048", {"err2048", "err", "2048"}),
        ("显卡RTX 4090", {"显卡", "rtx4090", "rtx", "4090"}),
        ("update_billing_address", {"update_billing_address", "update", "billing", "address"}),
        ("CW-AX3000", {"cwax3000", "ax3000", "cw", "3000"}),
        ("learning", {"learning"}),
        ("３．５折", {"3.5折"}),
        ("500MB流量", {"500mb", "流量"}),
    ],
)
def test_a_text_holds_these_terms(text: str, expected: set[str]) -> None:
    """Codes whole and in parts, figures with their unit, words; nothing is glued or cut wrongly."""
    assert expected <= set(terms(text))


@pytest.mark.parametrize("word", ["不", "无", "没", "未", "非", "别", "没有", "不能", "无法"])
def test_negations_are_never_stop_words(word: str) -> None:
    """A lost 不 turns an answer round."""
    assert word not in STOP_WORDS
    assert any(word[0] in term for term in terms(f"订单{word}支持退货"))


@pytest.mark.parametrize(
    ("spoken", "written"),
    [
        ("三到五个工作日", "3到5个工作日"),
        ("退款幾天到賬", "退款几天到账"),
        ("E R R 下划线二零四八", "ERR-2048"),
        ("０Ｘ８００７０００５", "0x80070005"),
    ],
)
def test_two_ways_of_writing_are_the_same_terms(spoken: str, written: str) -> None:
    """Question and passage meet whatever their script, width or numerals."""
    assert terms(spoken) == terms(written)


@pytest.mark.parametrize("empty", ["", "  \n", "，。！？", "\u200b"])
def test_noise_has_no_terms(empty: str) -> None:
    """An empty question matches nothing."""
    assert terms(empty) == ()


def test_user_words_stay_whole_without_breaking_others() -> None:
    """A Chinese name is one word; a Latin one is matched whole and never inside a longer word."""
    lexicon = Lexicon(["澄湾商城", "wi-fi", "arni"])
    assert "澄湾商城" in lexicon.terms("澄湾商城的规则")
    assert "wifi" in lexicon.terms("连不上Wi-Fi了")
    assert lexicon.terms("learning") == ("learning",)
    assert "澄湾商城" not in terms("澄湾商城的规则")


@pytest.mark.parametrize("sign", ["-", "_", "%", "·", "+", "/", ".", " ", "&"])
def test_user_words_with_signs_stay_whole(sign: str) -> None:
    """Whatever stands in a name: the dictionary's own rule for its words would cut it there."""
    word = f"flow{sign}pack"
    lexicon = Lexicon([word, f"云{sign}盘"])
    (whole,) = set(lexicon.terms(word)) - {"flow", "pack"}
    assert whole in lexicon.terms(f"办理{word}要多少钱")
    assert whole not in lexicon.terms("flow and pack")
    assert set(lexicon.terms(f"云{sign}盘怎么用")) & {f"云{sign}盘", "云盘"}


def test_user_words_with_blanks_are_one_term_however_they_are_spaced() -> None:
    """Galaxy Buds Pro is a name of three words."""
    lexicon = Lexicon(["Galaxy Buds Pro"])
    for text in ("买Galaxy Buds Pro吗", "galaxy  buds pro", "ＧＡＬＡＸＹ BUDS PRO坏了"):
        assert "galaxybudspro" in lexicon.terms(text)
    assert "galaxybudspro" not in lexicon.terms("galaxy buds")


def test_one_code_has_one_whole_term_however_it_is_written() -> None:
    """RTX-4090, RTX 4090, RTX4090 and its spoken form share the whole and the parts."""
    forms = (
        "RTX-4090",
        "RTX 4090",
        "RTX4090",
        "rtx_4090",
        "ＲＴＸ４０９０",
        "R T X 四零九零",
        "RTX杠四千零九十",
    )
    assert {terms(form) for form in forms} == {("rtx4090", "rtx", "4090")}


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("3天到账", "3天"),
        ("满200元减30元", "30元"),
        ("２０１２年", "2012年"),
        ("固件Ｖ1.0.2", "v1.0.2"),
        ("T+3到账", "t+3"),
        ("打400-820-8820", "4008208820"),
        ("机型I9300", "i9300"),
        ("费率3.5%", "3.5%"),
    ],
)
def test_figures_and_codes_are_never_cut_apart(text: str, whole: str) -> None:
    """The guessing model of the word cutter would glue 天 to 到账 and cut codes at their signs."""
    assert whole in terms(text)


def test_loading_the_dictionary_writes_nothing_to_the_shared_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another user's cache in the temporary folder is neither trusted nor left behind."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    Lexicon().warm()
    assert list(tmp_path.iterdir()) == []


def test_a_word_list_is_read_with_comments(tmp_path: Path) -> None:
    """One word a line, # begins a comment, blank lines are nothing."""
    path = tmp_path / "words.txt"
    path.write_text("# names\n澄湾商城\n\nCW-Buds  # earphones\n", encoding="utf-8")
    assert load_user_words(path) == ("澄湾商城", "CW-Buds")


def test_every_wrong_line_is_named(tmp_path: Path) -> None:
    """The user sees all faults at once, each with its line."""
    path = tmp_path / "words.txt"
    path.write_text(f"好词\n{'长' * 40}\n，\n澄湾 100 n\n好词\n", encoding="utf-8")
    with pytest.raises(CorpusError) as caught:
        load_user_words(path)
    assert "\n" not in str(caught.value)
    for line in (2, 3, 4, 5):
        assert f"{path}:{line} " in str(caught.value)
    assert f"{path}:1 " not in str(caught.value)


def test_a_missing_or_foreign_word_list_is_a_corpus_error(tmp_path: Path) -> None:
    """No traceback for a wrong path or encoding."""
    with pytest.raises(CorpusError, match="cannot be read"):
        load_user_words(tmp_path / "none.txt")
    (tmp_path / "gbk.txt").write_bytes("澄湾".encode("gbk"))
    with pytest.raises(CorpusError, match="UTF-8"):
        load_user_words(tmp_path / "gbk.txt")


@given(st.text(max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_text_can_be_cut(text: str) -> None:
    """No Unicode text raises, and no term is empty."""
    assert all(terms(text))
