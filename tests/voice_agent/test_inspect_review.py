"""Laws of `voice-agent inspect` for reviewers: filters, diagnosis, marks, samples, export; bad input is one line."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.voice_agent.failing_calls import CALLS, Call, record
from tests.voice_agent.test_inspect import _json, _run
from voice_agent.doors import cli
from voice_agent.errors import InputError
from voice_agent.evaluation.questions import load_questions
from voice_agent.record.inspection import read_call
from voice_agent.record.review import marks_path

FAILING = [call for call in CALLS if call.stage]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("calls")
    for call in CALLS:
        record(made, call)
    return made


@pytest.fixture
def folder(recorded: Path, tmp_path: Path) -> Path:
    """The same calls, to be marked."""
    return Path(shutil.copytree(recorded, tmp_path / "calls"))


@pytest.mark.parametrize("call", FAILING, ids=lambda call: call.name)
def test_inspect_names_the_stage_that_failed(
    recorded: Path, call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    """The filter finds the call, its transcript and its full turn name stage and cause, for people and machines."""
    assert _run(str(recorded), "--failed-at", str(call.stage), "--json") == 0
    assert call.name in {row["call"] for row in _json(capsys.readouterr().out)}
    path = str(recorded / f"{call.name}.jsonl")
    assert _run(path) == 0
    assert f"failed at {call.stage}: {call.cause}" in capsys.readouterr().out
    assert _run(path, "--turn", "1") == 0
    assert f"failed at\t{call.stage}: {call.cause}" in capsys.readouterr().out
    assert _run(path, "--turn", "1", "--json") == 0
    (turn,) = _json(capsys.readouterr().out)
    assert (turn["failure"]["stage"], turn["failure"]["cause"]) == (call.stage, call.cause)


@pytest.mark.parametrize("call", FAILING, ids=lambda call: call.name)
def test_the_diagnosis_names_the_layer_that_failed(
    recorded: Path, call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the passage that should have answered: the same stage, and what would have kept it."""
    path = str(recorded / f"{call.name}.jsonl")
    assert _run(path, "--expect", "refund", "--json") == 0
    (told,) = _json(capsys.readouterr().out)
    assert told["loss"]["layer"] == call.stage and told["loss"]["remedy"]
    assert _run(path, "--expect", "refund") == 0
    assert f"lost at\t{call.stage}" in capsys.readouterr().out


def test_filters_narrow_the_list(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The title says of how many; a reason may be written small; nothing that fits is said so."""
    _run(str(recorded), "--reason", "num_unsupported")
    title, _, row = capsys.readouterr().out.splitlines()
    assert title == f"# 1 of {len(CALLS)} calls in {recorded}" and row.startswith("check\t")
    _run(str(recorded), "--since", "2999-01-01")
    assert capsys.readouterr().out.splitlines()[1] == "no call is like that"
    _run(str(recorded), "--slow", "0.5", "--since", "2000-01-01T00:00+00:00", "--json")
    assert "fine" in {row["call"] for row in _json(capsys.readouterr().out)}


def test_a_reviewers_round(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Draw, mark, export, diagnose: what was marked is not drawn again, and comes back as cases, losses and a rate."""
    assert _run(str(folder), "--sample", "50", "--json") == 0
    drawn = {row["call"]: row for row in _json(capsys.readouterr().out)}
    assert set(drawn) == {call.name for call in CALLS} and drawn["fine"]["heard"] == "退款多久到账"
    marked = {
        "fine": ("--mark", "right"),
        "gate_threshold": ("--mark", "should_have_answered", "--expect", "refund"),
        "check": ("--mark", "wrong"),
    }
    for name, mark in marked.items():
        assert _run(str(folder / f"{name}.jsonl"), "--turn", "1", *mark, "--json") == 0
    assert _json(capsys.readouterr().out)[-1]["agreement"] == pytest.approx(1 / 3)
    _run(str(folder), "--sample", "50", "--json")
    assert not set(marked) & {row["call"] for row in _json(capsys.readouterr().out)}
    cases = tmp_path / "cases.jsonl"
    _run(str(folder), "--export", str(cases), "--json")
    (told,) = _json(capsys.readouterr().out)
    assert (told["exported"], told["left_out"]) == (2, 1)
    assert {q.expect for q in load_questions(cases)} == {("refund",)}
    _run(str(folder), "--diagnose", "--json")
    (facts,) = _json(capsys.readouterr().out)
    assert (facts["judged"], facts["losses"]["gate"], facts["agreement"]["of"]) == (1, 1, 3)
    assert facts["worst"][0]["question"] == "退款多久到账" and facts["days"][0]["calls"] == len(CALLS)
    _run(str(folder), "--diagnose")
    lines = capsys.readouterr().out.splitlines()
    assert "# lost: 1 of 1 judged turns" in lines and "gate\t1" in lines
    assert "agreement of marked turns\t0.33 (1 of 3, 0.01-0.91)" in lines


def test_labelled_questions_are_diagnosed_over_a_folder(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every turn that asked one of them, marks or not."""
    row = {
        "id": "q",
        "kind": "plain",
        "question": "退款多久到账？",
        "expect": ["refund"],
        "must_refuse": False,
    }
    labels = tmp_path / "labels.jsonl"
    labels.write_text(json.dumps({**row, "as_of": "2026-11-30"}, ensure_ascii=False), encoding="utf-8")
    _run(str(recorded), "--diagnose", "--labels", str(labels), "--json")
    (facts,) = _json(capsys.readouterr().out)
    heard = [call for call in CALLS if call.stage != "asr"]
    assert facts["judged"] == len(heard)
    lost = {one["call"]: one["loss"] and one["loss"]["layer"] for one in facts["turns"]}
    assert lost == {call.name: call.stage for call in heard}


def test_what_is_said_is_masked_before_it_is_kept(folder: Path) -> None:
    """A reviewer who types what was heard types the caller's number too."""
    path = folder / "fine.jsonl"
    assert _run(str(path), "--turn", "1", "--mark", "wrong", "--said", "我的号码是13800138000") == 0
    assert "13800138000" not in marks_path(path).read_text(encoding="utf-8")
    assert "〈PHONE:1〉" in marks_path(path).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (("{folder}", "--mark", "right"), "--mark is for one call"),
        (("{folder}", "--expect", "x"), "--expect is for one call"),
        (("{call}", "--failed-at", "gate"), "--failed-at is for a folder"),
        (("{call}", "--sample", "3"), "--sample is for a folder"),
        (("{call}", "--diagnose"), "--diagnose is for a folder"),
        (("{folder}", "--sample", "0"), "--sample 0"),
        (("{folder}", "--labels", "x"), "--labels is for --diagnose"),
        (("{folder}", "--diagnose", "--labels", "nowhere"), "cannot be read"),
        (("{folder}", "--export", "/nowhere/at/all"), "cannot be written"),
        (("{call}", "--turn", "9", "--mark", "right"), "no turn 9"),
        (("{call}", "--said", "x"), "--said goes with"),
        (("{call}", "--expect", " "), "no passage id"),
        (("{call}", "--mark", "should_have_refused", "--expect", "x"), "leave it out"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    folder: Path, argv: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What, where, how to mend; nothing is kept."""
    places = {"folder": str(folder), "call": str(folder / "fine.jsonl")}
    assert cli.run(["inspect", *(part.format(**places) for part in argv)]) == 2
    told = capsys.readouterr().err
    assert why in told and told.count("\n") == 1 and not list(folder.glob("*.marks.json"))


@pytest.mark.parametrize(
    "argv",
    [
        ("--failed-at", "tts"),
        ("--reason", "NICE"),
        ("--since", "yesterday"),
        ("--slow", "nan"),
        ("--slow", "-1"),
        ("--slow", "x"),
        ("--sample", "x"),
        ("--mark", "good"),
    ],
)
def test_a_wrong_argument_exits_with_2(argv: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """As the parser says it, with the right ones named."""
    with pytest.raises(SystemExit) as left:
        cli.run(["inspect", *argv])
    assert left.value.code == 2 and argv[0] in capsys.readouterr().err


def test_a_turn_must_be_named_where_there_are_several(folder: Path) -> None:
    """The line lists them."""
    path = folder / "fine.jsonl"
    more = '{"type":"transcript","t":9,"turn":2,"text":"喂","start_s":8,"end_s":9}\n'
    with path.open("a", encoding="utf-8") as file:
        file.write(more)
    with pytest.raises(InputError, match="add --turn N; its turns are: 1, 2"):
        _run(str(path), "--expect", "refund")


def test_escape_sequences_in_words_and_marks_stay_out_of_every_view(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """FIELD: logs and consoles. A caller, a passage or a reviewer cannot redraw the screen, in any view."""
    attack = "\x1b[2J\x07\u202e退款\x9b1m\r\n"
    path = folder / "attack.jsonl"
    lines = []
    for line in (folder / "check.jsonl").read_text(encoding="utf-8").splitlines():
        lines.append(json.dumps(_poisoned(json.loads(line), attack), ensure_ascii=False))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    views: list[tuple[str, ...]] = [
        (str(folder),),
        (str(path),),
        (str(path), "--turn", "1"),
        (str(path), "--expect", "refund", "--said", attack),
        (str(path), "--mark", "wrong", "--said", attack),
        (str(folder), "--sample", "99"),
        (str(folder), "--diagnose"),
    ]
    for view in views:
        for form in ((), ("--json",)):
            assert _run(*view, *form) == 0
            out = capsys.readouterr().out
            assert not set(out) & set("\x1b\x07\r\x9b\u202e"), view


def test_a_torn_journal_is_shown_in_every_view(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Cut at any byte: the list, the transcript, the last turn, the diagnosis; what is torn is said."""
    whole = (folder / "check.jsonl").read_bytes()
    for path in folder.iterdir():
        path.unlink()
    path = folder / "check.jsonl"
    for cut in random.Random(7).sample(range(whole.index(b"\n") + 2, len(whole) - 1), 25):
        path.write_bytes(whole[:cut])
        assert _run(str(folder)) == 0
        assert _run(str(path)) == 0
        torn = capsys.readouterr().out.count("last line torn")
        assert torn == (0 if whole[:cut].endswith(b"\n") or whole[cut : cut + 1] == b"\n" else 2)
        if (turns := read_call(path).turns) != ():
            assert _run(str(path), "--turn", str(turns[-1].turn)) == 0
            assert _run(str(path), "--expect", "refund") == 0
        assert _run(str(folder), "--diagnose", "--json") == 0


def _poisoned(event: dict[str, Any], attack: str) -> dict[str, Any]:
    kept = {"type", "t", "turn", "call", "schema", "started", "outcome"}
    return {k: v if k in kept else _poison(v, attack) for k, v in event.items()}


def _poison(value: Any, attack: str) -> Any:
    if isinstance(value, str):
        return value + attack
    if isinstance(value, list):
        return [_poison(item, attack) for item in value]
    if isinstance(value, dict):
        return {key: _poison(item, attack) for key, item in value.items()}
    return value
