"""The sound of a live call: kept only once the caller has agreed, and the answer stands in the journal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from voice_agent.record.journal import Recorder

Block = NDArray[np.float32]
"""Samples of caller (left) and agent (right), shape (n, 2)."""


_OWNER_ONLY = 0o600


class Writer(Protocol):
    """A sound file that is being written, as audio.wav.WavWriter is."""

    def append(self, samples: Block) -> None: ...

    def close(self) -> None: ...


class ConsentedSound:
    """Takes every block of a call and keeps those after a yes. A later no erases what was kept.

    `open_file` makes the file at the first yes; before there is none.
    """

    def __init__(self, path: Path, open_file: Callable[[Path], Writer], recorder: Recorder) -> None:
        self._path = path
        self._open_file = open_file
        self._recorder = recorder
        self._writer: Writer | None = None

    def answered(self, given: bool, how: str, t: float, turn: int = 0) -> None:
        """The caller's answer to being recorded; `how` says what gave it (key, words, contract)."""
        self._recorder.write("consent", t, turn, to="recording", given=given, how=how)
        if given and self._writer is None:
            self._writer = self._open_file(self._path)
            self._path.chmod(_OWNER_ONLY)
        elif not given:
            self.close()
            self._path.unlink(missing_ok=True)

    def append(self, block: Block) -> None:
        """Kept, or not."""
        if self._writer is not None:
            self._writer.append(block)

    def close(self) -> None:
        """Ends the file, if there is one."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
