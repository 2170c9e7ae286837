"""The answer layer: sentences are counted by verdict, marks by whether they name something."""

from __future__ import annotations

from retrieval.types import Outcome, VerdictReason
from tests.voice_agent.evaluation.results import checked, question, result
from voice_agent.evaluation.answers import answer_measures, answer_row, spoken_text

GOOD = result(question("1"), Outcome.ANSWER, ["a", "b"], [checked("三天到账。[S1]"), checked("不收费。[S1]")])
HALTED = result(
    question("2", expect=["b"]),
    Outcome.ANSWER,
    ["a", "b"],
    [
        checked("您好。", None, ()),
        checked("五天到账。[S1]", VerdictReason.NUM_UNSUPPORTED),
        checked("见手册。[S7]", VerdictReason.BAD_ID, ()),
    ],
)
REFUSED = result(question("3"), Outcome.REFUSE)


def nearness(asked: str, said: str) -> float:
    assert "[S" not in said, "marks are not heard"
    return 0.25 if said else 1.0


def test_faithfulness_counts_generated_sentences_and_courtesy_counts_nowhere() -> None:
    """Two of four stating sentences pass; 您好 states nothing; one answer is taken back."""
    found = answer_measures([GOOD, HALTED, REFUSED], nearness, "m1")
    assert (found["answered"], found["spoken"], found["withheld"], found["sentences"]) == (2, 1, 1, 4)
    assert (found["faithfulness"]["count"], found["faithfulness"]["of"]) == (2, 4)
    assert found["blocked_for"] == {"NUM_UNSUPPORTED": 1, "BAD_ID": 1}
    assert (found["relevance"], found["relevance_by"]) == (0.25, "m1")


def test_context_and_citations_by_hand() -> None:
    """The right passage first, then second: precision (1 + 1/2) / 2; S7 of two shown names nothing."""
    found = answer_measures([GOOD, HALTED, REFUSED], nearness, "m1")
    assert (found["context_precision"], found["context_recall"]) == (0.75, 1.0)
    assert (found["citation_coverage"]["count"], found["citation_coverage"]["of"]) == (3, 4)
    assert (found["invalid_citation"]["count"], found["invalid_citation"]["of"]) == (1, 4)
    assert (found["right_citation"]["count"], found["right_citation"]["of"]) == (1, 1)


def test_a_mark_that_cannot_be_read_is_an_invalid_one() -> None:
    """[来源一] names no passage and is not overlooked."""
    odd = result(question("4"), Outcome.ANSWER, ["a"], [checked("三天。[来源一]", VerdictReason.BAD_ID, ())])
    found = answer_measures([odd], nearness, "m1")
    assert (found["invalid_citation"]["count"], found["invalid_citation"]["of"]) == (1, 1)


def test_what_was_taken_back_is_not_spoken() -> None:
    """A row keeps the sentences and their reasons, and no spoken text."""
    assert spoken_text(GOOD) == "三天到账。不收费。"
    row = answer_row(HALTED, nearness)
    assert row is not None and row["spoken"] == "" and row["relevance"] is None
    assert [s["reason"] for s in row["sentences"]] == [None, "NUM_UNSUPPORTED", "BAD_ID"]
    assert answer_row(REFUSED, nearness) is None


def test_no_answers_are_no_rates() -> None:
    """Nothing answered: None, not 1."""
    found = answer_measures([REFUSED], nearness, "m1")
    assert found["faithfulness"]["share"] is None and found["context_precision"] is None
