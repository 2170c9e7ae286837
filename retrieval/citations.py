"""May this sentence be spoken? The citation check: pure, cheap first, and closed: whatever goes wrong is a block."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Final

from retrieval.codes import code_keys, find_codes
from retrieval.facts import quantities
from retrieval.marks import Mark, find_marks, strip_marks
from retrieval.normalize import canonical
from retrieval.numbers import UNITS
from retrieval.types import Passage, Verdict, VerdictReason

Relevance = Callable[[str, str], float] | float | None
"""How well the sentence fits its passage: measured, to be measured from (sentence, passage text), or not at all."""


@dataclass(frozen=True, slots=True)
class CheckRules:
    """`min_relevance` is on the scale of whoever measures it; None switches that check off, and only that one."""

    max_chars: int = 160
    min_relevance: float | None = None


@dataclass(frozen=True, slots=True)
class _Case:
    """One sentence on trial. `text` is what would be heard; `cited` only the passages that its marks name and exist."""

    text: str
    canonical: str
    question: str
    marks: tuple[Mark, ...]
    raw: str
    cited: Mapping[str, Passage]
    as_of: date
    relevance: Relevance
    rules: CheckRules

    @property
    def evidence(self) -> list[str]:
        return [canonical(f"{passage.title}\n{passage.text}") for passage in self.cited.values()]


Fault = tuple[VerdictReason, str]


def check(
    sentence: str,
    question: str,
    evidence: Mapping[str, Passage],
    as_of: date,
    relevance: Relevance = None,
    rules: CheckRules | None = None,
) -> Verdict:
    """Judges one whole sentence with its marks against the passages they name (`evidence`: S1 -> passage).

    The first fault found decides. Greetings and the like need no mark, see `_is_courtesy`. Never raises: an exception
    inside is the verdict CHECK_ERROR.
    """
    try:
        return _judge(sentence, question, evidence, as_of, relevance, rules or CheckRules())
    except Exception as e:  # noqa: BLE001 - the sentence check is a boundary: a fault in it blocks the sentence
        return Verdict(False, VerdictReason.CHECK_ERROR, detail=f"{type(e).__name__}: {e}"[:200])


def _judge(
    sentence: str,
    question: str,
    evidence: Mapping[str, Passage],
    as_of: date,
    relevance: Relevance,
    rules: CheckRules,
) -> Verdict:
    taken = _named_like_marks(evidence)
    marks = tuple(find_marks(sentence, taken))
    text = strip_marks(sentence, taken).strip()
    if not marks and _is_courtesy(text):
        return Verdict(True)
    named = [ident for mark in marks for ident in mark.ids]
    cited = {ident: evidence[ident] for ident in dict.fromkeys(named) if ident in evidence}
    case = _Case(text, canonical(text), question, marks, sentence, cited, as_of, relevance, rules)
    ids = tuple(passage.id for passage in cited.values())
    for examine in _CHECKS:
        fault = examine(case)
        if fault:
            return Verdict(False, fault[0], ids, fault[1])
    return Verdict(True, cited=ids)


def _named_like_marks(evidence: Mapping[str, Passage]) -> frozenset[str]:
    keys = (code_keys(canonical(f"{p.title}\n{p.text}")) for p in evidence.values())
    return frozenset(key for known in keys for key in known if re.fullmatch(r"s\d{1,4}", key))


def _has_words(case: _Case) -> Fault | None:
    return None if re.search(r"\w", case.text) else (VerdictReason.UNCHECKABLE, "nothing is said")


def _has_mark(case: _Case) -> Fault | None:
    return None if case.marks else (VerdictReason.NO_CITE, "no citation mark")


def _ids_exist(case: _Case) -> Fault | None:
    for mark in case.marks:
        written = case.raw[mark.start : mark.end]
        if mark.bad and not any(written in passage.text for passage in case.cited.values()):
            return VerdictReason.BAD_ID, f"{written} is no mark we give"
        unknown = [ident for ident in mark.ids if ident not in case.cited]
        if unknown:
            return VerdictReason.BAD_ID, f"{unknown[0]} is not among the evidence of this turn"
    return None if case.cited else (VerdictReason.NO_CITE, "no passage is cited")


def _is_current(case: _Case) -> Fault | None:
    for passage in case.cited.values():
        if not passage.valid_on(case.as_of):
            return VerdictReason.STALE, f"{passage.id} is not valid on {case.as_of}"
    return None


def _codes_agree(case: _Case) -> Fault | None:
    """Codes said must stand in the passages; a sentence without any inherits those of the question."""
    held = frozenset[str]().union(*(code_keys(text) for text in case.evidence))
    said = find_codes(case.canonical)
    for code in said:
        if code.key not in held:
            return VerdictReason.ENTITY_MISMATCH, f"{code.text} is not in the cited passage"
    asked = code_keys(canonical(case.question))
    if asked and held and not said and not asked & held:
        return VerdictReason.ENTITY_MISMATCH, f"asked about {min(asked)}, cited is about {min(held)}"
    return None


@lru_cache(maxsize=1024)
def _figures(text: str) -> frozenset[tuple[str, str]]:
    return frozenset((q.value, q.unit) for q in quantities(text))


_LOOSE: Final = re.compile(
    rf"(?<![哪那这另同每上下头统唯专逐第])(?!一[个位](?!半))[一二两三四五六七八九十百千万亿零半几]+[多来余]?个?(?:{'|'.join(UNITS)})"
    "|[一二三四五六七八九十百千万]+分之[一二三四五六七八九十百千万]+|[一二三四五六七八九]成(?![不为员立本])|一半|翻倍|翻一?番"
)
"""Amounts in words that have no one value to compare (十几天, 半个月, 三成): they must stand in the passage as said."""


def _figures_agree(case: _Case) -> Fault | None:
    known = frozenset[tuple[str, str]]().union(*map(_figures, case.evidence))
    values = {value for value, _ in known}
    for value, unit in sorted(_figures(case.canonical)):
        if (value, unit) not in known and (unit or value not in values):
            return VerdictReason.NUM_UNSUPPORTED, f"{value}{unit} is not in the cited passage"
    for match in _LOOSE.finditer(case.canonical):
        if not any(match[0] in text for text in case.evidence):
            return VerdictReason.NUM_UNSUPPORTED, f"{match[0]} is not in the cited passage"
    return None


def _is_relevant(case: _Case) -> Fault | None:
    """The best of the cited passages must reach the threshold; a score that is no number is an error, not a zero."""
    measured, least = case.relevance, case.rules.min_relevance
    if measured is None:
        missing = VerdictReason.CHECK_ERROR, "relevance was not measured"
        return None if least is None else missing
    if callable(measured):
        scores = [measured(case.text, passage.text) for passage in case.cited.values()]
    else:
        scores = [measured]
    if not all(math.isfinite(score) for score in scores):
        return VerdictReason.CHECK_ERROR, "relevance is not a number"
    if least is not None and max(scores) < least:
        return VerdictReason.IRRELEVANT, f"relevance {max(scores):.3f} is under {least:.3f}"
    return None


_BARE: Final = re.compile(
    "(?:是的?|对的?|可以|不可以|能|不能|行|不行|会|不会|有|没有|没错|需要|不需要|支持|不支持|不是|不对|当然|当然可以|没问题|可以的|不用)[吧啊呢呀哦]?"
)
"""是的 to 不能退吗 says yes to the no: such a word means nothing apart from its question."""


def _is_checkable(case: _Case) -> Fault | None:
    if len(case.text) > case.rules.max_chars:
        return VerdictReason.UNCHECKABLE, f"{len(case.text)} characters without an end"
    if all(_BARE.fullmatch(clause) for clause in _clauses(case.canonical)):
        return VerdictReason.UNCHECKABLE, "a bare yes or no"
    return None


_CHECKS: Final[tuple[Callable[[_Case], Fault | None], ...]] = (
    _has_words,
    _has_mark,
    _ids_exist,
    _is_current,
    _codes_agree,
    _figures_agree,
    _is_relevant,
    _is_checkable,
)
"""In this order; the first fault is the verdict."""

_COURTESY: Final = re.compile(
    "[您你]好|好的|嗯+|明白了?|了解了?|感谢您的?(?:来电|耐心等待|理解|支持)|谢谢您?|再见|祝您生活愉快|很高兴为您服务"
    "|(?:非常|很|实在)?(?:抱歉|对不起)|不好意思|给您带来(?:了)?不便(?:了)?|(?:非常|很)抱歉给您带来(?:了)?不便"
    "|我(?:很|非常)?(?:能)?理解您的(?:心情|感受)|请您?稍等(?:一下)?|我(?:来|马上)?(?:帮您|为您)?查一下"
    "|请问(?:您)?还有(?:什么|其他)(?:可以|能)?(?:帮(?:到)?您|问题|需要)(?:的)?(?:吗)?"
    "|请问您?(?:说的|问的|咨询的)?是(?:哪一?[款个种]|什么)(?:产品|型号|业务|商品|订单)?(?:呢)?"
    "|(?:请问)?您的?(?:订单号|型号|错误代码|手机型号)是(?:多少|什么)(?:呢)?"
)


def _clauses(text: str) -> list[str]:
    return [clause for clause in re.split(r"[，。！？；、,.!?;…~\s]+", text) if clause]


def _is_courtesy(text: str) -> bool:
    """Greeting, sympathy, asking back: a closed list, whole clauses only, so that no fact, figure or code slips in."""
    clauses = _clauses(canonical(text))
    return bool(clauses) and all(_COURTESY.fullmatch(clause) for clause in clauses)
