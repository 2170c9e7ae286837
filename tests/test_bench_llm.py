"""Laws of the bench with a real language model, tried on stand-ins: what is asked, written down, counted, continued."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from llm.asking import Repeating, asked  # noqa: E402
from llm.bridge import Bridge  # noqa: E402
from llm.figures import chosen, summary  # noqa: E402
from llm.kept import before, keep, known  # noqa: E402
from llm.models import WEAK, WHOLE  # noqa: E402

from retrieval.types import Found, Gate, GateReason, Outcome  # noqa: E402
from tests.voice_agent.answering import DAY, QUESTION, SAMPLING, ScriptedLlm, answerer, by_llm  # noqa: E402
from tests.voice_agent.standins import OpenAi, serving  # noqa: E402
from voice_agent.evaluation.questions import Question, load_questions  # noqa: E402
from voice_agent.reply.answer import Answerer, Asked  # noqa: E402
from voice_agent.reply.llm import LlmError, LlmFault  # noqa: E402
from voice_agent.reply.llm_http import Endpoint  # noqa: E402
from voice_agent.reply.ollama_chat import OllamaChat  # noqa: E402
from voice_agent.reply.prompt import NOT_FOUND  # noqa: E402

GOOD = "退款在审核通过后三天内到账。[S1]"
WRONG = "退款在审核通过后五天内到账。[S1]"


def question(ident: str = "q", kind: str = "plain", *, refuse: bool = False) -> Question:
    return Question(ident, kind, Asked(QUESTION, DAY), () if refuse else ("refund",), refuse)


def ask(parts: Answerer, one: Question | None = None) -> dict[str, Any]:
    return asyncio.run(asked(one or question(), parts))


def said(*pieces: Any) -> dict[str, Any]:
    return ask(answerer(by_llm(ScriptedLlm(*pieces))))


class ShutGate:
    """Asks back."""

    def judge(self, found: Found, confidence: float | None, /) -> Gate:
        return Gate(Outcome.CLARIFY, GateReason.LOW_SCORE, {}, {})


def test_a_row_holds_what_was_made_and_what_would_be_heard() -> None:
    """All the model's words, each sentence judged, and only what passed is spoken, with its passage."""
    row = said(GOOD, WRONG, "退款原路退回。[S1]")
    assert (row["outcome"], row["generated"]) == ("halted", GOOD + WRONG + "退款原路退回。[S1]")
    assert [sentence["reason"] for sentence in row["sentences"]] == [None, "NUM_UNSUPPORTED"]
    (spoken,) = row["spoken"]
    assert spoken == {
        "text": "退款在审核通过后三天内到账。", "voiced": "退款在审核通过后三天内到账。", "cited": ["S1"],
    }  # fmt: skip
    assert [one["citation_id"] for one in row["shown"]] == ["S1", "S2"] and row["speed"]["pieces"] == 3
    assert json.loads(json.dumps(row))["gate"] == {"outcome": "ANSWER", "reason": None}


def test_each_way_an_answer_can_end_has_its_name() -> None:
    """What the gate keeps back, what the model itself does not find, and a model that fails are told apart."""
    assert said(GOOD)["outcome"] == "answered"
    assert said(NOT_FOUND)["outcome"] == "not_found"
    failed = said(LlmError(LlmFault.SERVER, "no memory"))
    assert (failed["outcome"], failed["fault"]) == ("fault", "LLM_SERVER")
    shut = replace(answerer(by_llm(ScriptedLlm(GOOD))), gate=ShutGate())
    assert (ask(shut)["outcome"], ask(shut)["generated"]) == ("asked_back", "")


def test_the_same_words_can_be_judged_again() -> None:
    """By the rules of today, and without a model; words that were never made are a fault, not a refusal."""
    parts = answerer(by_llm(ScriptedLlm()))
    again = replace(parts, writers=replace(parts.writers, first=Repeating("m", GOOD)))
    assert ask(again)["outcome"] == "answered"
    nothing = replace(parts, writers=replace(parts.writers, first=Repeating("m", "")))
    assert ask(nothing)["outcome"] == "fault"


def test_kinds_are_asked_in_turn() -> None:
    """Seeded; every kind is there, and a larger choice begins with the smaller."""
    questions = load_questions(ROOT / "data" / "eval" / "dev.jsonl")
    few, many = chosen(questions, 18), chosen(questions, 200)
    assert many[:18] == few == chosen(questions, 18) and len({one.id for one in many}) == 200
    assert {one.kind for one in few} == {one.kind for one in questions}


def test_figures_count_what_was_asked() -> None:
    """Shares of the answerable: all of them, and those that the gate let through."""
    shut = replace(answerer(by_llm(ScriptedLlm(GOOD))), gate=ShutGate())
    rows = [said(GOOD), said(WRONG), said(NOT_FOUND), ask(shut)]
    rows.append(ask(answerer(by_llm(ScriptedLlm(GOOD))), question("r", "off_topic", refuse=True)))
    figures = summary(rows)
    assert figures["outcomes"] == {"answered": 2, "halted": 1, "not_found": 1, "asked_back": 1}
    assert figures["halted_by"] == {"NUM_UNSUPPORTED": 1}
    assert figures["answerable"]["answered"] == 0.25
    assert figures["answerable"]["answered_of_let_through"] == 0.333
    assert figures["must_refuse"] == {"asked": 1, "outcomes": {"answered": 1}}
    assert summary([])["answerable"]["answered"] is None


def test_a_run_goes_on_where_it_was(tmp_path: Path) -> None:
    """Each row is kept at once; a cut last line is asked again; rows of another set-up are not mixed in."""
    path, setup = tmp_path / "rows.jsonl", {"model": "m"}
    assert known(path, setup) == {}
    keep({"id": "a", "setup": setup}, path)
    with path.open("a") as file:
        file.write('{"id": "b", "se')
    assert list(known(path, setup)) == ["a"]
    keep({"id": "c", "setup": setup}, path)
    assert list(known(path, setup)) == ["a", "c"]
    with pytest.raises(SystemExit, match="another set-up"):
        known(path, {"model": "n"})
    path.write_text('{"id": "z", "generated": "文"}\n', encoding="utf-8")
    assert before(path)["z"]["generated"] == "文"


@contextmanager
def bridged(url: str) -> Iterator[str]:
    """The Ollama protocol in front of an OpenAI server."""

    class Ours(Bridge):
        behind = f"{url}/v1"

    with ThreadingHTTPServer(("127.0.0.1", 0), Ours) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def test_the_bridge_speaks_ollama_to_the_agents_own_adapter() -> None:
    """Pieces in order, why it ended, and the settings under the names of the other side."""
    openai = OpenAi()
    with (
        serving(openai.text(GOOD[:5]), openai.text(GOOD[5:]), openai.end("length")) as behind,
        bridged(behind.url) as url,
    ):
        row = ask(answerer(by_llm(OllamaChat(Endpoint(url), SAMPLING))))
    assert row["generated"] == GOOD and row["fault"] is None
    (asked_for,) = behind.asked
    assert (asked_for["max_tokens"], asked_for["temperature"]) == (SAMPLING.max_tokens, SAMPLING.temperature)


def test_a_broken_stream_stays_broken_behind_the_bridge() -> None:
    """No last line is made up."""
    openai = OpenAi()
    with serving(openai.text(GOOD)) as behind, bridged(behind.url) as url:
        row = ask(answerer(by_llm(OllamaChat(Endpoint(url), SAMPLING))))
    assert row["fault"] == "LLM_BROKEN_OFF"


def test_an_error_is_passed_on() -> None:
    """With its status and words."""
    with serving(b'{"error": "model not loaded"}', status=404) as behind, bridged(behind.url) as url:
        row = ask(answerer(by_llm(OllamaChat(Endpoint(url), SAMPLING))))
    assert row["fault"] == "LLM_NO_MODEL"


def test_the_weak_models_are_whole() -> None:
    """Their parts come to the file they make, each is another, and one file is all there is."""
    for model in WEAK:
        (file,) = model.files
        assert file.name == WHOLE and sum(part.size for part in file.parts) == file.size
        assert len({part.sha256 for part in file.parts}) == len(file.parts)
        assert len({str(part.package) for part in file.parts}) == len(file.parts)
