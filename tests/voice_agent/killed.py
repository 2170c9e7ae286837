"""Replays that are killed in the middle: run as `python -m tests.voice_agent.killed FOLDER ROUNDS SEED`.

Each round forks a child that replays a scripted call into a journal of its own and tells the number of every event once
its write has returned. The parent kills it at a random moment and prints, as one JSON line, the journal and what it was
told. The first round is let run to its end: its length is what the moments are drawn from.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import sys
import time
from pathlib import Path

import numpy as np

from retrieval.types import Outcome, VerdictReason
from tests.fakes import Dialogue, Scripted, ScriptedAnswers, ScriptedRecognizer, pause, voice
from voice_agent.call.recorded import Clip
from voice_agent.record.journal import Journal, MemoryJournal

ANSWERS = {
    "退款多久到账": Scripted(sentences=(("退款三天到账。", None), ("原路退回。", None))),
    "运费谁出": Scripted(outcome=Outcome.CLARIFY),
    "给个准话": Scripted(sentences=(("一天到账。", VerdictReason.NUM_UNSUPPORTED),)),
}


class Telling(MemoryJournal):
    """A journal on the disk that tells the number of each event after its write."""

    def __init__(self, journal: Journal, pipe: int) -> None:
        super().__init__()
        self._journal = journal
        self._pipe = pipe
        self._number = 0

    def write(self, kind: str, t: float, turn: int, **data: object) -> None:
        self._number += 1
        self._journal.write(kind, t, turn, number=self._number, **data)
        os.write(self._pipe, b"%d\n" % self._number)


def replay(folder: Path, call: str, pipe: int) -> None:
    """Three turns and a hand-off, as fast as it goes."""
    lines = dict(enumerate(ANSWERS, start=1))
    clips = [np.concatenate([voice(line), pause(4.0)]) for line in lines]
    with Journal(folder, call, {}) as journal:
        dialogue = Dialogue(ScriptedRecognizer(lines), ScriptedAnswers(ANSWERS))
        dialogue.journal = Telling(journal, pipe)
        dialogue.run(Clip(np.concatenate(clips)))


def spawn(folder: Path, call: str) -> tuple[int, int]:
    """The child's id and the pipe it tells on."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        replay(folder, call, writing)
        os._exit(0)
    os.close(writing)
    return child, reading


def told(pipe: int) -> list[int]:
    """Every whole number that was told until the child was gone."""
    with os.fdopen(pipe, "rb") as stream:
        *lines, _ = stream.read().split(b"\n")
    return [int(line) for line in lines]


def main(folder: Path, rounds: int, seed: int) -> None:
    chance = random.Random(seed)
    child, pipe = spawn(folder, "whole")
    select.select([pipe], [], [], 60)
    began = time.monotonic()
    numbers = told(pipe)
    length_s = time.monotonic() - began
    os.waitpid(child, 0)
    print(json.dumps({"call": "whole", "told": numbers}), flush=True)
    for n in range(rounds):
        child, pipe = spawn(folder, f"killed-{n}")
        select.select([pipe], [], [], 60)  # its first event: from here on it is a replay under way
        time.sleep(chance.uniform(0, length_s))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        print(json.dumps({"call": f"killed-{n}", "told": told(pipe)}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
