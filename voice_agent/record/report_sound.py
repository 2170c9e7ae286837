"""The recording beside a journal, as an address that a page can hold in itself; bounded, as a page is loaded whole."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MOST_BYTES: Final = 64 * 1024 * 1024
"""Of all recordings of a page: 17 minutes of both sides at 16 kHz. A browser on a phone holds it, and the third more
that it takes as text; beyond, pages die without a word."""


@dataclass(frozen=True, slots=True)
class Sound:
    """`address` is a data URI, empty where there is none; `note` then says why; `size` are the file's bytes if held."""

    address: str = ""
    note: str = ""
    size: int = 0


def read_sound(path: Path, room: int = MOST_BYTES) -> Sound:
    """The recording, if it is no larger than `room` bytes. Never raises: a call without sound is still a call."""
    try:
        size = path.stat().st_size
        if size > room:
            return Sound(
                note=f"录音 {path.name} 有 {size / 1e6:.1f} MB，超过本页还能放下的 {room / 1e6:.1f} MB，没有放入"
            )
        data = path.read_bytes()
    except FileNotFoundError:
        return Sound(note="没有录音")
    except OSError as e:
        return Sound(note=f"录音 {path.name} 读不出（{e.strerror}）")
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        return Sound(note=f"{path.name} 不是 WAV 录音，没有放入")
    return Sound(f"data:audio/wav;base64,{b64encode(data).decode()}", size=len(data))
