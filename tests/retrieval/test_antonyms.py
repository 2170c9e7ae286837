"""Laws of the words that exclude one another."""

from __future__ import annotations

import pytest

from retrieval.antonyms import GROUPS, roles


def test_every_group_has_members_that_exclude_one_another() -> None:
    """At least two, each found by its own words, and the quick look at first characters misses none."""
    assert len({group.name for group in GROUPS}) == len(GROUPS)
    for group in GROUPS:
        assert group.words.groups >= 2, group.name


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("由买家承担", [("payer", "买家")]),
        ("买家很满意", []),
        ("退货的商品", [("return", "退货")]),
        ("左侧肺部", [("side", "左侧")]),
        ("左右", []),
        ("总资产为16亿元", [("balance", "总资产")]),
        ("资产负债率", [("balance", "负债")]),
        ("手机号", []),
        ("女性患者", [("sex", "女性")]),
    ],
)
def test_members_are_found_where_they_mean_something(text: str, found: list[tuple[str, str]]) -> None:
    """A payer counts only near paying, 手机 not in 手机号."""
    assert [(role.group.name, role.word) for role in roles(text)] == found


def test_first_characters_never_hide_a_member() -> None:
    """Every plain word of every group is found when it stands alone."""
    for group in GROUPS:
        for word in group.words.pattern.replace(")", "|").split("|"):
            plain = word.split(">")[-1]
            if plain and all("\u4e00" <= char <= "\u9fff" for char in plain) and not group.near:
                assert not group.starts.isdisjoint(plain), (group.name, plain)
