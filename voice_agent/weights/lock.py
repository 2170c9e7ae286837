"""One pull at a time: a lock of the operating system on a file, let go by the system even if we are killed."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from voice_agent.errors import WeightsError

if sys.platform == "win32":
    import msvcrt

    def _take(file: IO[bytes]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _take(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


WAIT_S = 1800.0
"""Another pull may be fetching everything over a slow line; after that it is more likely hung."""

_POLL_S = 0.2


@contextmanager
def only_one(path: Path, wait_s: float) -> Iterator[None]:
    """Hold the lock on `path` (made if need be). Raises WeightsError when another holds it past `wait_s` seconds."""
    with path.open("ab") as file:
        deadline = time.monotonic() + wait_s
        while not _taken(file):
            if time.monotonic() >= deadline:
                raise WeightsError(f"another `models pull` holds {path}: wait for it to end, then pull again")
            time.sleep(_POLL_S)
        yield  # closing the file lets the lock go


def _taken(file: IO[bytes]) -> bool:
    try:
        _take(file)
    except OSError:
        return False
    return True
