"""The fault drill: whatever a language model's server does, a call ends in checked speech or in hand-off, in time.

Whole calls over real sockets; only ears, voice and search are scripted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
import pytest

from retrieval.types import Passage, PassageId
from tests.fakes import Dialogue, ScriptedRecognizer, pause, voice
from tests.voice_agent.answering import AMPLE, QUESTION, SAMPLING, SHORT, answerer, by_llm
from tests.voice_agent.standins import DIALECTS, HANG, SLAM, Dialect, Standin, Step, serving
from voice_agent import phrases
from voice_agent.call.recorded import Clip
from voice_agent.reply.llm import Sampling
from voice_agent.reply.patience import Patience

EXTRACT = ["退款在审核通过后三天内到账。", "退款原路退回。"]
GOOD = "退款在审核通过后三天内到账。[S1]"

both = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)


@dataclass
class Call:
    """What a caller heard and what was written down of it."""

    dialogue: Dialogue

    @property
    def spoken(self) -> list[str]:
        return self.dialogue.spoken()

    @property
    def lines(self) -> list[tuple[str, str]]:
        """The journal's lines about the fault, each with its code."""
        journal = self.dialogue.journal
        fallbacks = [("fallback", str(event["reason"])) for event in journal.of("fallback")]
        return fallbacks + [("error", str(event["message"])) for event in journal.of("error")]

    @property
    def detail(self) -> str:
        (event,) = self.dialogue.journal.of("fallback")
        return str(event["detail"])


def call(
    dialect: Dialect,
    url: str,
    *,
    patience: Patience = AMPLE,
    sampling: Sampling = SAMPLING,
    passages: Any = None,
) -> Call:
    """One question to an agent whose model is at `url`. Every spoken sentence must have passed its check."""
    writers = by_llm(dialect.llm(url, sampling), patience, sampling)
    answers: Any = answerer(writers, passages) if passages else answerer(writers)
    dialogue = Dialogue(ScriptedRecognizer({1: QUESTION}), answers)
    dialogue.run(Clip(np.concatenate([pause(0.5), voice(1), pause(1.0)])))
    passed = [event for event in dialogue.journal.of("sentence") if event["passed"]]
    spoken = [text for text in dialogue.spoken() if text not in phrases.ALL]
    assert len(spoken) <= len(passed), "something was spoken that was not checked"
    return Call(dialogue)


def told_by_extract(heard: Call, fault: str) -> bool:
    return heard.spoken == EXTRACT and heard.lines == [("fallback", fault)]


@both
def test_a_sound_server_is_spoken(dialect: Dialect) -> None:
    """The control: without a fault the model's own words are spoken, and no fault is written down."""
    with serving(dialect.text("退款在审核通过后三天"), dialect.text("内到账。[S1]"), dialect.end()) as server:
        heard = call(dialect, server.url)
    assert heard.spoken == ["退款在审核通过后三天内到账。"] and not heard.lines


@both
def test_refused(dialect: Dialect) -> None:
    """Nobody listens: the extract is spoken, and the journal says what to start."""
    with serving() as server:
        pass
    heard = call(dialect, server.url)
    assert told_by_extract(heard, "LLM_UNREACHABLE") and "start the server" in heard.detail


@both
def test_a_model_not_pulled_is_not_a_server_down(dialect: Dialect) -> None:
    """404 names the model, in the server's own words, and how to get it (FIELD A7 31)."""
    with serving(dialect.error("model 'qwen3' not found"), status=404) as server:
        standin_body(server, "model 'qwen3' not found")
        heard = call(dialect, server.url)
    assert told_by_extract(heard, "LLM_NO_MODEL")
    assert "model 'qwen3' not found" in heard.detail
    assert ("ollama pull qwen3" if dialect.name == "ollama" else "load qwen3") in heard.detail


def standin_body(server: Standin, told: str) -> None:
    """An error outside a stream is one plain JSON object in both protocols."""
    body = json.dumps({"error": told}).encode()
    server.script = lambda: [body]


@both
@pytest.mark.parametrize(
    ("status", "fault"), [(500, "LLM_SERVER"), (400, "LLM_REJECTED"), (429, "LLM_REJECTED")]
)
def test_an_error_status(dialect: Dialect, status: int, fault: str) -> None:
    """The status decides the kind, the body is shown: also a prompt that the server finds over its context."""
    with serving(status=status) as server:
        standin_body(server, "prompt exceeds the context of 512 tokens")
        heard = call(dialect, server.url)
    assert told_by_extract(heard, fault) and "exceeds the context of 512" in heard.detail


@both
def test_an_error_in_the_stream_before_a_sentence(dialect: Dialect) -> None:
    """What was half written is thrown away, never joined to the extract."""
    with serving(dialect.text("退款在"), dialect.error("out of memory")) as server:
        heard = call(dialect, server.url)
    assert told_by_extract(heard, "LLM_SERVER") and "out of memory" in heard.detail


@both
@pytest.mark.parametrize("ending", ["error", "slam", "hang"])
def test_a_fault_after_a_sentence_ends_in_hand_off(dialect: Dialect, ending: str) -> None:
    """No second voice goes on where the first broke off: the spoken sentence, then a person."""
    last: Step = {"error": dialect.error("gone"), "slam": SLAM, "hang": HANG}[ending]
    patience = Patience(10.0, 0.4, 20.0) if ending == "hang" else AMPLE
    with serving(dialect.text(GOOD), dialect.text("退款原"), 0.1, last) as server:
        heard = call(dialect, server.url, patience=patience)
    assert heard.spoken == [EXTRACT[0], phrases.HANDOFF]
    ((kind, told),) = heard.lines
    assert kind == "error" and told.startswith("LlmError")
    assert heard.dialogue.sink.packets[0].reason == "FAULT"


@both
@pytest.mark.parametrize("before", [0, 1])
def test_a_stall(dialect: Dialect, before: int) -> None:
    """Silence before the first word or after it is given up, and the server sees the caller leave (A7 33)."""
    patience = Patience(10.0, 0.4, 20.0) if before else Patience(0.4, 10.0, 20.0)
    with serving(*[dialect.text("退款在")] * before, HANG) as server:
        heard = call(dialect, server.url, patience=patience)
        assert server.gone.wait(5.0)
    assert told_by_extract(heard, "LLM_SLOW")
    assert ("stall_s" if before else "first_token_s") in heard.detail


@both
@pytest.mark.parametrize(
    ("tail", "fault"), [(None, "LLM_GARBLED"), (SLAM, "LLM_BROKEN_OFF"), (b"", "LLM_BROKEN_OFF")]
)
def test_a_cut_line(dialect: Dialect, tail: Step | None, fault: str) -> None:
    """Half a line, a connection cut in a chunk, an end without the closing line: none is taken for an answer."""
    half = [dialect.text("退款三天到账")[:-9]] if tail is None else [dialect.text(GOOD)]
    steps = [*half, *([tail] if tail is SLAM else [])]
    with serving(*steps) as server:
        heard = call(dialect, server.url)
    assert told_by_extract(heard, fault)


@both
def test_characters_split_over_chunks_are_whole(dialect: Dialect) -> None:
    """One byte a chunk: nothing is lost and nothing doubled (B8 40: raw joins)."""
    raw = dialect.text("退款在审核通过后三天内到账。[S1]") + dialect.end()
    with serving(*(raw[i : i + 1] for i in range(len(raw)))) as server:
        heard = call(dialect, server.url)
    assert heard.spoken == [EXTRACT[0]] and not heard.lines


@both
def test_bytes_that_are_no_text(dialect: Dialect) -> None:
    """Invalid UTF-8, itself split over chunks, is a fault and is never guessed at."""
    raw = dialect.text("退款在审核通过后三天内到账。[S1]").replace("三".encode(), b"\xe4\xb8")
    at = raw.index(b"\xe4\xb8") + 1
    with serving(raw[:at], raw[at:], dialect.end()) as server:
        heard = call(dialect, server.url)
    assert told_by_extract(heard, "LLM_GARBLED")


@both
@pytest.mark.parametrize(
    "body", [b"<html>502</html>\n", b"[1, 2]\n", b"data: [1]\n\n", b"data: 7\n\n", b"\xff\xfe\n"]
)
def test_another_protocol(dialect: Dialect, body: bytes) -> None:
    """A proxy's page, or JSON of another shape, is a fault by name and no exception of a library."""
    with serving(body) as server:
        heard = call(dialect, server.url)
    assert heard.spoken == EXTRACT and heard.lines[0][1] in ("LLM_GARBLED", "LLM_BROKEN_OFF")


@both
@pytest.mark.parametrize("text", ["啊", "退款原路退回。[S1]", "<think>", ""])
def test_an_endless_stream(dialect: Dialect, text: str) -> None:
    """Words without end, sentences without end, thinking and emptiness without end: each is bounded, and is left."""

    def script() -> Iterator[Step]:
        yield from repeat(dialect.text(text))

    patience = SHORT if text in ("<think>", "") else AMPLE
    with serving(script=script) as server:
        heard = call(dialect, server.url, patience=patience)
        assert server.gone.wait(5.0)
    ends: dict[str, list[str]] = {"啊": [phrases.HANDOFF], "退款原路退回。[S1]": ["退款原路退回。"] * 2}
    assert heard.spoken == ends.get(text, EXTRACT)
    assert len(heard.lines) <= 1


@both
def test_thinking_never_closed(dialect: Dialect) -> None:
    """All of it is thinking: nothing was answered, so the extract is (A7 14)."""
    with serving(
        dialect.text("<thi"), dialect.text("nk>退款在审核通过后9天内到账。[S1]"), dialect.end()
    ) as server:
        heard = call(dialect, server.url)
    assert told_by_extract(heard, "LLM_EMPTY")


@both
def test_thinking_in_its_own_field_is_not_spoken(dialect: Dialect) -> None:
    """The protocols' thinking fields are dropped, though thinking was switched off (A7 14)."""
    with serving(dialect.thinking("也许是9天。[S1]"), dialect.text(GOOD), dialect.end()) as server:
        heard = call(dialect, server.url)
    assert heard.spoken == EXTRACT[:1] and not heard.lines


@both
def test_an_empty_answer(dialect: Dialect) -> None:
    """Blanks are no answer."""
    with serving(dialect.text(" \n"), dialect.end()) as server:
        heard = call(dialect, server.url)
    assert told_by_extract(heard, "LLM_EMPTY")


@both
def test_stopped_by_length(dialect: Dialect) -> None:
    """A last sentence that was cut off is not spoken, not even checked (A2)."""
    with serving(dialect.text(GOOD + "退款原路"), dialect.end("length")) as server:
        heard = call(dialect, server.url)
    assert heard.spoken == [EXTRACT[0]] and len(heard.dialogue.journal.of("sentence")) == 1


@both
def test_a_prompt_the_server_had_to_cut(dialect: Dialect) -> None:
    """The server counted more tokens than fit: the rules may be lost, so the answer is not taken (A7 32)."""
    with serving(dialect.text(GOOD), dialect.end(prompt_tokens=4090)) as server:
        heard = call(dialect, server.url)
    assert told_by_extract(heard, "LLM_TOO_BIG") and "num_ctx" in heard.detail


@both
def test_evidence_over_the_context_is_never_sent(dialect: Dialect) -> None:
    """A best passage that does not fit asks nothing of the server (A7 32)."""
    long = Passage(PassageId("long"), EXTRACT_TEXT + "此外另有说明。" * 200, "退款时效")
    with serving(dialect.text(GOOD), dialect.end()) as server:
        heard = call(dialect, server.url, sampling=Sampling("qwen3", num_ctx=1024), passages=(long,))
        assert not server.asked
    assert heard.spoken[0] == EXTRACT[0] and heard.lines == [("fallback", "LLM_TOO_BIG")]


EXTRACT_TEXT = "退款在审核通过后3天内到账。退款原路退回。"
