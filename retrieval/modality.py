"""How sure and how binding a clause is: hedges (一般, 预计), permission, duty, advice. Pure.

A hedge that the passage has and the sentence drops makes a promise of an estimate; 可以 is not 必须, 无需 is not 不能.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from retrieval.alignment import Claim, Match

_HEDGES: Final = {
    "usually": (
        "一般(?!人|纳税|状况|健康|情况(?!下)|贸易|检查|护理|信息|公司)|通常|正常情况|多数情况|大多(?!数)|往往|常常|平时"
    ),
    "expected": (
        "预计|预期|估计|有望|大概(?!率)|预定|拟(?!合)|(?:公司|集团|企业|[还也并正已，]|^)计划(?=[\u4e00-\u9fff])"
    ),
    "possibly": "可能(?!性)|也许|或许|说不定|或将|未必|不一定|疑似|怀疑|考虑为|或为|不排除",
    "fastest": "最快|最早|最短",
    "principle": "原则上",
    "partly": "部分(?![，。；]|的?(?:除外|不|退|订单))|个别|有些|某些|有的(?!人)|少数",
    "sometimes": "有时|偶尔|视情况|酌情",
}
"""Group -> its words. One word of the group may stand for another."""

_DUTIES: Final = {
    "must": (
        "必须|务必|一定要|(?<![无不毋])须|(?<![无不])需(?!求|氧|量|方)(?:要)?|应当|(?<![相反适效供响对顺])应(?![用对急答付收计届聘力激变])"
        "|非[^，。；]{1,10}不可|不得不|不能不|(?<![只不就主重需])要(?![求素点么是不害闻约件紧])|得(?:要|先)"
    ),
    "may": (
        "可以|(?<!不)可(?![用能靠见观怕惜口信比移溶疑谓控持])|能够|允许|(?<!不)支持(?!有|下|力|性|治)|任选|均可"
        "|(?<![不功性可智只才万全职技动电热效产节储光核未])能(?![量力耗源效否级])"
    ),
    "advised": "建议|推荐|最好|宜(?!人|居)|提倡",
    "needless": "无需|无须|毋须|不必|不用(?=[\u4e00-\u9fff])|不需要?|不需|用不着|没必要",
    "mustnot": (
        "不能|不得(?!不|已)|不可(?!抗|以?不)|不可以|禁止|严禁|不允许|不准|不许|不要|切勿|请勿|勿|无法|不支持|不予"
    ),
}
_LOOSE_DUTY: Final = re.compile("(?<![申聘邀宴])(?<!可以)请|麻烦您|只能|只可|只有|只限|仅限")
"""请重新登录 may be told as a duty or as advice: such a clause binds in no one way."""

_GROUPS: Final = {name: re.compile(words) for name, words in _HEDGES.items()}
_KINDS: Final = {name: re.compile(words) for name, words in _DUTIES.items()}
_CLASH: Final = (
    {"must", "may"},
    {"must", "advised"},
    {"must", "needless"},
    {"may", "advised"},
    {"needless", "mustnot"},
    {"advised", "needless"},
)


@lru_cache(maxsize=8192)
def hedges(text: str) -> frozenset[str]:
    """The groups of hedges in a folded text.

    >>> sorted(hedges("一般预计3天送达"))
    ['expected', 'usually']
    """
    return frozenset(name for name, words in _GROUPS.items() if words.search(text))


@lru_cache(maxsize=8192)
def duties(text: str) -> frozenset[str]:
    """The ways in which a folded text binds: must, may, advised, needless, mustnot; `loose` for a plain 请."""
    found = {name for name, words in _KINDS.items() if words.search(text)}
    if "needless" in found or "mustnot" in found:
        found.discard("may")
    if "needless" in found:
        found.discard("must")
    return frozenset(found | ({"loose"} if _LOOSE_DUTY.search(text) else set()))


def changed(claim: Claim) -> str:
    """What the sentence promises more firmly, or binds otherwise, than its passage; empty if nothing.

    A hedge must stand where it belongs: in one of the clauses that speak of the passage's clause it stands in.
    """
    held = frozenset[str]().union(*(hedges(m.sentence.text) for _, near in claim.heard for m in near))
    for clause, near in claim.heard:
        faults = [_dropped(claim.speaking_of(m), m) or _bound(clause.text, m, claim) for m in near]
        if all(faults):
            return faults[0]
    said = hedges(claim.sentence.text)
    return f"{min(said - held)} is added" if claim.heard and said - held else ""


def _dropped(said: str, match: Match) -> str:
    dropped = hedges(match.clause.text) - hedges(said)
    return f"{min(dropped)} is dropped" if dropped else ""


def _bound(mine: str, match: Match, claim: Claim) -> str:
    said, held = duties(mine), duties(match.clause.text)
    if "loose" in held:
        return ""
    for other in sorted(said - duties(match.sentence.text)):
        for one in sorted(held):
            if {one, other} in _CLASH:
                return f"{one} has become {other}"
    for one in sorted(held - said) if not said & held else ():
        for other in sorted(said):
            if {one, other} in _CLASH:
                return f"{one} has become {other}"
    return "advised is dropped" if "advised" in held and not duties(claim.speaking_of(match)) else ""
