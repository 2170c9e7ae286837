"""The simulation that sizes a service, held to what queueing theory knows, and the command around it."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

from sizing.queueing import least_places, simulate  # noqa: E402


def exponential(mean_s: float, seed: int = 3) -> object:
    chance = random.Random(seed)
    return lambda: chance.expovariate(1 / mean_s)


def erlang_b(offered: float, places: int) -> float:
    """Share that finds all places taken: A. K. Erlang's loss formula."""
    lost = 1.0
    for n in range(1, places + 1):
        lost = offered * lost / (n + offered * lost)
    return lost


@pytest.mark.parametrize(("offered", "places"), [(0.5, 1), (2.0, 4), (8.0, 12)])
def test_without_a_line_it_is_erlangs_formula(offered: float, places: int) -> None:
    got = simulate(offered, exponential(1.0), places, 0, seconds=40_000)
    assert got.refused == pytest.approx(erlang_b(offered, places), abs=0.01)
    assert got.busy == pytest.approx(offered * (1 - got.refused) / places, abs=0.02)


def test_one_place_and_a_long_line_is_the_known_wait() -> None:
    """M/M/1: the time in the system is exponential with mean 1 / (service rate - arrival rate)."""
    got = simulate(0.6, exponential(1.0), 1, 100_000, seconds=100_000)
    mean = 1 / (1 - 0.6)
    assert got.p50_s == pytest.approx(mean * math.log(2), rel=0.1)
    assert got.p95_s == pytest.approx(mean * math.log(20), rel=0.1)
    assert got.refused == 0


def test_the_least_places_are_the_least() -> None:
    places = least_places(2.0, exponential(1.0), 0, 0.01)
    assert abs(places - next(n for n in range(1, 50) if erlang_b(2.0, n) <= 0.01)) <= 1


@pytest.mark.parametrize("wrong", [(0, 1, 0, 1), (1, 0, 0, 1), (1, 1, -1, 1), (1, 1, 0, 0)])
def test_nothing_is_made_of_no_load(wrong: tuple[float, int, int, float]) -> None:
    per_s, places, line, seconds = wrong
    with pytest.raises(ValueError, match="above zero"):
        simulate(per_s, exponential(1.0), places, line, seconds=seconds)


def size(*argv: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "scripts/size_service", *argv]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_the_command_puts_the_simulation_beside_what_was_measured(tmp_path: Path) -> None:
    """Under load it says what the worker's line does; twice the load needs more workers."""
    rate = {"per_s": 4, "p50_ms": 90.0, "p95_ms": 200.0, "refused_503": 0.0}
    measured = {"one_by_one": {"p50_ms": 80.0, "p95_ms": 120.0}, "rates": [rate, {**rate, "per_s": 32}]}
    (tmp_path / "serve.json").write_text(json.dumps(measured), "utf-8")
    told = [
        json.loads(size(str(tmp_path / "serve.json"), "--questions-per-s", str(n)).stdout)["questions"]
        for n in (20, 40)
    ]
    light, heavy = (row["simulated"] for row in told[0]["at_rates"])
    assert light["refused_503"] == 0 and 0.5 < heavy["refused_503"] < 0.7
    assert told[0]["wanted"]["workers"] < told[1]["wanted"]["workers"]
    calls = json.loads(size("--calls-per-hour", "40", "--minutes", "3").stdout)["calls"]
    assert calls["workers"] == calls["places"] and calls["refused"] <= 0.02


@pytest.mark.parametrize("text", ["", "{}", '{"one_by_one": {"p50_ms": 9, "p95_ms": 1}, "rates": []}'])
def test_what_is_no_measurement_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "serve.json").write_text(text, "utf-8")
    ran = size(str(tmp_path / "serve.json"))
    assert ran.returncode == 2 and ran.stderr.count("\n") == 1 and "serve.json" in ran.stderr
    assert size().returncode == 2
