"""A knowledge base from disk: JSONL entries one by one, documents of every kind in passages. All or nothing.

The order is that of the sorted file names and of the lines in them, so that two machines build the same index.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from retrieval.chunk import ChunkRules, chunks
from retrieval.documents import KINDS, Convert, Documents
from retrieval.entry import KEYS, EntryError, entry, fingerprinted
from retrieval.errors import CorpusError
from retrieval.example_files import SUFFIX, Examples, examples_of
from retrieval.markdown import parse
from retrieval.types import Passage, PassageId

MAX_FILE_BYTES: Final = 32 * 1024 * 1024
"""A bigger file is a mistake of the path, and reading it would hold up the start."""

LONG_CHARS: Final = 650
"""About 500 tokens: what an encoder of this kind reads of a passage."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """All passages in order. `sha` changes with any field of any passage, `version` is its short form.

    `warnings` are one line each: what was odd but could be loaded.
    """

    passages: tuple[Passage, ...]
    sha: str
    version: str
    warnings: tuple[str, ...] = ()

    @property
    def has_examples(self) -> bool:
        """Whether anything is told of how callers ask."""
        return any(p.examples or p.near_misses for p in self.passages)


@dataclass(frozen=True, slots=True)
class _Source:
    """A file's text, its name for messages, and its path inside the knowledge base without the suffix."""

    text: str
    name: str
    stem: str
    rules: ChunkRules


Found = tuple[Passage, str]
"""A passage and its place, file:line."""


def load_corpus(path: Path, rules: ChunkRules | None = None, convert: Convert | None = None) -> Corpus:
    """Reads a file or, with its subfolders, a folder of .jsonl, .md, .txt, .html, .pdf and .docx files. Lines of
    *.examples.jsonl are no passages: they add examples to those of other files.

    `convert` makes Markdown of the last three. Raises CorpusError, one line with file and line, for the first fault:
    nothing is left out silently.
    """
    warnings: list[str] = []
    places: dict[PassageId, str] = {}
    passages: list[Passage] = []
    told: list[Examples] = []
    for file in _files(path, warnings):
        if file.name.endswith(SUFFIX):
            told += _examples(file)
            continue
        stem = file.relative_to(path if path.is_dir() else path.parent).with_suffix("").as_posix()
        text = _text(file, convert or Documents())
        source = _Source(text, str(file), stem, rules or ChunkRules())
        for passage, place in _READERS[file.suffix.lower()](source, warnings):
            if passage.id in places:
                raise CorpusError(
                    f"{place}: id {passage.id!r} is already used at {places[passage.id]}; rename one"
                )
            places[passage.id] = place
            if not any(char.isalnum() for char in passage.text):
                warnings.append(f"{place}: no word in it, left out; nothing could find or say it")
                continue
            passages.append(passage)
            if len(passage.text) > LONG_CHARS:
                warnings.append(
                    f"{place}: {len(passage.text)} characters; the encoder reads about {LONG_CHARS}"
                )
    if not passages:
        raise CorpusError(f"no passages in {path}; add {_SUFFIXES} files")
    passages = _with_examples(passages, told)
    sha = _sha(passages)
    return Corpus(tuple(passages), sha, sha[:12], tuple(warnings))


def _files(path: Path, warnings: list[str]) -> list[Path]:
    if path.is_file():
        if path.suffix.lower() not in _READERS:
            raise CorpusError(f"{path}: not a {_SUFFIXES} file")
        return [path]
    if not path.is_dir():
        raise CorpusError(f"{path}: no such file or folder; give the knowledge base with paths.kb")
    files = []
    for file in sorted(path.rglob("*"), key=lambda file: file.relative_to(path).as_posix()):
        if any(part.startswith(".") for part in file.relative_to(path).parts) or not file.is_file():
            continue
        if file.suffix.lower() in _READERS:
            files.append(file)
        else:
            warnings.append(f"{file}: left out, not a {_SUFFIXES} file")
    return files


def _text(file: Path, convert: Convert) -> str:
    data = _bytes(file)
    kind = KINDS.get(file.suffix.lower())
    if kind:
        return convert(data, kind, str(file))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = data[: e.start].count(b"\n") + 1
        raise CorpusError(f"{file}:{line}: not UTF-8; save the file as UTF-8") from e
    return text.replace("\r\n", "\n")


def _bytes(file: Path) -> bytes:
    try:
        size = file.stat().st_size
        if size > MAX_FILE_BYTES:
            raise CorpusError(f"{file}: {size} bytes, more than {MAX_FILE_BYTES}; split it")
        return file.read_bytes()
    except OSError as e:
        raise CorpusError(f"{file}: cannot be read ({e.strerror or e})") from e


def _entries(source: _Source, warnings: list[str]) -> Iterator[Found]:
    """Passages of a JSONL file, one a line; an entry is never cut."""
    for number, line in enumerate(source.text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"{source.name}:{number}"
        fields = _object(line, place)
        unknown = sorted(fields.keys() - KEYS)
        if unknown:
            warnings.append(f"{place}: unknown key {', '.join(unknown)} ignored")
        for needed in ("id", "text"):
            if needed not in fields:
                raise CorpusError(f"{place}: {needed} is missing")
        yield _built(fields, place), place


def _examples(file: Path) -> Iterator[Examples]:
    """The lines of a file of examples."""
    for number, line in enumerate(_text(file, Documents()).split("\n"), 1):
        if line.strip():
            place = f"{file}:{number}"
            yield examples_of(_object(line, place), place)


def _with_examples(passages: Sequence[Passage], told: Iterable[Examples]) -> list[Passage]:
    """The passages with the examples that files of them give; they come after all passages are known."""
    known = {passage.id: passage for passage in passages}
    for one in told:
        if one.id not in known:
            raise CorpusError(f"{one.place}: no passage {one.id!r}; correct the id or remove the line")
        known[one.id] = fingerprinted(one.added_to(known[one.id]))
    return list(known.values())


def _object(line: str, place: str) -> dict[str, Any]:
    try:
        fields = json.loads(line, object_pairs_hook=_unique)
    except json.JSONDecodeError as e:
        raise CorpusError(f"{place}: invalid JSON at column {e.colno} ({e.msg})") from e
    except (ValueError, RecursionError) as e:
        raise CorpusError(f"{place}: {e}") from e
    if not isinstance(fields, dict):
        raise CorpusError(f"{place}: must be a JSON object with id and text")
    return fields


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key stands twice in one object; the first value would be lost")
    return fields


def _document(source: _Source, warnings: list[str]) -> Iterator[Found]:
    """Passages of a Markdown document; its front matter, if any, holds for all of them."""
    document = parse(source.text)
    shared = _shared(document.fields, source, warnings)
    for chunk in chunks(document, source.rules):
        path = chunk.path or (shared.title or Path(source.stem).name,)
        named = shared.source or (path[0] if len(path) == 1 else f"{path[0]} {path[-1]}")
        ident = PassageId(f"{source.stem}#{chunk.key}")
        passage = replace(shared, id=ident, title=" > ".join(path), text=chunk.text, source=named)
        yield fingerprinted(passage), f"{source.name} ({chunk.key})"
    if not document.sections:
        warnings.append(f"{source.name}: no text")


def _shared(front_matter: Mapping[str, str], source: _Source, warnings: list[str]) -> Passage:
    """A passage that holds what the front matter says for all."""
    known = KEYS - {"id", "text", "questions"}
    unknown = sorted(front_matter.keys() - known)
    if unknown:
        warnings.append(f"{source.name}: unknown front matter {', '.join(unknown)} ignored")
    fields: dict[str, Any] = {key: value for key, value in front_matter.items() if key in known and value}
    if "tags" in fields:
        fields["tags"] = [tag.strip() for tag in fields["tags"].strip("[]").split(",")]
    if "must_handoff" in fields:
        fields["must_handoff"] = {"true": True, "false": False}.get(fields["must_handoff"], "?")
    return _built({**fields, "id": source.stem, "text": "-"}, source.name)


def _plain_text(source: _Source, warnings: list[str]) -> Iterator[Found]:
    """Passages of a text file: its lines are no markup, so a leading # or | must not be read as such."""
    unmarked = "\n".join(line.strip().lstrip("#|>").strip() for line in source.text.split("\n"))
    return _document(replace(source, text=unmarked), warnings)


def _built(fields: dict[str, Any], place: str) -> Passage:
    try:
        return entry(fields)
    except EntryError as e:
        raise CorpusError(f"{place}: {e}") from e


def _sha(passages: list[Passage]) -> str:
    sha = hashlib.sha256()
    for passage in passages:
        sha.update(json.dumps(asdict(passage), ensure_ascii=False, default=str, sort_keys=True).encode())
    return sha.hexdigest()


_READERS: Final[Mapping[str, Callable[[_Source, list[str]], Iterator[Found]]]] = {
    ".jsonl": _entries,
    ".md": _document,
    ".markdown": _document,
    ".txt": _plain_text,
    **dict.fromkeys(KINDS, _document),
}
_SUFFIXES: Final = ".jsonl, .md, .txt, .html, .pdf or .docx"
