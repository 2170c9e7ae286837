"""The guard with one check switched off: for each, named traps that it alone keeps from being spoken.

A check without such a trap is either dead or untested, so a new one fails here until somebody writes its trap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date

import pytest

from retrieval import citations
from retrieval.citations import CheckRules, Relevance, check
from retrieval.types import Passage, PassageId, Verdict

DAY = date(2026, 11, 30)


def passage(text: str, title: str = "", **dates: date) -> Passage:
    return Passage(PassageId(title or text[:6]), text, title, **dates)  # type: ignore[arg-type]


RULES = passage(
    "储蓄卡退款一般3到5个工作日到账。定制商品除外。寄回运费由买家承担。退款原路退回。按《退款规则》办理。海外订单不支持退款。",
    "储蓄卡退款",
)


@dataclass(frozen=True)
class Trap:
    """A sentence that must be blocked, and why; S1, S2… are its evidence."""

    name: str
    sentence: str
    reason: str
    question: str = ""
    evidence: tuple[Passage, ...] = (RULES,)
    rules: CheckRules = field(default_factory=CheckRules)
    relevance: Relevance = 0.1

    def verdict(self) -> Verdict:
        evidence: Mapping[str, Passage] = {f"S{i}": p for i, p in enumerate(self.evidence, start=1)}
        return check(self.sentence, self.question, evidence, DAY, self.relevance, self.rules)


ERROR = passage("出现ERR_2049时，请在设备管理里移除不用的设备。", "错误代码ERR_2049")
OLD = passage("签收后7天内可以退货。", "退货期限", valid_to=date(2025, 12, 31))
SOON = passage("签收后30天内可以退货。", "新退货期限", valid_from=date(2027, 1, 1))
RESET = passage("恢复出厂设置须按住复位孔。")
MADE = passage("定制商品确认稿件后不能修改内容。")
WHOLE = CheckRules(after=())

TRAPS: dict[str, tuple[Trap, ...]] = {
    "_has_words": (Trap("only dots", "……[S1]", "UNCHECKABLE", evidence=(passage("。。。", "空"),)),),
    "_is_cited": (
        Trap("no mark", "退款原路退回。", "NO_CITE"),
        Trap("an id that nobody gave, beside a good one", "退款原路退回[S9][S1]。", "BAD_ID"),
        Trap("a bare number for a mark", "退款原路退回[1]。", "BAD_ID"),
    ),
    "_is_current": (
        Trap("a rule that ran out", "签收后7天内可以退货[S1]。", "STALE", evidence=(OLD,)),
        Trap("a rule still to come", "签收后30天内可以退货[S1]。", "STALE", evidence=(SOON,)),
    ),
    "_figures_agree": (
        Trap("another figure", "储蓄卡退款一般3到6个工作日到账，定制商品除外[S1]。", "NUM_UNSUPPORTED"),
        Trap("another unit", "储蓄卡退款一般3到5天到账，定制商品除外[S1]。", "UNIT_MISMATCH"),
    ),
    "_codes_agree": (
        Trap(
            "one digit of a code",
            "ERR_2048，请在设备管理里移除不用的设备[S1]。",
            "ENTITY_MISMATCH",
            evidence=(ERROR,),
        ),
        Trap(
            "the code of the question",
            "请在设备管理里移除不用的设备[S1]。",
            "ENTITY_MISMATCH",
            "ERR_2048怎么办",
            (ERROR,),
        ),
    ),
    "_names_agree": (Trap("another rule's name", "退款是按《退货规则》办理的[S1]。", "ENTITY_MISMATCH"),),
    "_subject_is_meant": (
        Trap("the card of the question", "退款是原路退回的[S1]。", "ENTITY_MISMATCH", "信用卡怎么退"),
    ),
    "_roles_agree": (
        Trap("who pays", "寄回的运费由卖家承担[S1]。", "ROLE_OR_ANTONYM"),
        Trap(
            "collected or waived",
            "新装宽带要收取安装费[S1]。",
            "ROLE_OR_ANTONYM",
            evidence=(passage("新装宽带免收安装费。"),),
        ),
    ),
    "_polarity_agrees": (
        Trap("a no that became a yes", "海外的订单是支持退款的[S1]。", "POLARITY"),
        Trap(
            "a yes that became a no",
            "这个商品不支持退货[S1]。",
            "POLARITY",
            evidence=(passage("商品支持退货。"),),
        ),
    ),
    "_modality_agrees": (
        Trap("usually, dropped", "储蓄卡退款3到5个工作日到账，定制商品除外[S1]。", "MODALITY"),
        Trap(
            "may, made must", "旧用户必须升级[S1]。", "MODALITY", evidence=(passage("旧用户可以选择升级。"),)
        ),
    ),
    "_scope_is_kept": (
        Trap(
            "the exception of the next sentence",
            "储蓄卡的退款一般3到5个工作日到账[S1]。",
            "SCOPE_DROPPED",
            rules=WHOLE,
        ),
        Trap(
            "only, dropped",
            "专票可以由企业账户申请[S1]。",
            "SCOPE_DROPPED",
            evidence=(passage("专票仅限企业账户申请。"),),
        ),
    ),
    "_is_checkable": (
        Trap("a yes to a no", "是的，海外订单不支持退款[S1]。", "UNCHECKABLE", "海外订单能退款吗"),
    ),
    "_is_supported": (
        Trap(
            "the mark of another passage",
            "定制商品在稿件确认后就不能修改内容了[S1]。",
            "IRRELEVANT",
            evidence=(RESET, MADE),
        ),
    ),
    "_is_relevant": (
        Trap("far from its passage", "退款原路退回[S1]。", "IRRELEVANT", rules=CheckRules(min_relevance=0.5)),
        Trap("no number for relevance", "退款原路退回[S1]。", "CHECK_ERROR", relevance=float("nan")),
    ),
}
"""By the check that alone blocks them."""

ALL = [(name, trap) for name, traps in TRAPS.items() for trap in traps]


@pytest.mark.parametrize(("name", "trap"), ALL, ids=[f"{name}: {trap.name}" for name, trap in ALL])
def test_with_every_check_on_a_trap_is_blocked(name: str, trap: Trap) -> None:
    """For its own reason, whichever check comes first."""
    assert trap.verdict().reason == trap.reason


@pytest.mark.parametrize("switched_off", citations._CHECKS, ids=lambda examine: str(examine.__name__))
def test_no_check_can_be_switched_off_unnoticed(
    switched_off: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without any one check at least one of its named traps would be spoken."""
    traps = TRAPS.get(switched_off.__name__, ())
    assert traps, f"{switched_off.__name__}: write a trap that only this check blocks"
    assert not [trap.name for trap in traps if trap.verdict().passed]
    rest = tuple(examine for examine in citations._CHECKS if examine is not switched_off)
    monkeypatch.setattr(citations, "_CHECKS", rest)
    assert [trap.name for trap in traps if trap.verdict().passed], "its traps are caught by the others"


def test_the_order_of_the_checks_lets_nothing_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """Order decides the reason, never whether a sentence is spoken."""
    monkeypatch.setattr(citations, "_CHECKS", tuple(reversed(citations._CHECKS)))
    assert not [trap.name for _, trap in ALL if trap.verdict().passed]


def test_a_check_that_breaks_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever of them raises, nothing that came before makes the sentence pass."""

    def broken(case: object) -> None:
        raise RuntimeError("out of order")

    for place in range(len(citations._CHECKS)):
        checks = (*citations._CHECKS[:place], broken, *citations._CHECKS[place + 1 :])
        monkeypatch.setattr(citations, "_CHECKS", checks)
        verdict = check("退款原路退回[S1]。", "", {"S1": RULES}, DAY, 0.9)
        assert verdict.reason == "CHECK_ERROR"
        monkeypatch.undo()


def test_every_trap_belongs_to_a_check() -> None:
    """A trap of a check that is gone tests nothing."""
    assert set(TRAPS) == {examine.__name__ for examine in citations._CHECKS}
