"""What successive guesses agree on."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from audio.stabilise import Guesses, agree, bare


def heard(texts: Sequence[str]) -> Guesses:
    guesses = Guesses()
    for text in texts:
        guesses = agree(guesses, text)
    return guesses


def test_what_two_guesses_agree_on_is_settled() -> None:
    """Nothing after one guess; then the common beginning, by character."""
    assert heard(["退款"]).settled_text == ""
    assert heard(["退款多酒", "退款多久能"]).settled_text == "退款多"
    assert heard(["退款多酒", "退款多久能", "退款多久能到账"]).settled_text == "退款多久能"


def test_punctuation_is_not_agreed_on() -> None:
    """Marks come and go between guesses and keep nothing from settling (FIELD A4)."""
    assert heard(["我想问，退款", "我想问退款。多久"]).settled_text == "我想问退款"
    assert heard(["我想问退款", "我想问，退款多久"]).settled_text == "我想问，退款"


def test_scripts_are_one() -> None:
    """Whisper changes script from one guess to the next; that is no disagreement (FIELD A7 6)."""
    assert heard(["會員積分", "会员积分多少"]).settled_text == "会员积分"


def test_what_was_settled_stays() -> None:
    """A later guess that denies it is not believed; one that agrees again goes on."""
    guesses = heard(["退款多久", "退款多久到", "腿宽"])
    assert guesses.settled_text == "退款多久"
    assert agree(guesses, "退款多久到账").settled_text == "退款多久到"


@given(st.lists(st.text("退款多久到账，。 aA1", max_size=8), max_size=8))
def test_laws_of_agreement(texts: list[str]) -> None:
    """The settled letters only grow, and each was in two guesses at its place."""
    guesses, before = Guesses(), ""
    for text in texts:
        guesses = agree(guesses, text)
        settled = guesses.letters[: guesses.settled]
        assert settled.startswith(before) and bare(guesses.settled_text) == settled
        assert sum(bare(t).startswith(settled) for t in texts) >= 2 or not settled
        before = settled
