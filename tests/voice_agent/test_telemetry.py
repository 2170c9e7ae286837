"""Laws of monitoring: it counts what the journal tells, and no word of a caller or a document ever leaves by it."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import CollectorRegistry, generate_latest

from retrieval.types import GateReason, Outcome, VerdictReason
from tests.fakes import Dialogue, Scripted, ScriptedAnswers, ScriptedRecognizer, pause, voice
from voice_agent.call.recorded import Clip
from voice_agent.config import load_config
from voice_agent.errors import ConfigError
from voice_agent.record.journal import MemoryJournal
from voice_agent.record.measures import METRICS, code, measures
from voice_agent.record.schema import EVENT_KINDS
from voice_agent.record.telemetry import OFF, Metrics, Outlets, Telemetry, open_telemetry

ANSWERS = {
    "Smith wants refund": Scripted(sentences=(("Refunds take three days.[S1]", None), ("原路退回。", None))),
    "运费谁出": Scripted(Outcome.CLARIFY, GateReason.LOW_SCORE),
    "给个准话": Scripted(sentences=(("one day only", VerdictReason.NUM_UNSUPPORTED),)),
}  # fmt: skip


class Monitored:
    """A scripted call under full monitoring, and what came out of it."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.exported = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self.exported))
        self.telemetry = Telemetry(Metrics(self.registry), provider.get_tracer("test"))
        self.journal = MemoryJournal()
        lines = dict(enumerate(ANSWERS, start=1))
        dialogue = Dialogue(ScriptedRecognizer(lines), ScriptedAnswers(ANSWERS))
        with self.telemetry.watching("call-7", self.journal) as recorder:
            assert self.value("voice_agent_open_calls") == 1
            dialogue.journal = cast(Any, recorder)
            dialogue.run(Clip(np.concatenate([np.concatenate([voice(line), pause(4.0)]) for line in lines])))

    def value(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(name, labels)

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        return tuple(self.exported.get_finished_spans())


@pytest.fixture(scope="module")
def monitored() -> Monitored:
    return Monitored()


def test_it_is_off_unless_configured() -> None:
    """Calls then write to their journal itself, and the libraries are not even loaded."""
    told = load_config().telemetry
    assert (told.prometheus_port, told.spans) == (None, "off")
    journal = MemoryJournal()
    with open_telemetry(Outlets()) as off, off.watching("a", journal) as recorder:
        assert recorder is journal and off == OFF
    code = "import sys, voice_agent.build; sys.exit(bool({'prometheus_client', 'opentelemetry'} & {*sys.modules}))"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120).returncode == 0


def test_the_counters_are_the_journals(monitored: Monitored) -> None:
    """Every count can be had again from the events."""
    journal = monitored.journal
    passed = [event for event in journal.of("sentence") if event["passed"]]
    assert monitored.value("voice_agent_sentences_total", verdict="passed") == len(passed) == 2
    assert monitored.value("voice_agent_sentences_total", verdict="NUM_UNSUPPORTED") == 1
    assert monitored.value("voice_agent_gates_total", outcome="CLARIFY", reason="LOW_SCORE") == 1
    assert monitored.value("voice_agent_turns_total", outcome="answered") == 1
    assert monitored.value("voice_agent_handoffs_total", reason="VERDICT", delivery="delivered") == 1
    assert monitored.value("voice_agent_calls_total", ended="handed_off") == 1
    assert monitored.value("voice_agent_call_seconds_sum") == journal.of("call_ended")[0]["length_s"]
    assert monitored.value("voice_agent_stage_seconds_count", stage="asr") == len(journal.of("timing"))
    assert monitored.value("voice_agent_open_calls") == 0


def test_the_spans_are_the_calls_turns(monitored: Monitored) -> None:
    """One call, its turns within, in each what was heard and said, on the call's clock."""
    by_name = {
        name: [s for s in monitored.spans if s.name == name] for name in ("call", "turn", "heard", "said")
    }
    (call,) = by_name["call"]
    assert call.context is not None and call.start_time is not None and call.end_time is not None
    assert call.attributes and call.attributes["voice_agent.call"] == "call-7"
    assert len(by_name["turn"]) == 3 and len(by_name["heard"]) == len(monitored.journal.of("transcript"))
    assert len(by_name["said"]) == len(monitored.journal.of("spoken"))
    assert all(turn.parent and turn.parent.span_id == call.context.span_id for turn in by_name["turn"])
    length_s = cast(float, monitored.journal.of("call_ended")[0]["length_s"])
    assert call.end_time - call.start_time == pytest.approx(length_s * 1e9, abs=0.05e9)
    blocked = [t for t in by_name["turn"] if (t.attributes or {}).get("voice_agent.handoffs.reason")]
    assert [t.attributes and t.attributes["voice_agent.sentences.verdict"] for t in blocked] == [
        "NUM_UNSUPPORTED"
    ]


def strings(monitored: Monitored) -> Iterator[str]:
    """Every string that leaves by monitoring."""
    yield generate_latest(monitored.registry).decode()
    for span in monitored.spans:
        yield span.to_json()


def test_no_word_that_was_spoken_leaves(monitored: Monitored) -> None:
    """Neither the caller's nor the agent's, in labels, span names, attributes or events: every exported string is
    searched for every word of every text in the journal."""
    out = "\n".join(strings(monitored)).lower()
    said = [
        str(event[key]) for event in monitored.journal.events for key in ("text", "raw") if event.get(key)
    ]
    words = {word.lower() for text in said for word in re.findall(r"[A-Za-z]{4,}|[\u4e00-\u9fff]+", text)}
    assert {"smith", "refunds", "运费谁出"} <= words
    assert [word for word in words if word in out] == []
    assert re.findall(r"[\u4e00-\u9fff]", out) == []


HOSTILE = "我叫王小明13800138000"


@pytest.mark.parametrize("kind", sorted(EVENT_KINDS))
def test_whatever_stands_in_an_event_no_text_passes(kind: str) -> None:
    """Words in the place of codes, names and numbers: they become "other" or nothing."""
    keys = (
        "outcome",
        "reason",
        "delivery",
        "dropped",
        "where",
        "message",
        "text",
        "first_audio_s",
        "length_s",
    )
    for measure in measures(
        kind, {**dict.fromkeys(keys, HOSTILE), "stages_ms": {HOSTILE: 3.0, "asr": HOSTILE}}
    ):
        assert HOSTILE not in (measure.name, *measure.labels, *measure.labels.values())
        assert set(measure.labels.values()) <= {"other"} and isinstance(measure.value, float)


def test_only_listed_codes_are_labels() -> None:
    """Each metric has the labels it declares; None and unlisted values have names of their own."""
    assert [code(value, ("A",)) for value in ("A", "B", None, "", 3)] == [
        "A",
        "other",
        "none",
        "none",
        "other",
    ]
    declared = {metric.name: set(metric.labels) for metric in METRICS}
    for kind in EVENT_KINDS:
        for measure in measures(kind, {"stages_ms": {"asr": 1}, "length_s": 1, "first_audio_s": 1}):
            assert set(measure.labels) == declared[measure.name]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_metrics_are_served_and_no_longer_than_asked() -> None:
    """At the configured port of this machine; a second agent at the same port is refused in one line."""
    outlets = Outlets(port=free_port())
    url = f"http://127.0.0.1:{outlets.port}/metrics"
    with open_telemetry(outlets) as telemetry:
        with telemetry.watching("a", MemoryJournal()) as recorder:
            recorder.write("barge_in", 1, 1, heard="等等")
        with urllib.request.urlopen(url, timeout=10) as answer:
            assert "voice_agent_barge_ins_total 1.0" in answer.read().decode()
        with pytest.raises(ConfigError, match="cannot be served"), open_telemetry(outlets):
            pass
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(url, timeout=10)


def test_spans_are_written_one_a_line(tmp_path: Path) -> None:
    """As OpenTelemetry's own JSON, each whole on its line."""
    outlets = Outlets("file", tmp_path / "logs" / "spans.jsonl")
    with open_telemetry(outlets) as telemetry, telemetry.watching("a", MemoryJournal()) as recorder:
        recorder.write(
            "spoken", 2, 1, index=0, text="三天", start_s=1.0, end_s=2.0, complete=True, source="x"
        )
    rows = [json.loads(line) for line in outlets.file.read_text(encoding="utf-8").splitlines()]
    assert [row["name"] for row in rows] == ["said", "turn", "call"]


def test_spans_of_the_environment_go_where_it_says(tmp_path: Path) -> None:
    """Without a provider set up around us they go nowhere, and nothing fails."""
    with (
        open_telemetry(Outlets("environment")) as telemetry,
        telemetry.watching("a", MemoryJournal()) as recorder,
    ):
        recorder.write("barge_in", 1, 1, heard="等等")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("outlets", "missing"),
    [(Outlets(port=9), "prometheus_client"), (Outlets("file"), "opentelemetry.sdk.trace")],
)
def test_a_missing_extra_is_told(outlets: Outlets, missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which one, and how to get it."""
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ConfigError, match=r"voice-agent\[telemetry\]"), open_telemetry(outlets):
        pass


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """Before the first call."""
    (tmp_path / "logs").write_text("no folder", encoding="utf-8")
    with pytest.raises(ConfigError, match="cannot be written"):
        open_telemetry(Outlets("file", tmp_path / "logs" / "spans.jsonl")).__enter__()
