"""Codes one digit apart are never the same thing; shortened codes are completed only where they can mean one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.code_book import CodeBook, shortened
from retrieval.types import PassageId
from tests.retrieval.letters import passage

BOOK = CodeBook(
    [
        passage("e2048", "ERR_2048表示会话过期。"),
        passage("e2049", "ERR_2049表示设备过多。"),
        passage("x100", "X100只支持2.4GHz。", title="智能音箱X100"),
        passage("fw", "路由器CW-AX6000的固件V2.3.7修复了漏洞。"),
        passage("hex", "0x8024402C表示无法连接更新服务器。"),
        passage("api", "接口update_billing_address用于修改账单地址。"),
        passage("manual#top", "本手册适用于CW-AX3000和CW-AX6000。", title="路由器手册"),
        passage("manual#1", "管理地址是192.168.8.1。", title="路由器手册 > 登录"),
        passage("manual#2", "CW-AX3000的包装内没有挂架。", title="路由器手册 > 包装"),
        passage("refund", "退款在审核通过后到账。", title="退款"),
    ]
)


def ids(*names: str) -> list[PassageId]:
    return [PassageId(name) for name in names]


def test_holders_must_hold_every_code() -> None:
    """One passage for one code, none for a pair that no passage holds together, none without codes."""
    assert BOOK.holders(["err2048"]) == ids("e2048")
    assert BOOK.holders(["cwax6000", "v2.3.7"]) == ids("fw")
    assert BOOK.holders(["err2048", "err2049"]) == []
    assert BOOK.holders(["err2050"]) == BOOK.holders([]) == []


def test_share_covered() -> None:
    """A share of the asked codes; None, not 0 or 1, when none was asked."""
    assert BOOK.covered(PassageId("fw"), ["v2.3.7", "err2048"]) == 0.5
    assert BOOK.covered(PassageId("e2049"), ["err2048"]) == 0.0
    assert BOOK.covered(PassageId("e2049"), []) is None
    assert BOOK.covered(PassageId("unknown"), ["err2048"]) == 0.0


def test_the_holder_leads_and_other_codes_drop_out() -> None:
    """With a holder among them, passages about other codes only leave; passages about no code stay behind it."""
    found = ids("e2049", "refund", "e2048", "x100")
    assert BOOK.arranged(found, ["err2048"]) == ids("e2048", "refund")


def test_without_a_holder_nothing_is_dropped() -> None:
    """Half covered goes before not covered, and the order is else kept: the gate then sees what is missing."""
    assert BOOK.arranged(ids("e2049", "fw", "refund"), ["v2.3.7", "err9999"]) == ids("fw", "e2049", "refund")
    assert BOOK.arranged(ids("e2049", "refund"), []) == ids("e2049", "refund")
    assert BOOK.arranged([], ["err2048"]) == []


def test_a_chunk_without_a_code_answers_for_its_manual() -> None:
    """A manual names its models once, at the top; a chunk with a code of its own answers for that code only."""
    assert BOOK.covered(PassageId("manual#1"), ["cwax6000"]) == 1.0
    assert BOOK.covered(PassageId("manual#2"), ["cwax6000"]) == 0.0
    assert BOOK.keys(PassageId("refund")) == frozenset()


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("v237", "v2.3.7"),
        ("billing_address", "update_billing_address"),
        ("err2048", "err2048"),
    ],
)
def test_a_shortened_code_is_completed(said: str, meant: str) -> None:
    """Without its dots or some of its words a code can still mean exactly one."""
    assert BOOK.resolve([said]) == (meant,)


@pytest.mark.parametrize(
    "said", ["err2050", "8024402d", "v238", "2048", "address", "shipping_address", "v2", "048"]
)
def test_no_digit_is_guessed(said: str) -> None:
    """What differs in a digit, or is too short to mean one, stays as it was said."""
    assert BOOK.resolve([said]) == (said,)


def test_what_fits_two_stays() -> None:
    """A shortened code that two codes complete is not decided here."""
    book = CodeBook([passage("a", "update_billing_address"), passage("b", "delete_billing_address")])
    assert book.resolve(["billing_address", "billing_address"]) == ("billing_address",)


CODE = st.text("ab1._", min_size=1, max_size=7)


@given(CODE, CODE)
def test_what_a_code_is_shortened_to_is_looked_up(said: str, key: str) -> None:
    """The look-up holds exactly: the code without its dots, and its runs of whole words joined by one sign or more."""
    dotless = "." in key and key.replace(".", "") == said
    words = "_" in said and f"_{said}_" in f"_{key}_"
    assert (said in shortened(key)) is (dotless or words)
