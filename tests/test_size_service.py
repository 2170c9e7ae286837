"""Laws of scripts/size_service, in virtual time: what the machine model must give where the answer is known."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from sizing.calls import Cores, Talk, called, carried  # noqa: E402
from sizing.machine import Machine, Stage  # noqa: E402
from sizing.measured import Times, Turn, of_questions  # noqa: E402
from sizing.questions import Asking, Limits, asked  # noqa: E402

TURN = Turn(asr_s=0.3, search_s=0.04, check_s=0.02, speech_s=0.0, pause_s=0.5, p95_over_p50=1.0)
SERVE = {
    "rates": [
        {"per_s": 2, "requests": 20, "answered_per_s": 2.0, "refused_503": 0.0},
        {"per_s": 20, "requests": 200, "answered_per_s": 10.0, "refused_503": 0.41},
    ]
}
for _row, _p50, _p95 in zip(SERVE["rates"], (100, 1700), (100, 1750), strict=True):
    _row |= {"p50_ms": _p50, "p95_ms": _p95, "p99_ms": _p95}
CALL = {
    "variants": {
        "shipped": {
            "all": {
                "work_p50_ms": {"asr": 300, "look": 40, "check": 20, "speech": 0},
                "first_audio_s": {"p50": 0.55, "p95": 0.55},
                "parts_p50_s": {"end_of_turn": 0.5},
            }
        }
    }
}


@pytest.fixture
def script() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("size_script", str(ROOT / "scripts" / "size_service"))
    spec = importlib.util.spec_from_loader("size_script", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def at(
    per_s: float, takes_s: float = 0.1, limits: Limits | None = None, *, even: bool = True
) -> dict[str, Any]:
    asking = Asking(per_s, 600.0, even)
    return asked(asking, lambda: takes_s, limits or Limits(), 2, random.Random(1))


def test_below_saturation_nobody_waits() -> None:
    """Evenly spaced questions of 0.1 s at 9 a second: each takes its own time."""
    row = at(9)
    assert (row["p50_ms"], row["p95_ms"]) == (100.0, 100.0) and row["refused_503"] == row["late_504"] == 0.0
    assert row["answered_per_s"] == pytest.approx(9, abs=0.05)


def test_beyond_saturation_the_queue_bounds_the_wait() -> None:
    """At twice what the worker can, half is refused, and who is admitted waits for the sixteen before."""
    row = at(20)
    assert row["refused_503"] == pytest.approx(0.5, abs=0.01) and row["answered_per_s"] == pytest.approx(
        10, abs=0.1
    )
    assert row["p95_ms"] == pytest.approx(1700, abs=50)


def test_a_deadline_shorter_than_the_queue_is_missed() -> None:
    """What is not ready in time counts as late, not as answered."""
    row = at(20, limits=Limits(queue=100, deadline_s=1.0))
    assert row["late_504"] > 0.4 and row["p95_ms"] <= 1000


def test_random_arrivals_wait_as_queueing_theory_says() -> None:
    """M/D/1 at 80 % load: the mean wait is rho/(2(1-rho)) of a service time, so the mean stay is 0.3 s."""
    chance = random.Random(3)
    stays: list[float] = []
    machine, stage = Machine(1), Stage(1)
    moment = 0.0

    def arrive() -> None:
        began = machine.now
        machine.work(stage, 0.1, lambda now: stays.append(now - began))

    for _ in range(40_000):
        moment += chance.expovariate(8.0)
        machine.at(moment, arrive)
    machine.run(float("inf"))
    assert sum(stays) / len(stays) == pytest.approx(0.3, rel=0.05)


def test_stages_and_cores_are_both_waited_for() -> None:
    """Two works of one stage go one after another; a work that needs all cores waits for the last, in turn."""
    machine, ended = Machine(2), dict[str, float]()
    one, wide = Stage(1), Stage(1, cores=2)

    def note(name: str) -> Any:
        return lambda now: ended.__setitem__(name, now)

    machine.work(one, 1.0, note("first"))
    machine.work(one, 1.0, note("second"))
    machine.work(wide, 1.0, note("wide"))
    machine.run(float("inf"))
    assert ended == {"first": 1.0, "second": 2.0, "wide": 3.0} or ended == {
        "first": 1.0,
        "wide": 2.0,
        "second": 3.0,
    }
    assert one.busy == wide.busy == 0


def test_what_is_drawn_has_the_measured_percentiles() -> None:
    """Of the lowest rate, whatever the order of the report."""
    rates = [{"per_s": 9, "p50_ms": 900, "p95_ms": 900, "p99_ms": 900}]
    rates.append({"per_s": 2, "p50_ms": 90, "p95_ms": 140, "p99_ms": 200})
    times, chance = of_questions({"rates": rates}), random.Random(5)
    drawn = sorted(times.draw(chance) for _ in range(40_000))
    assert drawn[20_000] == pytest.approx(0.09, rel=0.02) and drawn[38_000] == pytest.approx(0.14, rel=0.02)
    assert times == Times(pytest.approx(0.04), 0.09, 0.14, 0.2) and drawn[0] >= 0.04


def test_one_call_waits_for_its_own_work() -> None:
    """The longer of the pause and of recognition, search and check after the soft pause."""
    alone = Talk(partial_every_s=0)
    row = called(1, 600.0, TURN, alone, Cores(), 1)
    assert row["p50"] == row["p95"] == pytest.approx(0.16 + 0.36, abs=0.002)


def test_calls_that_speak_together_wait_for_one_another() -> None:
    """Three recognitions on both cores, then three searches: the last caller waits for all; at random seldom."""
    together = Talk(partial_every_s=0, together=True)
    row = called(3, 600.0, TURN, together, Cores(), 1)
    assert row["p95"] == pytest.approx(0.16 + 3 * 0.3 + 3 * 0.06, abs=0.01)
    apart = called(3, 600.0, TURN, Talk(partial_every_s=0), Cores(), 1)
    assert apart["p50"] < row["p50"]
    rows = [called(n, 600.0, TURN, together, Cores(), 1) for n in range(1, 6)]
    assert carried(rows) == 2


def test_the_same_seed_gives_the_same(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """To the digit; with predicted beside measured for each rate that was measured."""
    serve, call = tmp_path / "serve.json", tmp_path / "call.json"
    serve.write_text(json.dumps(SERVE), "utf-8")
    call.write_text(json.dumps(CALL), "utf-8")
    argv = [
        "--serve",
        str(serve),
        "--call",
        str(call),
        "--seconds",
        "300",
        "--rates",
        "5",
        "30",
        "--most",
        "3",
    ]
    outs = []
    for _ in range(2):
        assert script.main(argv) == 0
        outs.append(capsys.readouterr().out)
    assert outs[0] == outs[1]
    told = json.loads(outs[0])
    slow, fast = told["questions"]["against_measured"]
    assert slow["p50_ms"] == {"predicted": 100.0, "measured": 100}
    assert fast["answered_per_s"]["predicted"] == pytest.approx(10, rel=0.02)
    assert fast["refused_503"]["predicted"] == pytest.approx(0.415, abs=0.01)
    assert told["questions"]["carried_per_s"] == 5 and [r["calls"] for r in told["calls"]["at_random"]] == [
        1,
        2,
        3,
    ]


@pytest.mark.parametrize("argv", [[], ["--serve", "nosuch.json"], ["--call", "x", "--cores", "0"]])
def test_wrong_use_is_one_line(
    script: ModuleType, argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2."""
    assert script.main(argv) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_another_report_is_one_line(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """JSON of something else is not taken for a measurement."""
    path = tmp_path / "other.json"
    path.write_text('{"rates": []}', "utf-8")
    assert script.main(["--serve", str(path)]) == 2
    assert "not a report" in capsys.readouterr().err
