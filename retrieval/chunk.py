"""Sections of a document cut into passages that can be cited: at headings, then paragraphs, lists, tables, sentences.

One passage is what one spoken answer cites, so a section that fits is one passage, and what does not fit is cut
between blocks, then between sentences or rows. Running text that is cut goes on with the last words before the cut.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from retrieval.markdown import Block, Document
from retrieval.sentences import split_sentences

CHARS_PER_TOKEN: Final = 1.34
"""Characters of a token of the multilingual-e5 vocabulary: the mean over the texts of the demo knowledge base (half of
its passages within 1.25 to 1.45, one in twenty under 1.15). Counting with the tokenizer itself would make the
passages, and so their ids, depend on the encoder.
"""

_ANNOUNCES: Final = re.compile("如下|以下|下面|下列|下表")


@dataclass(frozen=True, slots=True)
class ChunkRules:
    """Sizes in characters.

    Blocks of a section are put together up to `target`; only a block over `limit` is cut, between sentences or rows.
    Where running text is cut, the later part begins with the last whole sentences of the one before, as near to
    `overlap` of its length as sentences allow; a cut list or table repeats its lead-in. `intro` is the length up to
    which a paragraph counts as the lead-in of the list or table behind it and stays with it.
    """

    target: int = 180
    limit: int = 420
    overlap: float = 0.12
    intro: int = 60

    def __post_init__(self) -> None:
        if not 0 < self.target <= self.limit or not 0 <= self.overlap < 0.5:
            raise ValueError("chunk rules need 0 < target <= limit and 0 <= overlap < 0.5")

    @classmethod
    def of_tokens(cls, target: int, limit: int, overlap: float) -> ChunkRules:
        """Sizes given in tokens. Raises ValueError for impossible ones."""
        return cls(round(target * CHARS_PER_TOKEN), round(limit * CHARS_PER_TOKEN), overlap)


@dataclass(frozen=True, slots=True)
class Chunk:
    """One passage-to-be. `path` is its headings, `key` names it inside its document and survives edits elsewhere."""

    key: str
    path: tuple[str, ...]
    text: str


def chunks(document: Document, rules: ChunkRules | None = None) -> tuple[Chunk, ...]:
    """All passages of a document in order. Keys are heading path and part number, or a hash where no heading stands."""
    rules = rules or ChunkRules()
    root = _root(document)
    counts: dict[str, int] = {}
    made: list[Chunk] = []
    for section in document.sections:
        inner = section.path[1:] if root and section.path[:1] == (root,) else section.path
        name = "/".join("".join(step.split()) for step in inner)
        for own, text in _texts(section.blocks, rules):
            if section.path:
                counts[name] = counts.get(name, 0) + 1
                key = f"{name or 'top'}-{counts[name]}"
            else:
                key = hashlib.sha256(own.encode()).hexdigest()[:10]
            made.append(Chunk(key, section.path, text))
    return tuple({chunk.key: chunk for chunk in made}.values())


def _root(document: Document) -> str:
    """The document's own heading, when it has one above all others: it is the title and no part of the keys."""
    tops = {section.path[0] for section in document.sections if section.path}
    return next(iter(tops)) if len(tops) == 1 and all(section.path for section in document.sections) else ""


def _leads_apart(blocks: Sequence[Block]) -> list[Block]:
    """A last sentence that announces a list or table (各指示灯的含义如下。) is put apart, to stay with it."""
    apart: list[Block] = []
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        sentences = split_sentences(block.text) if block.kind == "paragraph" else []
        if (
            after
            and after.kind in ("list", "table")
            and len(sentences) > 1
            and _ANNOUNCES.search(sentences[-1])
        ):
            apart += [Block("paragraph", ("".join(sentences[:-1]),)), Block("paragraph", (sentences[-1],))]
        else:
            apart.append(block)
    return apart


@dataclass(frozen=True, slots=True)
class _Part:
    """What one passage adds to those before it. Prose at either end may overlap; `inside`: cut within a paragraph."""

    text: str
    opens: bool = False
    closes: bool = False
    inside: bool = False


def _texts(blocks: Sequence[Block], rules: ChunkRules) -> Iterator[tuple[str, str]]:
    """What each passage of a section adds, and its whole text with the overlap."""
    before: _Part | None = None
    for part in _pack(_leads_apart(blocks), rules):
        tail = ""
        if before and before.closes and part.opens:
            tail = _tail(before.text, rules, rules.limit - len(part.text) - 1)
        yield part.text, _run_on([tail, part.text]) if part.inside else f"{tail}\n{part.text}".strip()
        before = part


_MOST: Final = 2
"""Times the wished overlap: a last sentence longer than that is not repeated."""


def _tail(text: str, rules: ChunkRules, room: int) -> str:
    """The last whole sentences of a text whose length is nearest to the overlap; empty when none fits."""
    wished = rules.overlap * len(text)
    best, start = "", len(text)
    for sentence in reversed(split_sentences(text)):
        start = text.rindex(sentence, 0, start)
        tail = text[start:]
        if len(tail) > min(room, _MOST * wished) or abs(len(tail) - wished) >= abs(len(best) - wished):
            break
        best = tail
    return best


def _pack(blocks: Sequence[Block], rules: ChunkRules) -> Iterator[_Part]:
    """Whole blocks put together up to the target size."""
    held: list[Block] = []
    for i, block in enumerate(blocks):
        if held and _starts_anew(held, block, blocks[i + 1 : i + 2], rules):
            yield from _cut(held, rules)
            held = []
        held.append(block)
    yield from _cut(held, rules)


def _starts_anew(held: Sequence[Block], block: Block, after: Sequence[Block], rules: ChunkRules) -> bool:
    """Is the passage full, or does this block lead in a list or table that would not fit any more?"""
    size = sum(len(b.text) for b in held) + len(block.text)
    if _is_lead(block, after, rules):
        return size + len(after[0].text) > rules.target
    return size > rules.target and not _leads(held, rules)


def _leads(held: Sequence[Block], rules: ChunkRules) -> bool:
    """All that is held is a short lead-in: 各指示灯的含义如下。"""
    return len(held) == 1 and held[0].kind == "paragraph" and len(held[0].text) <= rules.intro


def _is_lead(block: Block, after: Sequence[Block], rules: ChunkRules) -> bool:
    short = block.kind == "paragraph" and len(block.text) <= rules.intro
    return short and bool(after) and after[0].kind in ("list", "table")


def _cut(blocks: Sequence[Block], rules: ChunkRules) -> Iterator[_Part]:
    """The blocks as one part, or in parts of whole sentences or rows when they are over the limit."""
    text = "\n".join(block.text for block in blocks)
    if len(text) <= rules.limit:
        if text.strip():
            opens = blocks[0].kind == "paragraph" and not _is_lead(blocks[0], blocks[1:], rules)
            yield _Part(text, opens, blocks[-1].kind == "paragraph")
    elif all(block.kind == "paragraph" for block in blocks):
        room = int(rules.limit * (1 - _MOST * rules.overlap)) or 1
        for n, sentences in enumerate(_spread(_sentences(text, room), room)):
            yield _Part(_run_on(sentences), True, True, inside=n > 0)
    else:
        yield from _cut_rows(blocks, rules)


def _cut_rows(blocks: Sequence[Block], rules: ChunkRules) -> Iterator[_Part]:
    """Lists and tables between their lines, each part under the lead-in. A row names its columns by itself."""
    leads = len(blocks) > 1 and _leads(blocks[:1], rules) and len(blocks[0].text) < rules.limit / 2
    lead = blocks[0].text if leads else ""
    room = max(rules.limit - len(lead) - 1, 1)
    lines = [line for block in blocks[leads:] for line in block.lines if line.strip()]
    for rows in _spread([piece for line in lines for piece in _fitting(line, room)], room):
        yield _Part("\n".join([lead, *rows]).strip())


def _spread(pieces: Sequence[str], room: int) -> Iterator[list[str]]:
    """The pieces in order, in as few runs as fit into the room and of about one size: no passage of a last line."""
    total = sum(len(piece) + 1 for piece in pieces)
    goal = total / max(ceil(total / room), 1)
    run: list[str] = []
    size = 0
    for piece in pieces:
        if run and (size + len(piece) > room or size + len(piece) / 2 > goal):
            yield run
            run, size = [], 0
        run.append(piece)
        size += len(piece) + 1
    if run:
        yield run


def _run_on(sentences: Sequence[str]) -> str:
    """Sentences as running text; a blank only between Latin ones."""
    text = ""
    for sentence in sentences:
        glue = " " if text and sentence and text[-1].isascii() and sentence[0].isascii() else ""
        text += glue + sentence
    return text


def _sentences(text: str, room: int) -> list[str]:
    """Sentences, none longer than the room."""
    return [piece for sentence in split_sentences(text) for piece in _fitting(sentence, room)]


def _fitting(line: str, room: int) -> list[str]:
    """A line whole, or, when nothing else helps, in stretches of the room."""
    room = max(room, 1)
    return [line[i : i + room] for i in range(0, len(line), room)]
