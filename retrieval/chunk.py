"""Sections of a document cut into passages that can be cited: at headings, then paragraphs, lists, tables, sentences.

Small on purpose. One passage is what one spoken answer cites, and a short text is ranked more sharply than a long one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from retrieval.markdown import Block, Document
from retrieval.sentences import split_sentences

_ANNOUNCES: Final = re.compile("如下|以下|下面|下列|下表")


@dataclass(frozen=True, slots=True)
class ChunkRules:
    """Sizes in characters (a Chinese character is about 0.77 tokens of the e5 vocabulary).

    Blocks of a section are put together up to `target`; only a block over `limit` is cut, between sentences or rows,
    each part repeating the last sentence before it if that is no longer than `overlap` of the limit. `intro` is the
    length up to which a paragraph counts as the lead-in of the list or table behind it and stays with it.
    """

    target: int = 180
    limit: int = 420
    overlap: float = 0.12
    intro: int = 60

    def __post_init__(self) -> None:
        if not 0 < self.target <= self.limit or not 0 <= self.overlap < 0.5:
            raise ValueError("chunk rules need 0 < target <= limit and 0 <= overlap < 0.5")


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
        for text in _pack(_leads_apart(section.blocks), rules):
            if section.path:
                counts[name] = counts.get(name, 0) + 1
                key = f"{name or 'top'}-{counts[name]}"
            else:
                key = hashlib.sha256(text.encode()).hexdigest()[:10]
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


def _pack(blocks: Sequence[Block], rules: ChunkRules) -> Iterator[str]:
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


def _cut(blocks: Sequence[Block], rules: ChunkRules) -> Iterator[str]:
    """The blocks as one text, or in parts of whole sentences and rows when they are over the limit."""
    text = "\n".join(block.text for block in blocks)
    if len(text) <= rules.limit:
        if text.strip():
            yield text
        return
    part: list[str] = []
    for piece in _pieces(blocks, rules.limit):
        if part and sum(map(len, part)) + len(piece) > rules.limit:
            yield "".join(part).strip()
            part = part[-1:] if len(part[-1]) <= rules.overlap * rules.limit else []
        part.append(piece)
    yield "".join(part).strip()


def _pieces(blocks: Sequence[Block], limit: int) -> Iterator[str]:
    """Sentences of paragraphs and lines of everything else; a line ends its piece. None is longer than the limit."""
    for block in blocks:
        for line in block.lines:
            sentences = split_sentences(line) if block.kind == "paragraph" else [line]
            whole = "".join(sentences)
            if any(len(sentence) >= limit for sentence in sentences):
                sentences = [whole[i : i + limit - 1] for i in range(0, len(whole), limit - 1)]
            yield from sentences[:-1]
            yield from (f"{sentence}\n" for sentence in sentences[-1:])
