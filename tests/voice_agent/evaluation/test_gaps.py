"""What to write next: only what a text could mend, grouped by meaning, the same on every run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.types import GateReason, Outcome
from tests.voice_agent.evaluation.results import gate, question, result
from voice_agent.evaluation.gaps import clusters, gaps
from voice_agent.evaluation.walk import Result


class LetterEncoder:
    """A text's meaning is its first letter."""

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), 26), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[ord(text[0]) - ord("a")] = 1.0
        return rows


def unanswered(
    ident: str, words: str, reason: GateReason = GateReason.LOW_SCORE, expect: Sequence[str] = ()
) -> Result:
    asked = question(ident, words, expect=expect)
    return Result(asked, {}, gate(Outcome.REFUSE, reason=reason), ("near",))


def test_average_linkage_joins_what_is_near_on_average() -> None:
    """Two pairs become groups; the row near to one member alone does not join; order is by size, then first row."""
    near = np.array([[1.0, 0.9, 0.0, 0.1], [0.9, 1.0, 0.5, 0.0], [0.0, 0.5, 1.0, 0.0], [0.1, 0.0, 0.0, 1.0]])
    assert clusters(near, 0.4) == [[0, 1], [2], [3]]
    assert clusters(near, 0.2) == [[0, 1, 2], [3]]
    assert clusters(np.zeros((0, 0)), 0.5) == []


def test_groups_are_labelled_by_what_they_share() -> None:
    """Largest first; the label is what most of the group say and others do not; the nearest passages are named."""
    asked = [
        unanswered("1", "apple price today"),
        unanswered("2", "apple price now", expect=["a"]),
        unanswered("3", "bus today"),
        result(question("4", "answered"), Outcome.ANSWER),
    ]
    found = gaps(asked, LetterEncoder(), str.split, ["x", "y"])
    assert [gap["ids"] for gap in found] == [["1", "2"], ["3"]]
    assert found[0]["label"][:2] == ["apple", "price"] and found[0]["nearest"] == ["near"]
    assert (found[0]["count"], found[0]["answerable"]) == (2, 1)
    assert found == gaps(asked, LetterEncoder(), str.split, ["x", "y"])


def test_what_no_text_can_mend_is_no_gap() -> None:
    """A topic for a person, nothing heard, a channel down: writing passages would not help."""
    asked = [unanswered("1", "a", GateReason.MUST_HANDOFF), unanswered("2", "b", GateReason.CHANNEL_DOWN)]
    assert gaps(asked, LetterEncoder(), str.split, ["x"]) == []
