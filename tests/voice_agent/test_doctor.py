"""Laws of `voice-agent doctor`: what cannot work fails, what only lacks warns, each with a way to mend it."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from retrieval.calibration import Bound, Calibration
from voice_agent.config import Config
from voice_agent.data_files import SCHEMAS, FileReport
from voice_agent.doors import checks, doctor
from voice_agent.doors.checks import Check, ModelState
from voice_agent.errors import ConfigError

ROOT = SCHEMAS.parent.parent


def _run(*argv: str) -> int:
    parser = argparse.ArgumentParser()
    doctor.add(parser.add_subparsers(required=True))
    args = parser.parse_args(["doctor", *argv])
    return int(args.run(args))


def _found(out: str) -> dict[str, dict[str, str]]:
    return {check["name"]: check for check in map(json.loads, out.splitlines())}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of one entry, without models."""
    monkeypatch.setenv("VOICE_AGENT_HOME", str(tmp_path / "home"))
    (tmp_path / "data" / "kb").mkdir(parents=True)
    (tmp_path / "data" / "kb" / "a.jsonl").write_text('{"id":"a","text":"文"}\n', encoding="utf-8")
    (tmp_path / "config.yaml").write_text("profile: embedded\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("version", "status"),
    [((3, 11, 0), "ok"), ((3, 13, 2), "ok"), ((3, 10, 9), "fail"), ((2, 7, 18), "fail")],
)
def test_python(version: tuple[int, int, int], status: str) -> None:
    """3.11 is the oldest."""
    assert checks.check_python(version).status == status


@pytest.mark.parametrize(
    ("system", "machine", "status", "word"),
    [
        ("Linux", "x86_64", "ok", "Linux"),
        ("Linux", "aarch64", "warn", "有安装包"),
        ("Darwin", "arm64", "warn", "有安装包"),
        ("Windows", "AMD64", "warn", "有安装包"),
        ("Darwin", "x86_64", "warn", "onnxruntime"),
        ("Linux", "riscv64", "warn", "没有现成的安装包"),
    ],
)
def test_platform(system: str, machine: str, status: str, word: str) -> None:
    """Only what is tested is ok; no platform fails, for it may still work."""
    check = checks.check_platform(system, machine, 2)
    assert check.status == status
    assert word in check.message + check.mend


def test_the_packages_looked_for_are_those_required() -> None:
    """A dependency added to pyproject.toml must be looked for too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = {line.split(">")[0].split("[")[0].split("=")[0] for line in project["dependencies"]}
    assert set(checks.PACKAGES) == required


def test_missing_packages() -> None:
    """A required one fails; those of the hub profile only when that profile is used."""
    whole, hub = checks.check_packages(lambda name: name not in ("jieba", "torch"), hub=False)
    assert (whole.status, hub.status) == ("fail", "ok")
    assert ("jieba" in whole.message, "torch" in hub.message, "pip install" in whole.mend) == (
        True,
        True,
        True,
    )
    whole, hub = checks.check_packages(lambda name: name != "torch", hub=True)
    assert (whole.status, hub.status, "hub" in hub.mend) == ("ok", "fail", True)
    assert [check.status for check in checks.check_packages(lambda _: True, hub=True)] == ["ok", "ok"]


def test_looking_for_a_package_does_not_import_it() -> None:
    """torch costs seconds."""
    code = (
        "import sys\nfrom voice_agent.doors.checks import is_installed as found\n"
        "print(found('torch'), found('faster_whisper'), found('no_such_package'), 'torch' in sys.modules)"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    assert out.split()[1:] == ["True", "False", "False"]


def test_models() -> None:
    """A missing model fails and says how to get it; one with a stand-in only warns."""
    ready, spare, missing = checks.check_models(
        [ModelState("a", True, ""), ModelState("b", True, "日语声音"), ModelState("c", False, "尚未下载")]
    )
    assert [check.status for check in (ready, spare, missing)] == ["ok", "warn", "fail"]
    assert missing.mend.endswith("voice-agent models pull c")


def test_a_wrong_configuration_fails_and_the_rest_goes_on() -> None:
    """The defaults stand in, so that one typing mistake does not hide the other findings."""

    def wrong() -> Config:
        raise ConfigError("config.yaml: unknown key tts.voise")

    check, config = checks.check_config(wrong)
    assert (check.status, "tts.voise" in check.message) == ("fail", True)
    assert config == Config()


def test_data_files() -> None:
    """A file with faults fails, shows the first few and counts the rest."""
    faults = tuple(f"a.jsonl:{n}: x" for n in range(5))
    good, bad = checks.check_data(
        [FileReport(Path("kb/b.jsonl"), 3, ()), FileReport(Path("kb/a.jsonl"), 5, faults)]
    )
    assert (good.status, bad.status) == ("ok", "fail")
    assert "a.jsonl:2: x；等共 5 处" in bad.message
    assert "a.jsonl:3" not in bad.message


def test_index() -> None:
    """Missing and stale both warn, for the next start builds it."""
    assert checks.check_index(None, "there is none", "s").status == "warn"
    assert "过期" in checks.check_index({"corpus_sha": "old"}, "", "s").message
    assert checks.check_index({"corpus_sha": "s", "encoder": "e5"}, "", "s").status == "ok"


def _devices(*channels: tuple[int, int]) -> list[dict[str, Any]]:
    return [{"max_input_channels": i, "max_output_channels": o} for i, o in channels]


def test_audio() -> None:
    """No sound device never fails: replay and ask need none. Without PortAudio the package to install is named."""

    def without_portaudio() -> list[Any]:
        raise OSError("PortAudio library not found")

    def without_package() -> list[Any]:
        raise ImportError("no sounddevice")

    assert checks.check_audio(lambda: _devices((1, 0), (0, 2))).status == "ok"
    for lacking in ((1, 0), (0, 2)):
        assert checks.check_audio(lambda lacking=lacking: _devices(lacking)).status == "warn"  # type: ignore[misc]
    assert checks.check_audio(list).status == "warn"
    assert checks.check_audio(without_package).status == "warn"
    missing = checks.check_audio(without_portaudio)
    assert (missing.status, "libportaudio2" in missing.mend) == ("warn", True)


def test_space_and_writable_folders(tmp_path: Path) -> None:
    """Judged at the nearest folder that exists; a file in the way fails."""
    inside = tmp_path / "not" / "yet"
    assert checks.check_space(inside, 1).status == "ok"
    assert checks.check_space(inside, 10**18).status == "fail"
    assert checks.check_writable("logs", inside).status == "ok"
    (tmp_path / "file").write_text("")
    assert checks.check_writable("logs", tmp_path / "file" / "logs").status == "fail"
    assert not inside.parent.exists(), "looking creates nothing"


def test_every_finding_that_is_not_well_says_how_to_mend_it(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a machine without models: exit 1, JSON lines only, no finding without a way out."""
    assert _run("--json", "--config", str(project / "config.yaml")) == 1
    found = _found(capsys.readouterr().out)
    assert found["model whisper-base"]["status"] == "fail"
    assert (
        found["config"]["status"]
        == found["data kb/a.jsonl"]["status"]
        == found["knowledge base"]["status"]
        == "ok"
    )
    assert found["index"]["status"] == "warn"
    for check in found.values():
        assert set(check) == {"name", "status", "message", "mend"}
        assert bool(check["mend"]) or check["status"] == "ok", check


def test_it_ends_in_0_when_nothing_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A warning is not a failure; people see a mark, the finding and the way to mend it."""
    monkeypatch.setattr(
        doctor, "examine", lambda _: iter([Check("a", "ok", "好"), Check("b", "warn", "缺", "装上")])
    )
    assert _run() == 0
    assert capsys.readouterr().out == "✓ a: 好\n! b: 缺\n    → 装上\n"
    monkeypatch.setattr(doctor, "examine", lambda _: iter([Check("c", "fail", "坏", "修")]))
    assert _run() == 1


def test_broken_inputs_are_findings_not_faults(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line that is no JSON, an unknown key, an empty knowledge base, a wrong configuration, a broken index."""
    kb, config = project / "data" / "kb" / "a.jsonl", project / "config.yaml"
    run = ("--json", "--config", str(config))
    kb.write_text('{"id":"a","text":"文"}\n{"id":\n', encoding="utf-8")
    _run(*run)
    found = _found(capsys.readouterr().out)
    assert "a.jsonl:2: not JSON" in found["data kb/a.jsonl"]["message"]
    assert found["knowledge base"]["status"] == "fail"
    kb.write_text('{"id":"a","text":"文","valid_form":"2026-01-01"}\n', encoding="utf-8")
    (project / "index").mkdir()
    (project / "index" / "current").write_text("gen-gone")
    _run(*run)
    found = _found(capsys.readouterr().out)
    assert (found["knowledge base"]["status"], "valid_form" in found["knowledge base"]["message"]) == (
        "warn",
        True,
    )
    assert (found["index"]["status"], "gen-gone" in found["index"]["message"]) == ("warn", True)
    kb.unlink()
    _run(*run)
    assert _found(capsys.readouterr().out)["knowledge base"]["status"] == "fail"
    config.write_text("tts: {voise: x}\n", encoding="utf-8")
    assert _run(*run) == 1
    assert "voise" in _found(capsys.readouterr().out)["config"]["message"]


def test_an_index_of_another_knowledge_base_is_stale(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And one of this knowledge base is not."""
    from retrieval.corpus import load_corpus
    from retrieval.generations import new_generation, write_manifest

    run = ("--json", "--config", str(project / "config.yaml"))
    for sha, status in (("other", "warn"), (load_corpus(project / "data" / "kb").sha, "ok")):
        with new_generation(project / "index") as folder:
            write_manifest(folder, {"corpus_sha": sha, "encoder": "e5"})
        _run(*run)
        assert _found(capsys.readouterr().out)["index"]["status"] == status


@pytest.mark.models
def test_with_the_models_in_place_they_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    """On the machine that has pulled them, in the project's own configuration."""
    _run("--json", "--config", str(ROOT / "config.yaml"))
    found = _found(capsys.readouterr().out)
    for model in ("whisper-base", "e5-small", "kokoro"):
        assert found[f"model {model}"]["status"] in ("ok", "warn")


def test_the_calibration_is_judged_by_the_corpus_it_was_made_on() -> None:
    """Stored, stale, none, broken: each says what decides and how to mend it; required, anything but stored fails."""
    bound = Bound(wanted=0.02, chosen_on=(1, 90), seen_on=(2, 95), upper=0.06, needed=149)
    made = Calibration(
        "r", "unit", "e", "f", "corpus-1", "2026-11-30", {"answer": 0.7, "clarify": 0.1}, bound
    )
    cases: list[tuple[Calibration | None, str, str, bool, str, str]] = [
        (made, "", "corpus-1", True, "ok", "stored"),
        (made, "", "corpus-2", False, "warn", "stale"),
        (made, "", "corpus-2", True, "fail", "stale"),
        (None, "", "corpus-1", False, "warn", "shipped"),
        (None, "", "corpus-1", True, "fail", "shipped"),
        (None, "calibration x: cannot be read", "corpus-1", False, "fail", "cannot be read"),
    ]
    for found, fault, corpus, required, status, said in cases:
        check = checks.check_calibration(found, fault, corpus, required)
        assert (check.status, said in check.message) == (status, True)
        assert bool(check.mend) is (status != "ok")
