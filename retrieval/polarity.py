"""What a clause denies: negations with their reach, and whether a sentence denies what its passage affirms. Pure.

不得不 and 非…不可 affirm, 能不能 asks, 不仅 and 不过 deny nothing, 不超过3天 belongs to the figure. Everything is
read from the characters, never from search terms: a tokenizer cuts 不得不退货 into 不得.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from retrieval.alignment import Claim
from retrieval.readings import grams

_CAN: Final = "(?:得|能够?|可以|可|应该?|要|会|允许|准|宜)?"
_NO_NEGATION: Final = re.compile(
    f"不{_CAN}(?:超过|超出|大于|高于|多于|长于|晚于|迟于|少于|低于|小于|短于|早于)"
    r"|[未没]有?(?:超过|超出|满|达到?)(?=[^，。；]{0,2}\d)|不[满足到够及](?=[^，。；]{0,2}\d)"
    "|不[仅但光只单](?!是不)|不过(?!滤)|不同(?!意|步)|不管|不论|不断(?![电网线])|不久|不错|不等(?!于)|不妨|不时|不禁|不锈|不可抗力|不动产|不良|不适|不足|不详"
    "|不明|不便(?!宜)|不当|不满|不一|不均|不齐|不定期|不慎|不幸|不法|不然|要不|对不起|差不多|不好意思|不退换|了不起|不由得|不得已"
    "|没关系|没问题|没收|没错|淹没|沉没|埋没"
    "|非常|除非|非法|是非|非洲|未来|未婚|未成年|未必|无线|无论|无理由|无条件|无忧|无数|无疑|无缝|无限|无障碍|无期|无形|无菌|无人机"
)
"""Words that look negated. A flip cannot hide in them: they stay content and must agree like any other word."""

_ASKED: Final = re.compile(
    r"([\u4e00-\u9fff])不\1(?:[\u4e00-\u9fff]{0,1})|可不可以|有没有|是不是|[是能可会应]否|与否|能不能够?"
)
_DOUBLE: Final = re.compile(
    "不得不|不能不|不可不|不会不|不是不(?:能|可以|会)?|没有(?:[^，。；]{0,6})不(?=[\u4e00-\u9fff])"
    "|无不(?![良适当妥利便明足同全规])|无一不|并非不(?:能|可以)?|未尝不(?:可)?|不无(?!关)"
)
_MUST: Final = re.compile("非(?!常|法)([^，。；]{1,12}?)不[可行]")
_UNLESS: Final = re.compile(
    "除非([^，。；]{1,30})，?(?:否则)(?:就)?(?:不能|不可以|不会|不得|不予|不可|不|无法)"
)
_NEGATION: Final = re.compile(
    "不(?!了|到|成|住|着|掉|完|清|出|起|动|上)|未(?!来|必|婚)|没有?|无法|无[需须]|无(?!论)|非(?!常|洲)|勿|禁止|严禁|谢绝|拒绝|拒不|(?<!可)否认"
    "|(?<![特区个分差辨识级类性告离])别(?![的人处墅名称样致])|并非|毋须|免于"
)
_UNABLE: Final = re.compile("([\u4e00-\u9fff])不(?:了|到|成|住|着|掉|完|清|出|起|动|上)")
"""打不了: what stands before 不 is denied."""

_ATTRIBUTE: Final = re.compile(
    "(?:(?:[未没无非]|没有)[^，。；的]{1,8}|^不[^能可得予支会允准][^，。；的]{0,8}|不[^能可得予支会允准][^，。；的]{0,3})的(?=[\u4e00-\u9fff])"
    "|(?:[未没无非]|没有)[^，。；的]{1,10}(?:(?<![及同按临随当准])时|[后前])(?=[\u4e00-\u9fff])"
)
"""未拆封的商品: such a negation reaches no further than 的."""


_REACH: Final = re.compile("未[能得到曾予被经再有会及按时遇]*[\u4e00-\u9fff]{0,2}|非[\u4e00-\u9fff]{0,4}")
"""未 and 非 deny the word behind them, no more: 未出库订单 are orders."""


_CUES: Final = frozenset("不没无未非勿别禁谢拒否毋免")
"""A text without any of these denies nothing."""


@dataclass(frozen=True, slots=True)
class Negation:
    """A denial that reaches over [start, end) of its clause. `narrow`: it belongs to a noun or a condition only."""

    start: int
    end: int
    narrow: bool = False


def settled(text: str) -> str:
    """The text without double negations and questions: 非本人签收不可 -> 必须本人签收, 能不能退 -> a blank and 退.

    >>> settled("非本人签收不可")
    '必须本人签收'
    """
    if not _CUES & set(text):
        return text
    text = _UNLESS.sub(lambda m: f"只有{m[1]}才", text)
    text = _MUST.sub(lambda m: f"必须{m[1]}", text)
    text = _DOUBLE.sub(lambda m: "必须" if m[0] in ("不得不", "不能不", "不可不") else "\u3000", text)
    return _ASKED.sub(lambda m: "\u3000" * len(m[0]), text)


@lru_cache(maxsize=8192)
def negations(clause: str) -> tuple[Negation, ...]:
    """The denials of one folded clause, left to right; positions are those of `settled(clause)`."""
    if not _CUES & set(clause):
        return ()
    text = _NO_NEGATION.sub(lambda m: "\u3000" * len(m[0]), settled(clause))
    narrow = {m.start(): m.end() for m in _ATTRIBUTE.finditer(text)}
    unable = [*_UNABLE.finditer(text)]
    limits = [*(m.start() for m in unable[1:]), len(text)]
    found = (
        [Negation(m.start(), min(m.end() + 2, limit)) for m, limit in zip(unable, limits, strict=True)]
        if unable
        else []
    )
    taken = {i for m in unable for i in range(m.start(), m.end())}
    for match in _NEGATION.finditer(text):
        start = match.start()
        if start not in taken:
            short = _REACH.match(text, start)
            end = short.end() if short else narrow.get(start, len(text))
            found.append(Negation(start, end, start in narrow))
    return tuple(sorted(found, key=lambda n: n.start))


@lru_cache(maxsize=8192)
def _stands(clause: str) -> Mapping[str, frozenset[bool]]:
    """Each gram of a clause -> how it stands there: affirmed (False), denied (True), or both."""
    text = settled(clause)
    found = negations(clause)
    cuts = sorted({0, len(text), *(n.start for n in found), *(min(n.end, len(text)) for n in found)})
    stands: dict[str, set[bool]] = {}
    for start, end in zip(cuts, cuts[1:], strict=False):
        denied = sum(n.start <= start < n.end for n in found) % 2 == 1
        for gram in grams(text[start:end]):
            stands.setdefault(gram, set()).add(denied)
    return {gram: frozenset(signs) for gram, signs in stands.items()}


_PARTLY: Final = re.compile(
    "不[都全]|不一定[都全]|[并不]是?非?(?:所有|全部)|并非[都全所]|不是[都全所]|未必[都全]"
)
_WHOLLY: Final = re.compile("[都全均](?:不|没|未|无法)|一律不|[都全均]禁止")
"""不都 denies some, 都不 denies all."""


def _turned(mine: str, its: str) -> str:
    """A word that one clause affirms and the other denies; empty if there is none.

    When both deny as often, a word before the negation is no proof: 退货不支持 is 不支持退货.
    """
    for one, other in ((mine, its), (its, mine)):
        if _PARTLY.search(one) and _WHOLLY.search(other):
            return "不都"
    said, held = _stands(mine), _stands(its)
    opposed = [gram for gram in said.keys() & held.keys() if not said[gram] & held[gram]]
    narrow = any(n.narrow for text in (mine, its) for n in negations(text))
    as_many = _plain(mine) == _plain(its)
    return "" if not opposed or (as_many and not narrow) else max(opposed, key=len)


def _plain(clause: str) -> int:
    return sum(not n.narrow for n in negations(clause))


def flipped(claim: Claim) -> str:
    """The word about which the sentence says the opposite of its passage; empty if it does not.

    Of the passage's clauses those that fit nearly as well as the best are heard; one that agrees is enough.
    """
    for clause, near in claim.heard:
        turns = [_turned(clause.text, match.clause.text) for match in near]
        if turns and all(turns):
            return turns[0]
    return ""


def denies(text: str) -> bool:
    """Does a folded sentence deny something in its main part?"""
    return _plain(text) > 0
