"""The typed values of a sentence beside those of the passages it cites, and what was spoken beside what was written.

Pure. Read from the journalled texts by the same reader as the check, so an operator sees what the check saw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from retrieval.codes import code_keys, find_codes
from retrieval.facts import Fact
from retrieval.marks import strip_marks
from retrieval.normalize import canonical
from retrieval.readings import Sentence, read_passage, read_sentence
from voice_agent.record.call_record import CitedRecord, SentenceRecord

Relation = Literal["same", "bound or rate differs", "unit differs", "value differs", "absent"]


@dataclass(frozen=True, slots=True)
class ValueRow:
    """A value that was said and the nearest one of its passages; `held` and `passage` are empty where there is none."""

    said: str
    held: str
    passage: str
    relation: Relation


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text that is `same` in both, only `written`, or only `spoken`."""

    kind: Literal["same", "written", "spoken"]
    text: str


@dataclass(frozen=True, slots=True)
class _Held:
    passage: str
    sentence: Sentence
    fact: Fact


def compared(sentence: SentenceRecord) -> tuple[ValueRow, ...]:
    """Every figure and code of the sentence, left to right, figures first."""
    text = strip_marks(sentence.text)
    said = read_sentence(text)
    held = [one for cited in sentence.evidence for one in _held(cited)]
    return (*(_figure(fact, said, held) for fact in said.facts), *_codes(text, sentence.evidence))


def _held(cited: CitedRecord) -> Iterator[_Held]:
    for sentence in read_passage("", cited.text).sentences:
        for fact in sentence.facts:
            yield _Held(cited.id, sentence, fact)


def _figure(fact: Fact, said: Sentence, held: Sequence[_Held]) -> ValueRow:
    """Beside the passage's value that is most like it, in the sentence that speaks most of the same."""
    related = [(one, relation) for one in held if (relation := _relation(fact, one.fact)) is not None]
    if not related:
        return ValueRow(_shown(fact), "", "", "absent")
    order: tuple[Relation, ...] = ("same", "bound or rate differs", "unit differs", "value differs")
    best, relation = min(
        related, key=lambda row: (order.index(row[1]), -len(said.grams & row[0].sentence.grams))
    )
    return ValueRow(_shown(fact), _shown(best.fact), best.passage, relation)


def _relation(said: Fact, held: Fact) -> Relation | None:
    if said.kind != held.kind:
        return None
    if (said.low, said.high, said.word) != (held.low, held.high, held.word):
        return "value differs"
    if said.unit != held.unit:
        return "unit differs"
    alike = said.qualifier == held.qualifier and said.own == held.own
    return "same" if alike else "bound or rate differs"


def _shown(fact: Fact) -> str:
    """约 >= 3天 after 每月: the value with all that changes what it promises."""
    kept = fact.qualifier
    words = ("约" if kept.about else "", kept.bound, fact.shown, kept.time, kept.change, *sorted(fact.own))
    return " ".join(word for word in words if word)


def _codes(text: str, evidence: Sequence[CitedRecord]) -> Iterator[ValueRow]:
    for code in find_codes(canonical(text)):
        holder = next((cited.id for cited in evidence if code.key in code_keys(canonical(cited.text))), "")
        yield ValueRow(code.text, code.text if holder else "", holder, "same" if holder else "absent")


def spoken_diff(written: str, spoken: str) -> tuple[Piece, ...]:
    """What the voice said otherwise than it was written, marks left out: figures, units, markup."""
    before = strip_marks(written).strip()
    pieces: list[Piece] = []
    for tag, a, b, c, d in SequenceMatcher(None, before, spoken, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(Piece("same", before[a:b]))
            continue
        if b > a:
            pieces.append(Piece("written", before[a:b]))
        if d > c:
            pieces.append(Piece("spoken", spoken[c:d]))
    return tuple(pieces)
