"""The recorded calls through the real models, by the command line."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from retrieval.corpus import load_corpus
from retrieval.marks import strip_marks
from retrieval.types import PassageId
from voice_agent import phrases
from voice_agent.doors.cli import run
from voice_agent.expectations import Expectation, ExpectedTurn, load_expectations, unmet
from voice_agent.record.audit import redecide, reverify
from voice_agent.record.call_record import CallRecord, SentenceRecord
from voice_agent.record.inspection import read_call
from voice_agent.record.lines import Lines, read_lines
from voice_agent.record.schema import validate_event

pytestmark = pytest.mark.models

CALLS = Path(__file__).resolve().parents[2] / "data" / "calls"
EXPECT = CALLS / "expect.jsonl"


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Path]:
    """All calls, once, as fast as they can: exit code and the folder of what was kept."""
    out = tmp_path_factory.mktemp("calls")
    code = run(["replay", str(CALLS), "--expect", str(EXPECT), "--json", "--out", str(out)])
    return code, out


def record(replayed: tuple[int, Path], call: str) -> CallRecord:
    return read_call(replayed[1] / f"{call}.jsonl")


EXPECTED = {expected.call: expected for expected in load_expectations(EXPECT)}


def test_every_call_comes_to_what_it_must(replayed: tuple[int, Path]) -> None:
    """Right passage or right refusal for every call, nothing spoken for silence and noise, exit 0."""
    code, _ = replayed
    assert {
        call: unmet(expected, record(replayed, call)) for call, expected in EXPECTED.items()
    } == dict.fromkeys(EXPECTED, [])
    assert code == 0 and len(EXPECTED) >= 12


WRONG: tuple[Callable[[ExpectedTurn], ExpectedTurn], ...] = (
    lambda turn: replace(turn, outcome="refused" if turn.outcome == "answered" else "answered"),
    lambda turn: replace(turn, cites=("no-such-passage",)),
    lambda turn: replace(turn, spoken_contains=("没有说过的话",)),
    lambda turn: replace(turn, heard_contains=("没有说过的话",)),
)


@pytest.mark.parametrize("call", EXPECTED)
def test_every_expectation_edited_to_be_wrong_is_unmet(replayed: tuple[int, Path], call: str) -> None:
    """Whatever is changed in any call's expectation, the same recording no longer meets it."""
    expected, heard = EXPECTED[call], record(replayed, call)
    edits: list[Expectation] = [replace(expected, handoff=not expected.handoff)]
    edits.append(replace(expected, turns=(*expected.turns, ExpectedTurn("answered"))))
    for i, turn in enumerate(expected.turns):
        for wrong in WRONG:
            edits.append(
                replace(expected, turns=(*expected.turns[:i], wrong(turn), *expected.turns[i + 1 :]))
            )
        if turn.cites:
            never = replace(turn, never_cites=turn.cites)
            edits.append(replace(expected, turns=(*expected.turns[:i], never, *expected.turns[i + 1 :])))
    assert all(unmet(edit, heard) for edit in edits)


def test_an_unmet_expectation_is_exit_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Through the command line, with the call named and the difference said."""
    rows = [json.loads(line) for line in EXPECT.read_text(encoding="utf-8").splitlines()]
    row = next(row for row in rows if row["call"] == "plain")
    row["turns"][0]["cites"] = ["err-2049"]
    expect = tmp_path / "expect.jsonl"
    expect.write_text(json.dumps(row), encoding="utf-8")
    assert run(["replay", str(CALLS), "--expect", str(expect), "--json", "--out", str(tmp_path / "out")]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert shown["ok"] is False and "err-2049" in shown["unmet"][0]


def test_every_event_fits_the_schema(replayed: tuple[int, Path]) -> None:
    """What is written is what is published: every line of every call, by our code and by the file alone."""
    file = CALLS.parent / "schemas" / "journal" / "v1.json"
    published = Draft202012Validator(json.loads(file.read_text(encoding="utf-8")))
    for call in EXPECTED:
        lines = (replayed[1] / f"{call}.jsonl").read_text(encoding="utf-8").split("\n")
        faults = [fault for line in lines if line for fault in validate_event(json.loads(line))]
        assert faults == [], call
        assert all(published.is_valid(json.loads(line)) for line in lines if line), call


def test_every_decision_is_reached_again(replayed: tuple[int, Path]) -> None:
    """Over all calls, from their journals alone: no gate and no verdict differs, and none is beyond judging."""
    found = [one for lines in journals(replayed) for one in redecide(lines)]
    assert [one for one in found if one.status != "same"] == [] and len(found) > 30


def test_one_changed_number_is_told_of_exactly_the_sentences_that_said_it(replayed: tuple[int, Path]) -> None:
    """Each number of each passage that was spoken from, changed alone: those sentences, and no other."""
    passages = {passage.id: passage for passage in load_corpus(CALLS.parent / "kb").passages}
    calls = journals(replayed)
    said = [(s.text, strip_marks(s.text), c) for lines in calls for s, c in spoken(lines.path)]
    tried = 0
    for cited in {c for _, _, c in said}:
        text = passages[cited].text
        for number in re.finditer(r"\d+", text):
            other = f"{text[: number.start()]}{int(number[0]) + 7}{text[number.end() :]}"
            newer = {**passages, cited: replace(passages[cited], text=other)}
            told = [one for lines in calls for one in reverify(lines, newer) if one.status == "changed"]
            spans = [(mine, text.index(words), words) for mine, words, c in said if c == cited]
            held = [mine for mine, at, words in spans if at <= number.start() < at + len(words)]
            assert sorted(one.text for one in told) == sorted(held), (cited, number[0])
            tried += bool(held)
    assert tried >= 5


def spoken(path: Path) -> list[tuple[SentenceRecord, PassageId]]:
    """The sentences of a call that were heard, with the passage each cites."""
    turns = read_call(path).turns
    heard = {(turn.turn, line.index) for turn in turns for line in turn.spoken if line.source != "phrase"}
    return [
        (sentence, PassageId(sentence.cited[0]))
        for turn in turns
        for sentence in turn.sentences
        if sentence.passed and (turn.turn, sentence.index) in heard
    ]


def journals(replayed: tuple[int, Path]) -> list[Lines]:
    return [read_lines(replayed[1] / f"{call}.jsonl") for call in EXPECTED]


def test_the_sound_of_the_call_is_kept(replayed: tuple[int, Path]) -> None:
    """Two channels as long as the call; the agent's is silent where nothing may be said."""
    from audio.wav import read_wav

    for call in EXPECTED:
        caller, agent = (read_wav(replayed[1] / f"{call}.wav", side) for side in ("left", "right"))
        length_s = record(replayed, call).length_s
        assert len(caller.samples) == len(agent.samples) and abs(agent.duration_s - (length_s or 0)) < 0.1
        assert agent.samples.any() == bool(EXPECTED[call].turns)


def test_each_hand_off_has_its_packet(replayed: tuple[int, Path]) -> None:
    """A person who takes over finds the question and what was looked at."""
    for call, expected in EXPECTED.items():
        packet = replayed[1] / "handoff" / f"{call}.json"
        assert packet.exists() == expected.handoff
        if expected.handoff:
            assert json.loads(packet.read_text(encoding="utf-8"))["question"]


BRIDGES = (phrases.HOLD, phrases.HOLD_AGAIN, phrases.LEAD_IN)
"""What is said because a machine is slow."""


def decisions(path: Path) -> list[object]:
    """What a call decided and said, without times and places."""
    kept = []
    for turn in read_call(path).turns:
        gate = turn.gate and (turn.gate.outcome, turn.gate.reason, dict(turn.gate.features))
        sentences = [(s.text, s.passed, s.reason, s.cited) for s in turn.sentences]
        kept.append(
            (
                turn.heard,
                turn.raw,
                turn.confidence,
                gate,
                sentences,
                [line.text for line in turn.spoken if line.text not in BRIDGES],
                turn.outcome,
            )
        )
    return kept


def test_the_same_wav_twice_is_the_same_call(replayed: tuple[int, Path], tmp_path: Path) -> None:
    """At speed 0 the journals agree to the event and its moment, wall times apart."""
    for call in ("plain", "two_breaths"):
        shutil.copy(CALLS / f"{call}.wav", tmp_path)
    assert (
        run(["replay", str(tmp_path), "--as-of", "2026-11-30", "--json", "--out", str(tmp_path / "out")]) == 0
    )
    for call in ("plain", "two_breaths"):
        first, second = (moments(folder / f"{call}.jsonl") for folder in (replayed[1], tmp_path / "out"))
        assert first == second


def moments(path: Path) -> list[tuple[object, ...]]:
    events = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    return [(event["type"], event["t"], event["turn"]) for event in events[1:]]


def test_in_real_time_the_same_is_decided(replayed: tuple[int, Path], tmp_path: Path) -> None:
    """At speed 1 transcripts, gates, verdicts and sentences are those of speed 0 where nobody talks over the agent."""
    for call in ("plain", "phone_line"):
        wav = str(CALLS / f"{call}.wav")
        assert (
            run(["replay", wav, "--speed", "1", "--as-of", "2026-11-30", "--json", "--out", str(tmp_path)])
            == 0
        )
        assert decisions(tmp_path / f"{call}.jsonl") == decisions(replayed[1] / f"{call}.jsonl")
