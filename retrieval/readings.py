"""Sentences and passages as the checks read them: clauses, figures, and the characters that carry content. Pure.

Content is bigrams and, at a lower weight, single characters, rare ones counting more. Small words, negations and verbs
of duty carry none here: they are what the checks compare.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from retrieval.facts import Fact, facts
from retrieval.qualifiers import rates
from retrieval.sentences import split_sentences
from retrieval.wording import folded

_SMALL: Final = re.compile(
    "不(?:得|能|可以?|会|要|用|必|予|让|准|许)|已经|正在|出现|遇到|碰到|看到|发生|显示|提示|可以|能够|必须|务必|应当|需要|无[法需须]|没有|禁止|建议|"
    "[的了是在和与及或也就都还会把被将到为按以从给对而且但却则这那您我请吧呢啊吗么呀些其该此于由向着过又再才只仅须需应"
    "可能要得不没未无非勿有个所地之上下内外前后中时里]"
)
_TOKEN: Final = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*|[\u3400-\u9fff]")
_FIGURE: Final = re.compile(r"(?<![a-z0-9_.-])\d+(?:\.\d+)?(?=[a-z]{0,4}(?![a-z0-9_-]))")
"""An amount; the digits of a code are content."""

_CLAUSE_END: Final = re.compile(r"[，；：！？。!?;\n]|但是?(?!书)|不过(?![滤])|而(?=[不未无没])|并且|而且")
SINGLE: Final = 0.3
"""What a lone character weighs against a pair: 退 may be 退款, 退货 or 退出."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch [start, end) of a folded sentence between two stops; `grams` is its content."""

    start: int
    end: int
    text: str
    grams: frozenset[str]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, folded, with what the checks read from it.

    `bare` is without marks and blanks: two sentences with equal ones are the same word for word.
    """

    text: str
    bare: str
    clauses: tuple[Clause, ...]
    facts: tuple[Fact, ...]
    grams: frozenset[str]
    rates: frozenset[str]


@dataclass(frozen=True, slots=True)
class Reading:
    """A passage as it is compared. `text` is title and sentences, folded; `subject` the content of the title.

    `raw` are the sentences as they were written; `clauses` those of all, each with the number of its sentence.
    `seldom` weighs each gram by how few clauses hold it, `unknown` any other gram; `where` lists the numbers of the
    clauses that hold a gram.
    """

    title: str
    text: str
    subject: frozenset[str]
    sentences: tuple[Sentence, ...]
    raw: tuple[str, ...]
    clauses: tuple[tuple[int, Clause], ...]
    where: Mapping[str, tuple[int, ...]]
    seldom: Mapping[str, float]
    unknown: float

    def near(self, grams: Iterable[str]) -> dict[int, float]:
        """The share of this content that is in each clause (by its number) that holds any of it."""
        scale, where = self.scale(grams), self.where
        near: dict[int, float] = {}
        for gram, weight in scale.weights.items():
            for number in where.get(gram, ()):
                near[number] = near.get(number, 0.0) + weight
        return {number: weight / scale.whole for number, weight in near.items()}

    def nearest(self, grams: frozenset[str]) -> float:
        """The greatest share of this content in one clause, or in the title: 0 to 1."""
        return max(*self.near(grams).values(), self.scale(grams).share(self.subject), 0.0)

    def scale(self, of: Iterable[str]) -> Scale:
        """How this passage weighs the content of some other text."""
        single = self.unknown * SINGLE
        return Scale(
            {gram: self.seldom.get(gram) or (self.unknown if len(gram) > 1 else single) for gram in of}
        )


class Scale:
    """The weights of a text's content, to be asked how much of it is in this or that place."""

    __slots__ = ("weights", "whole")

    def __init__(self, weights: dict[str, float]) -> None:
        self.weights = weights
        self.whole = sum(weights.values())

    def share(self, part: frozenset[str]) -> float:
        """How much of it, by weight, is in `part`: 0 to 1; 0 when there is nothing."""
        held = self.weights
        return sum(map(held.__getitem__, part & held.keys())) / self.whole if self.whole else 0.0


def _bare(text: str) -> str:
    return re.sub(r"[\W_]+", "", re.sub("一(?=[个位])", "1", text))


@lru_cache(maxsize=4096)
def grams(text: str) -> frozenset[str]:
    """The content of a folded stretch: its characters and words, and each two that follow one another."""
    tokens = _TOKEN.findall(_SMALL.sub(" ", _FIGURE.sub(" ", text)))
    pairs = zip(tokens, tokens[1:], strict=False)
    return frozenset(tokens) | {a + b for a, b in pairs if len(a) == len(b) == 1}


@lru_cache(maxsize=4096)
def read_sentence(text: str) -> Sentence:
    """Reads one sentence as it was written."""
    plain = folded(text)
    clauses = []
    start = 0
    for match in [*_CLAUSE_END.finditer(plain), None]:
        end = match.start() if match else len(plain)
        piece = plain[start:end]
        if re.search(r"\w", piece):
            clauses.append(Clause(start, end, piece, grams(piece)))
        start = (match.end() if match.group() in "，；：！？。!?;\n" else match.start()) if match else end
    return Sentence(plain, _bare(plain), tuple(clauses), facts(plain), grams(plain), rates(plain))


@lru_cache(maxsize=512)
def read_passage(title: str, text: str) -> Reading:
    """Reads a passage, sentence by sentence."""
    raw = tuple(split_sentences(text))
    sentences = tuple(map(read_sentence, raw))
    head = folded(title)
    subject = grams(head)
    clauses = tuple((at, clause) for at, sentence in enumerate(sentences) for clause in sentence.clauses)
    where: dict[str, list[int]] = {}
    for number, (_, clause) in enumerate(clauses):
        for gram in clause.grams:
            where.setdefault(gram, []).append(number)
    n = len(clauses) + 1
    seldom = {
        gram: math.log(1 + n / len(where.get(gram, "1"))) * (1.0 if len(gram) > 1 else SINGLE)
        for gram in subject | where.keys()
    }
    places = {gram: tuple(numbers) for gram, numbers in where.items()}
    whole = "\n".join((head, *(sentence.text for sentence in sentences)))
    return Reading(head, whole, subject, sentences, raw, clauses, places, seldom, math.log(1 + n))
