"""Laws of keeping and erasing: a call is kept as a whole or not at all, and one that is running is not touched."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from cryptography.fernet import Fernet

from audio.wav import WavWriter, read_wav
from voice_agent.config import load_config
from voice_agent.doors.cli import run
from voice_agent.errors import AgentError, ConfigError, InputError
from voice_agent.keeping import sweep_calls
from voice_agent.record.call_files import BESIDE, erase, files_of
from voice_agent.record.consent import ConsentedSound
from voice_agent.record.inspection import read_call
from voice_agent.record.journal import Journal, MemoryJournal, is_open
from voice_agent.record.kept import CACHE, kept_in
from voice_agent.record.retention import DAY_S, Limits, sweep
from voice_agent.record.schema import validate_event
from voice_agent.record.vault import masking, opened_by, reveal

ELSEWHERE = ("recordings/{}.wav", "handoff/{}.json", "handoff/spool/{}.json", "handoff/spool/refused/{}.json")


def kept(calls: Path, call: str, *, age_days: float = 0.0, size: int = 10) -> list[Path]:
    """A finished call with everything that may lie about of it."""
    with Journal(calls, call, {}) as journal:
        journal.write("error", 1, 1, where="x", message="x" * size)
    paths = [journal.path, *(calls / f"{call}{suffix}" for suffix in BESIDE)]
    paths += [calls.parent / packet.format(call) for packet in ELSEWHERE]
    for path in paths[1:]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    ended_s = 2_000_000_000 - age_days * DAY_S
    os.utime(journal.path, (ended_s, ended_s))
    return paths


NOW_S = 2_000_000_000.0


def test_forgetting_erases_everything_of_that_call_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line a file, the journal last; calls whose names begin alike keep all of theirs."""
    calls = tmp_path / "calls"
    gone, stays = kept(calls, "a"), [*kept(calls, "a.b"), *kept(calls, "a-2"), *kept(calls, "ab")]
    assert run(["forget", "a", "--logs", str(calls)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert sorted(told) == sorted(f"erased {path}" for path in gone) and told[-1].endswith("a.jsonl")
    assert not any(path.exists() for path in gone) and all(path.exists() for path in stays)


def test_the_packets_beside_the_journals_of_a_replay_go_too(tmp_path: Path) -> None:
    """`replay --out DIR` keeps them in DIR/handoff."""
    kept(tmp_path / "out", "a")
    packet = tmp_path / "out" / "handoff" / "a.json"
    packet.parent.mkdir()
    packet.write_text("{}", encoding="utf-8")
    assert run(["forget", "a", "--logs", str(tmp_path / "out")]) == 0
    assert not packet.exists()


@pytest.mark.parametrize("door", ["forget", "sweep"])
def test_what_was_kept_for_the_list_goes_too(tmp_path: Path, door: str) -> None:
    """The summaries beside the journals hold its row no longer; those of other calls stay; with the last, the file."""
    for call in ("a", "b"):
        with Journal(tmp_path, call, {}) as journal:
            journal.write("ready", 0, 0, timings_ms={})
    assert list(kept_in(tmp_path)) == ["a.jsonl", "b.jsonl"]
    os.utime(tmp_path / "a.jsonl", (NOW_S - 2 * DAY_S, NOW_S - 2 * DAY_S))
    os.utime(tmp_path / "b.jsonl", (NOW_S, NOW_S))

    def erased(call: str, now_s: float) -> bool:
        if door == "sweep":
            return sweep(tmp_path, Limits(keep_days=1), now_s) == [call]
        return run(["forget", call, "--logs", str(tmp_path)]) == 0

    assert erased("a", NOW_S) and list(kept_in(tmp_path)) == ["b.jsonl"]
    assert b"a.jsonl" not in (tmp_path / CACHE).read_bytes()
    assert erased("b", NOW_S + 2 * DAY_S) and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("call", ["b", "../a", "a/../a", "", ".", "a.wav"])
def test_an_unknown_call_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], call: str) -> None:
    """Exit 2 on one line, and the calls named beside it stay."""
    paths = kept(tmp_path, "a")
    assert run(["forget", "a", call, "--logs", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert all(path.exists() for path in paths)


def test_a_running_call_is_not_erased(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It would go on writing into a file that nobody can find; hang up first."""
    with Journal(tmp_path, "a", {}) as journal:
        assert is_open(journal.path)
        assert run(["forget", "a", "--logs", str(tmp_path)]) == 2
        assert "still running" in capsys.readouterr().err
        journal.write("resumed", 1, 1)
    assert not is_open(journal.path)
    assert run(["forget", "a", "--logs", str(tmp_path)]) == 0


def test_a_killed_call_does_not_seem_to_run_on(tmp_path: Path) -> None:
    """Nobody has to break a lock that a dead process left."""
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom voice_agent.record.journal import Journal\n"
        "Journal(Path(sys.argv[1]), 'a', {}).__enter__()\nos.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False, timeout=60)
    erase(files_of(tmp_path, "a"))
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_erased_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The journal goes last, so that the erasure can be asked for again."""
    kept(tmp_path / "calls", "a")

    def refuse(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(AgentError, match=r"a\.wav: cannot be erased"):
        erase(files_of(tmp_path / "calls", "a"))
    assert (tmp_path / "calls" / "a.jsonl").exists()


def test_calls_older_than_kept_go_whole(tmp_path: Path) -> None:
    """At the limit a call stays; past it nothing of it does."""
    old, young = kept(tmp_path / "c", "old", age_days=30.1), kept(tmp_path / "c", "young", age_days=29.9)
    assert sweep(tmp_path / "c", Limits(keep_days=30), NOW_S) == ["old"]
    assert not any(path.exists() for path in old) and all(path.exists() for path in young)


def test_the_oldest_go_until_the_rest_fits(tmp_path: Path) -> None:
    """By the time of the last word, sound and report counted."""
    for age, call in ((3, "b"), (1, "c"), (2, "a")):
        kept(tmp_path / "c", call, age_days=age, size=100_000)
    assert sweep(tmp_path / "c", Limits(max_mb=2), NOW_S) == ["b"]
    assert sweep(tmp_path / "c", Limits(max_mb=2), NOW_S) == []
    assert sweep(tmp_path / "c", Limits(), NOW_S) == []
    assert sweep(tmp_path / "nowhere", Limits(keep_days=1), NOW_S) == []


def test_a_running_call_outlives_every_limit(tmp_path: Path) -> None:
    """However old and large; nor does a file that is no journal of ours count."""
    (tmp_path / "报告.jsonl").write_text("x", encoding="utf-8")
    with Journal(tmp_path, "a", {}) as journal:
        os.utime(journal.path, (0, 0))
        assert sweep(tmp_path, Limits(keep_days=1, max_mb=1), NOW_S) == []
        journal.write("resumed", 1, 1)
    assert len(read_call(journal.path).problems) == 1
    assert (tmp_path / "报告.jsonl").exists()


def test_the_limits_are_the_configurations(tmp_path: Path) -> None:
    """What a live door calls at its start: logs/calls, the configured days and size."""
    old = kept(tmp_path / "calls", "old", age_days=0)[0]
    os.utime(old, (0, 0))
    keeping = [f"paths.logs={tmp_path}", "journal.max_mb=null"]
    assert sweep_calls(load_config(None, [*keeping, "journal.keep_days=null"])) == []
    assert sweep_calls(load_config(None, keeping)) == ["old"]


_CALLS = """
import sys, threading
from pathlib import Path
from voice_agent.record.inspection import read_call
from voice_agent.record.journal import Journal
from voice_agent.errors import InputError
from voice_agent.record.retention import Limits, sweep
folder, me = Path(sys.argv[1]), sys.argv[2]
def call(n):
    with Journal(folder, f"{me}-{n}", {}) as journal:
        for i in range(60):
            journal.write("partial", i, n, text=f"{me}-{n} " + "字" * 300)
            if i % 20 == 0:
                sweep(folder, Limits(max_mb=10_000), 0.0)
    try:
        with Journal(folder, "shared", {}) as journal:
            journal.write("partial", 0, 0, text=f"{me}-{n}")
            print("mine", flush=True)
    except InputError:
        pass
threads = [threading.Thread(target=call, args=(n,)) for n in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
"""


def test_several_calls_at_once_do_not_mix(tmp_path: Path) -> None:
    """Three processes of four threads write twelve calls beside a sweep: each holds its own events, in order; of those
    that want the same name one gets it."""
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", _CALLS, str(tmp_path), f"p{n}"], stdout=subprocess.PIPE, text=True
        )
        for n in range(3)
    ]
    said = "".join(writer.communicate(timeout=120)[0] for writer in writers)
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert said == "mine\n"
    for call in (f"p{p}-{n}" for p in range(3) for n in range(4)):
        _, *events = map(json.loads, (tmp_path / f"{call}.jsonl").read_text(encoding="utf-8").splitlines())
        assert [e["t"] for e in events] == list(range(60))
        assert {e["text"].split()[0] for e in events} == {call}
    assert len(read_call(tmp_path / "shared.jsonl").problems) == 1


def test_threads_in_one_process_keep_their_placeholders_apart(tmp_path: Path) -> None:
    """Placeholders count within a call: two callers' first numbers are both PHONE:1."""

    def call(n: int) -> None:
        with Journal(tmp_path, f"c{n}", {}) as journal:
            for _ in range(50):
                journal.write("barge_in", 1, 1, heard=f"打1380013800{n}")

    threads = [threading.Thread(target=call, args=(n,)) for n in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n in range(5):
        assert (tmp_path / f"c{n}.jsonl").read_text(encoding="utf-8").count("打〈PHONE:1〉") == 50


KEY = Fernet.generate_key().decode()


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("OPERATOR_KEY", KEY)
    return "OPERATOR_KEY"


def said(folder: Path, call: str, key_env: str) -> Path:
    with masking(key_env, folder, call) as masker, Journal(folder, call, {}, masker=masker) as journal:
        journal.write("barge_in", 1, 1, heard="我叫王小明，打138 0013 8000")
        journal.write("barge_in", 2, 1, heard="是幺三八零零幺三八零零零，王小明")
    return journal.path


def test_without_a_key_nothing_of_it_is_kept(tmp_path: Path) -> None:
    """Off by default: the journal lies alone but for its numbers for the list."""
    assert load_config().privacy.key_env == ""
    said(tmp_path, "a", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == [CACHE, "a.jsonl"]


def test_only_the_key_gives_back_what_was_masked(
    tmp_path: Path, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One value a placeholder; on the disk it is unreadable and the owner's alone; another key opens nothing."""
    said(tmp_path, "a", key)
    vault = tmp_path / "a.vault"
    assert reveal(vault, opened_by(key)) == {"〈PHONE:1〉": "13800138000", "〈NAME:1〉": "王小明"}
    assert b"138" not in vault.read_bytes() and "王" not in vault.read_text(encoding="utf-8")
    assert stat.S_IMODE(vault.stat().st_mode) == 0o600
    argv = ["reveal", "a", "--logs", str(tmp_path), "--set", f"privacy.key_env={key}"]
    assert run(argv) == 0
    assert "〈PHONE:1〉\t13800138000" in capsys.readouterr().out
    assert run([*argv, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["〈NAME:1〉"] == "王小明"
    os.environ[key] = Fernet.generate_key().decode()
    assert run(argv) == 2
    assert "another key" in capsys.readouterr().err


def test_a_vault_cut_off_by_a_kill_gives_what_is_whole(tmp_path: Path, key: str) -> None:
    """The last line may be torn; the placeholder of a torn line was never written."""
    said(tmp_path, "a", key)
    vault = tmp_path / "a.vault"
    vault.write_bytes(vault.read_bytes()[:-20])
    assert len(reveal(vault, opened_by(key))) == 1


@pytest.mark.parametrize(("value", "says"), [(None, "is not set"), ("short", "no Fernet key")])
def test_a_key_that_is_none_is_told_before_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str | None, says: str
) -> None:
    """Better no call than one whose operator believes it can be revealed."""
    monkeypatch.delenv("OPERATOR_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("OPERATOR_KEY", value)
    with pytest.raises(ConfigError, match=says), masking("OPERATOR_KEY", tmp_path, "a"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_revealed_is_one_line(
    tmp_path: Path, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """No key in the configuration, a call without a vault, a name that is a path."""
    said(tmp_path, "a", "")
    for argv in (
        ["a"],
        ["a", "--set", f"privacy.key_env={key}"],
        ["../a", "--set", f"privacy.key_env={key}"],
    ):
        assert run(["reveal", *argv, "--logs", str(tmp_path)]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    with masking(key, tmp_path, "b"), pytest.raises(InputError, match="cannot be written"):
        masking(key, tmp_path, "b").__enter__()


def test_forgetting_takes_the_vault_along(tmp_path: Path, key: str) -> None:
    """The key's file goes with the call: what was masked cannot come back."""
    said(tmp_path, "a", key)
    assert run(["forget", "a", "--logs", str(tmp_path)]) == 0
    assert list(tmp_path.iterdir()) == []


def sound(path: Path, journal: MemoryJournal) -> ConsentedSound:
    return ConsentedSound(path, lambda where: WavWriter(where, 16_000, 2), journal)


def test_nothing_is_recorded_before_a_yes(tmp_path: Path) -> None:
    """The default is no sound at all; after a yes from there on; the answer and what gave it are in the journal."""
    journal, path = MemoryJournal(), tmp_path / "a.wav"
    recording, block = sound(path, journal), np.full((1600, 2), 0.1, dtype=np.float32)
    recording.append(block)
    assert not path.exists() and journal.events == []
    recording.answered(True, "按 1", 2.0)
    recording.append(block)
    recording.close()
    assert read_wav(path).duration_s == pytest.approx(0.1)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert journal.events == [
        {"type": "consent", "t": 2.0, "turn": 0, "to": "recording", "given": True, "how": "按 1"}
    ]
    assert validate_event(journal.events[0]) == []


def test_a_later_no_erases_what_was_kept(tmp_path: Path) -> None:
    """And nothing is kept from there on; a no at once leaves nothing either."""
    journal, path = MemoryJournal(), tmp_path / "a.wav"
    recording, block = sound(path, journal), np.zeros((1600, 2), dtype=np.float32)
    for given in (True, False):
        recording.answered(given, "说了", 1.0)
        recording.append(block)
    recording.close()
    assert not path.exists()
    assert [event["given"] for event in journal.of("consent")] == [True, False]
