"""How near a term must sound, by confidence, and what may never be exchanged."""

from __future__ import annotations

import pytest

from retrieval.domain_terms import Term
from retrieval.mishearing import SURE, UNSURE, Mishearing, care_for, difference
from retrieval.pinyin import readings


def mishearing(heard: str, meant: str, seen: int = 5) -> Mishearing:
    term = Term(meant, tuple(readings(meant)), seen, is_word=True)
    return Mishearing(0, heard, term, [(syllable,) for syllable in readings(heard)])


@pytest.mark.parametrize(
    ("heard", "meant", "cost"),
    [("机分", "积分", 0), ("到战", "到账", 1), ("处讯卡", "储蓄卡", 2), ("遗憾卡", "银行卡", 3)],
)
def test_differences_of_sound_add_up(heard: str, meant: str, cost: int) -> None:
    """Nothing for a tone, one for a class, two for a nasal."""
    assert mishearing(heard, meant).cost == cost


def test_another_reading_of_the_character_counts_as_a_class() -> None:
    """换 huan written as 还, which by itself is read hai."""
    assert difference(("hai", "huan"), "huan") == 1
    assert difference(("hai",), "huan") == 2


@pytest.mark.parametrize(
    ("heard", "meant", "confidences"),
    [
        ("机分", "积分", (0.5, None, 0.95)),
        ("到战", "到账", (0.5, None)),
        ("处讯卡", "储蓄卡", (0.5, None)),
        ("遗憾卡", "银行卡", (0.5,)),
        ("加多少", "减多少", ()),
        ("一憾", "银行", ()),
    ],
)
def test_the_surer_the_recogniser_the_nearer_must_the_term_sound(
    heard: str, meant: str, confidences: tuple[float | None, ...]
) -> None:
    """A lost nasal is believed only beside another change, and never in a pair: 加多少 is not 减多少."""
    near = [c for c in (0.5, None, 0.95) if mishearing(heard, meant).is_near(care_for(c))]
    assert tuple(near) == confidences


def test_a_seldom_written_term_is_no_reason_for_an_unequal_pair() -> None:
    """带伞 is not 带上, which the corpus writes once; the same sound is believed all the same."""
    assert not mishearing("带伞", "带上", seen=1).is_near(care_for(None))
    assert mishearing("带尚", "带上", seen=1).is_near(care_for(None))


def test_the_edges_of_confidence() -> None:
    """SURE belongs to the sure, UNSURE to the middle; no confidence is the middle."""
    assert care_for(SURE) == care_for(1.0) != care_for(SURE - 0.01)
    assert care_for(UNSURE) == care_for(None) != care_for(UNSURE - 0.01)


@pytest.mark.parametrize(
    ("heard", "meant", "may"),
    [
        ("无礼由", "无理由", True),
        ("部退货", "不退货", False),
        ("不发", "补发", False),
        ("面费", "免费", False),
        ("千费", "欠费", False),
        ("市个工作日", "十个工作日", False),
        ("买家", "卖家", False),
        ("售货人", "收货人", False),
        ("受权", "授权", False),
        ("退款吗", "退款码", False),
        ("游谁承担", "由谁承担", True),
        ("由水承担", "由谁承担", False),
    ],
)
def test_numbers_negations_and_roles_are_not_exchanged(heard: str, meant: str, may: bool) -> None:
    """Neither taken away nor brought in; where they stand unchanged, the rest may be mended."""
    assert mishearing(heard, meant).is_exchangeable() is may
    assert mishearing(meant, heard).is_exchangeable() is may


def test_longer_then_nearer_then_better_known_comes_first() -> None:
    """The order in which candidates take their places."""
    long, near = mishearing("收获地址", "收货地址"), mishearing("收获", "收货")
    far, rare = mishearing("收或", "收货"), mishearing("收获", "收货", seen=1)
    assert sorted([rare, near, long], key=lambda one: one.rank) == [long, near, rare]
    assert far.rank == near.rank
    assert mishearing("到战", "到账").rank > mishearing("到帐", "到账").rank
    assert near.changed == (1,)
    assert near.end == 2
