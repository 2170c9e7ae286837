"""Hot words: the domain's rare terms, names first, and nothing a recogniser could mishear into."""

from __future__ import annotations

from pathlib import Path

from retrieval.codes import find_codes
from retrieval.corpus import load_corpus
from retrieval.types import Passage, PassageId
from voice_agent.hotwords import hot_words

KB = Path(__file__).resolve().parents[2] / "data" / "kb"


def passage(n: int, title: str, text: str, *questions: str) -> Passage:
    return Passage(PassageId(str(n)), text, title, questions)


def test_domain_terms_come_before_common_words() -> None:
    """What is asked and answered in several passages and rare elsewhere is listed; 多少 and 时间 never are."""
    passages = [
        passage(1, "光猫更换", "光猫免费更换。光猫要还。", "光猫坏了多久能换"),
        passage(2, "光猫押金", "光猫押金是多少时间都退。", "光猫押金多少"),
    ]
    words = hot_words(passages, 10)
    assert words[0] == "光猫"
    assert not {"多少", "时间", "多久"} & set(words)


def test_the_demo_list_is_short_rare_and_without_codes() -> None:
    """At most the count asked for, each once, and no code: an expected code is heard in its neighbour."""
    words = hot_words(load_corpus(KB).passages, 60)
    assert len(words) == len(set(words)) == 60
    assert not [word for word in words if find_codes(word)]
    assert {"光猫", "副卡", "移机", "退款"} <= set(words)


def test_nothing_to_go_by_is_no_hot_word() -> None:
    """No passage or no room: no list, and no fault."""
    assert hot_words([], 50) == []
    assert hot_words([passage(1, "光猫", "光猫光猫。")], 0) == []
