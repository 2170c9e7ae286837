"""A whole evaluation over scripted parts: one object, which the report and the next comparison read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.rerank import Scale
from retrieval.types import Outcome, Passage, PassageId
from tests.voice_agent.evaluation.results import ScriptedAnswers, checked, question
from voice_agent.errors import InputError
from voice_agent.evaluation.compare import compare
from voice_agent.evaluation.recordings import Heard
from voice_agent.evaluation.report import html_report
from voice_agent.evaluation.run import ORDINARY, Yardsticks, described, load_run, walk_all

PASSAGES = [Passage(PassageId(f"p{n}"), "退款三天到账。", f"题{n}", ("退款多久", "")) for n in range(3)]


class FlatEncoder:
    """All texts mean the same."""

    id = "flat"
    dim = 2
    max_tokens = 9

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), 2), dtype=np.float32)

    passages = queries

    def token_vectors(self, texts: Sequence[str], kind: str) -> list[object]:
        raise AssertionError("an evaluation needs no token vectors")


class LogitReranker:
    """Every pair scores 0.0, a logit."""

    id = "flat/1"
    scale: Scale = "logit"

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        return [0.0] * len(texts)


def sticks() -> Yardsticks:
    return Yardsticks(PASSAGES, FlatEncoder(), LogitReranker())  # type: ignore[arg-type]


def evaluated(with_recordings: bool = True) -> dict[str, object]:
    answers = ScriptedAnswers(
        {
            "甲": (["a"], ["a"], ["a"], Outcome.ANSWER, [checked("三天。[S1]")]),
            "乙": (["b"], ["b"], ["b"], Outcome.REFUSE, []),
        }
    )
    heard = Heard("退款", "退宽", 0.8, 600.0) if with_recordings else None
    asked = [(question("1", "甲"), heard), (question("2", "乙", expect=()), None)]
    results = asyncio.run(walk_all(asked, answers))
    return dict(json.loads(json.dumps(described(results, sticks()), ensure_ascii=False)))


def test_one_object_holds_everything(tmp_path: Path) -> None:
    """Totals, answers, hearing, gaps and a row a question; it survives a file, a report, a comparison with itself."""
    run = evaluated()
    assert {"all", "kinds", "answers", "asr", "gaps", "rows", "curve", "stages_ms"} <= run.keys()
    rows = run["rows"]
    assert isinstance(rows, list) and [row["id"] for row in rows] == ["1", "2"]
    assert rows[0]["answer"]["relevance"] == 0.5, "a logit of 0 is one half on the unit scale"
    assert rows[0]["heard"]["text"] == "退宽" and rows[1]["heard"] is None
    path = tmp_path / "run.json"
    path.write_text(json.dumps(run, ensure_ascii=False), encoding="utf-8")
    again = load_run(path)
    assert {change.difference for change in compare(again, again)} == {0.0}
    assert "听写" in html_report({**again, "file": "run"})


def test_typed_questions_have_no_hearing() -> None:
    """None, and the report leaves the table out."""
    run = evaluated(with_recordings=False)
    assert run["asr"] is None and "听写" not in html_report({**run, "file": "run"})


def test_ordinary_texts_are_few_and_never_empty() -> None:
    """Questions where an entry has them, else its title."""
    texts = sticks().ordinary()
    assert texts == ["退款多久"] * 3 and len(texts) <= ORDINARY


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"all": {"search": {}}}', "null"])
def test_what_is_no_run_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    """--baseline names the file and what to give."""
    path = tmp_path / "base.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"base\.json: .*--json") as error:
        load_run(path)
    assert "\n" not in str(error.value)
    with pytest.raises(InputError, match="cannot be read"):
        load_run(tmp_path / "gone.json")
