"""The house: who may import whom, what stays synchronous, what a start must not load."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("audio", "retrieval", "voice_agent")
MAY_IMPORT = {"audio": {"audio"}, "retrieval": {"retrieval"}, "voice_agent": set(PACKAGES)}

PURE = (
    "voice_agent/staging.py",
    "audio/framing.py",
    "audio/halfband.py",
    "audio/segments.py",
    "audio/playback.py",
    "audio/stabilise.py",
    "audio/clauses.py",
    "audio/pacing.py",
    "retrieval/fusion.py",
    "retrieval/gate.py",
    "retrieval/marks.py",
    "retrieval/citations.py",
    "retrieval/alignment.py",
    "retrieval/antonyms.py",
    "retrieval/chunk.py",
    "retrieval/conflicts.py",
    "retrieval/courtesy.py",
    "retrieval/figures.py",
    "retrieval/modality.py",
    "retrieval/names.py",
    "retrieval/polarity.py",
    "retrieval/qualifiers.py",
    "retrieval/readings.py",
    "retrieval/roles.py",
    "retrieval/scope.py",
    "retrieval/support.py",
    "retrieval/surroundings.py",
    "retrieval/wording.py",
    "retrieval/metrics.py",
    "retrieval/significance.py",
    "retrieval/pinyin.py",
    "retrieval/mishearing.py",
    "retrieval/homophones.py",
    "retrieval/conditions.py",
    "retrieval/span.py",
    "retrieval/calibrate.py",
    "retrieval/tuning.py",
    "retrieval/periods.py",
    "retrieval/subjects.py",
    "retrieval/narrowing.py",
    "retrieval/milvus_rows.py",
    "retrieval/postings.py",
    "voice_agent/evaluation/answers.py",
    "voice_agent/evaluation/compare.py",
    "voice_agent/evaluation/gates.py",
    "voice_agent/evaluation/measures.py",
    "voice_agent/evaluation/report.py",
    "voice_agent/evaluation/report_tables.py",
    "voice_agent/evaluation/rows.py",
    "voice_agent/evaluation/transcripts.py",
    "voice_agent/page/frame.py",
    "voice_agent/page/plots.py",
    "voice_agent/page/style.py",
    "voice_agent/overrides.py",
    "voice_agent/telephone/audiosocket.py",
    "voice_agent/telephone/flow.py",
    "voice_agent/telephone/keypad.py",
    "voice_agent/telephone/marks.py",
    "voice_agent/telephone/media_stream.py",
    "voice_agent/telephone/news.py",
    "voice_agent/telephone/voices.py",
    "voice_agent/floor/step.py",
    "voice_agent/floor/state.py",
    "voice_agent/floor/events.py",
    "voice_agent/floor/actions.py",
    "voice_agent/floor/words.py",
    "voice_agent/floor/overlap.py",
    "voice_agent/floor/barge_in.py",
    "voice_agent/floor/duties.py",
    "voice_agent/floor/echo.py",
    "voice_agent/floor/ending.py",
    "voice_agent/floor/keeping.py",
    "voice_agent/floor/waiting.py",
    "voice_agent/floor/turn_end.py",
    "voice_agent/floor/ahead.py",
    "voice_agent/floor/hearing.py",
    "voice_agent/call/sounded.py",
    "voice_agent/call/tally.py",
    "voice_agent/record/cases.py",
    "voice_agent/record/diagnosis.py",
    "voice_agent/record/facts.py",
    "voice_agent/record/fields.py",
    "voice_agent/record/gate_reading.py",
    "voice_agent/record/operations.py",
    "voice_agent/record/report.py",
    "voice_agent/record/report_call.py",
    "voice_agent/record/report_scores.py",
    "voice_agent/record/report_sentences.py",
    "voice_agent/record/report_turn.py",
    "voice_agent/record/report_waterfall.py",
    "voice_agent/record/selection.py",
    "voice_agent/record/stages.py",
    "voice_agent/record/summary.py",
    "voice_agent/record/values.py",
    "voice_agent/record/waterfall.py",
    "voice_agent/reply/sentences.py",
    "voice_agent/reply/spoken.py",
    "voice_agent/reply/telling.py",
    "voice_agent/reply/markup.py",
    "voice_agent/reply/rewrite.py",
    "voice_agent/reply/think.py",
    "voice_agent/reply/prompt.py",
    "voice_agent/reply/breaker.py",
    "voice_agent/reply/attribution.py",
    "voice_agent/reply/faithful.py",
    "voice_agent/reply/basis.py",
    "voice_agent/record/audit.py",
    "voice_agent/record/measures.py",
    "voice_agent/record/people.py",
)
"""Decisions: no clock, no I/O, no thread, no await."""

IMPURE = {"asyncio", "threading", "time", "socket", "subprocess", "logging", "random", "queue", "os", "io"}


def modules() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_inward(path: Path) -> None:
    """audio and retrieval know neither each other nor the agent; within the agent only doors and scripts know doors."""
    package = path.relative_to(ROOT).parts[0]
    ours = {name for name in imports(path) if name.split(".")[0] in PACKAGES}
    assert {name.split(".")[0] for name in ours} <= MAY_IMPORT[package]
    is_door = path.parent.name == "doors" or path.name in ("launcher.py",)
    assert is_door or not [name for name in ours if name.startswith("voice_agent.doors")]


@pytest.mark.parametrize("path", sorted((ROOT / "retrieval").rglob("*.py")), ids=lambda path: path.name)
def test_retrieval_is_synchronous(path: Path) -> None:
    """Retrieval serves scripts and tests without an event loop."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef | ast.Await)]


@pytest.mark.parametrize("name", PURE)
def test_decisions_are_pure(name: str) -> None:
    """What decides reads no clock, does no I/O and awaits nothing."""
    path = ROOT / name
    assert not {module.split(".")[0] for module in imports(path)} & IMPURE
    assert not [
        n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.AsyncFunctionDef)
    ]


def test_one_file_cancels() -> None:
    """Only the file in which tasks are born cancels them; elsewhere scopes end by themselves."""
    calls = [
        (path.relative_to(ROOT).as_posix(), node.lineno)
        for path in modules()
        if "asyncio" in {name.split(".")[0] for name in imports(path)}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "cancel"
    ]
    assert {file for file, _ in calls} <= {"voice_agent/call/tasks.py"}


def test_nothing_is_unpickled() -> None:
    """No pickle anywhere, and numpy never allows one."""
    for path in modules():
        assert not {"pickle", "joblib", "dill", "shelve"} & set(imports(path)), path
        assert "allow_pickle=True" not in path.read_text(encoding="utf-8"), path


def test_wiring_loads_no_client_of_a_store_not_in_use() -> None:
    """The composition root can be imported without the milvus extra: its client is loaded when a store is opened."""
    code = "import sys, voice_agent.build; sys.exit('pymilvus' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@pytest.mark.models
def test_the_embedded_start_loads_no_torch(tmp_path: Path) -> None:
    """Getting ready on the embedded profile imports neither torch nor transformers: they cost seconds."""
    code = (
        "import json, sys\n"
        "from voice_agent.build import open_agent\n"
        "from voice_agent.config import load_config\n"
        f"config = load_config(None, ['paths.logs={tmp_path}'])\n"
        "with open_agent(config, lambda *_: None):\n"
        "    heavy = [m for m in ('torch', 'transformers', 'sentence_transformers') if m in sys.modules]\n"
        "    print(json.dumps(heavy))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=os.environ, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []
