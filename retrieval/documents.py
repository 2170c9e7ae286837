"""Word, PDF and HTML documents as Markdown: what may come in, a converter in a process of its own, what it made kept.

The converter is an optional extra. Nothing of it is imported here: a knowledge base without such documents, or with
ones already converted, starts without it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from typing import Final

from retrieval.errors import CorpusError

KINDS: Final = {".pdf": "pdf", ".docx": "docx", ".html": "html", ".htm": "html"}
"""Suffix of a file to the kind of document."""

FORMAT: Final = 1
"""Raised when the same document would come out otherwise; what was kept of it is then converted again."""

Convert = Callable[[bytes, str, str], str]
"""(the file's bytes, its kind, its name for messages) -> Markdown. Raises CorpusError."""


@dataclass(frozen=True, slots=True)
class DocumentLimits:
    """What one document may cost. The time is wall-clock and processor seconds alike."""

    pages: int = 500
    unpacked_bytes: int = 256 * 1024 * 1024
    seconds: float = 120.0
    memory_mb: int = 1024
    markdown_bytes: int = 32 * 1024 * 1024


class Documents:
    """Converts documents; with a folder to keep them in, each only once. Safe for several processes at once."""

    def __init__(self, kept: Path | None = None, limits: DocumentLimits | None = None) -> None:
        self._kept = kept
        self._limits = limits or DocumentLimits()

    def __call__(self, data: bytes, kind: str, name: str) -> str:
        """Markdown of a document. Raises CorpusError, one line: what is wrong with it and how to mend it."""
        _fits(data, kind, name, self._limits)
        key = hashlib.sha256(f"{FORMAT} {kind} ".encode() + data).hexdigest()
        path = self._kept / f"{key}.md" if self._kept else None
        known = _known(path) if path else None
        if known is not None:
            return known
        markdown = _converted(data, kind, name, self._limits)
        if path:
            _keep(path, markdown)
        return markdown


def _fits(data: bytes, kind: str, name: str, limits: DocumentLimits) -> None:
    """The suffix tells the truth, and a packed file stays within bounds unpacked."""
    is_pdf, is_zip = b"%PDF-" in data[:1024], data[:4] == b"PK\x03\x04"
    if kind == "pdf" and not is_pdf:
        raise CorpusError(
            f"{name}: not a PDF in spite of its name; give it the right suffix or export it again"
        )
    if kind == "html" and (is_pdf or is_zip or b"\0" in data[:1024]):
        raise CorpusError(
            f"{name}: not HTML in spite of its name; give it the right suffix or export it again"
        )
    if kind != "docx":
        return
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            members = packed.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as e:
        old = data[:4] == b"\xd0\xcf\x11\xe0"
        what = "an old .doc or an encrypted file" if old else f"not a whole DOCX file ({e})"
        raise CorpusError(f"{name}: {what}; save it again as .docx without a password") from e
    if "word/document.xml" not in {member.filename for member in members}:
        raise CorpusError(f"{name}: a zip file but no Word document; give it the right suffix")
    size = sum(member.file_size for member in members)
    if size > limits.unpacked_bytes:
        raise CorpusError(f"{name}: {size} bytes unpacked, more than {limits.unpacked_bytes}; split it")


def _converted(data: bytes, kind: str, name: str, limits: DocumentLimits) -> str:
    if find_spec("markitdown") is None:
        raise CorpusError(
            f"{name}: Word, PDF and HTML need the extra documents; pip install 'voice-agent[documents]'"
        )
    script = str(Path(__file__).with_name("convert.py"))
    bounds = (str(limits.pages), str(ceil(limits.seconds)), str(limits.memory_mb))
    command = [sys.executable, "-P", "-W", "ignore", script, kind, *bounds]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"}
    try:
        done = subprocess.run(
            command, input=data, capture_output=True, timeout=limits.seconds, env=environment, check=False
        )
    except subprocess.TimeoutExpired as e:
        raise CorpusError(f"{name}: not converted within {limits.seconds:g} s; split it") from e
    except OSError as e:
        raise CorpusError(f"{name}: the converter cannot be started ({e.strerror or e})") from e
    if done.returncode:
        raise CorpusError(f"{name}: {_why(done)}")
    answer = json.loads(done.stdout)
    if "fault" in answer:
        raise CorpusError(f"{name}: {answer['fault']}")
    markdown = str(answer["markdown"])
    if not any(char.isalnum() for char in markdown):
        raise CorpusError(f"{name}: no text in it; remove it or save a copy with text")
    if len(markdown.encode()) > limits.markdown_bytes:
        raise CorpusError(f"{name}: more than {limits.markdown_bytes} bytes of text; split it")
    return markdown


def _why(done: subprocess.CompletedProcess[bytes]) -> str:
    """What ended the converter, from the last line that it said."""
    said = (done.stderr.decode(errors="replace").strip().splitlines() or [""])[-1].strip()
    error = said.partition(":")[0]
    if error == "MemoryError":
        return "needs more memory than a document may; split it"
    if error in ("ImportError", "ModuleNotFoundError"):
        return f"the converter cannot be loaded ({said[:120]}); install the extra documents again"
    if said:
        return f"cannot be read ({said[:160]}); save it again"
    return f"the converter was ended (exit {done.returncode}); split it"


def _known(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _keep(path: Path, markdown: str) -> None:
    """Whole or not at all; a folder that cannot be written costs only the time to convert again."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(markdown, encoding="utf-8")
        part.replace(path)
    except OSError:
        with suppress(OSError):
            part.unlink()
