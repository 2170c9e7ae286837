"""Laws of codes spelled aloud."""

from __future__ import annotations

import pytest

from retrieval.codes import code_keys
from retrieval.normalize import canonical


@pytest.mark.parametrize(
    ("spoken", "expected"),
    [
        ("E R R 下划线二零四八", "ERR_2048"),
        ("E R R二零四八", "ERR2048"),
        ("ERR 下划线 2048", "ERR_2048"),
        ("E-R-R-2048", "ERR-2048"),
        ("ERR 二零 四八", "ERR2048"),
        ("零x八零零七零零零五", "0x80070005"),
        ("零 X 八零二四四零二 C", "0x8024402C"),
        ("0X 8024 402C", "0x8024402C"),
        ("V二点三点一", "V2.3.1"),
        ("V 2 点 3 点 7", "V2.3.7"),
        ("T杠三五零", "T-350"),
        ("E，R，R，下划线，二零四八", "ERR_2048"),
        ("B、B杠六一九", "BB-619"),
        ("E R R 2 0 4 8", "ERR2048"),
        ("e r r 下划线 二 零 四 八", "ERR_2048"),
        ("T加三到账", "T+3到账"),
        ("E幺零幺", "E101"),
        ("BB横杠六一九", "BB-619"),
        ("X 一百", "X100"),
        ("T 350的红灯", "T350的红灯"),
        ("update 下划线 billing 下划线 address", "update_billing_address"),
    ],
)
def test_spelled_codes_are_put_together(spoken: str, expected: str) -> None:
    """Letters one by one, spoken signs and hexadecimal digits become one code."""
    assert canonical(spoken) == expected


def test_what_stands_beside_a_code_is_not_drawn_into_it() -> None:
    """A title above a text, and a number behind a code, stay apart from it."""
    assert code_keys(canonical("错误代码0x80070002\n0x80070002表示")) == {"0x80070002"}
    assert code_keys(canonical("0x80070002 0x80070005")) == {"0x80070002", "0x80070005"}
    assert canonical("0x80070002 2天了") == "0x80070002 2天了"
    assert code_keys(canonical("型号RTX\n4090元")) == frozenset()


@pytest.mark.parametrize(
    "text",
    [
        "水杠杆",
        "A 2天",
        "用Python写",
        "WiFi和APP",
        "2 天",
        "A、B、C都有",
        "选A，不选B",
        "CW 2 3",
        "CW 1 2 3天",
    ],
)
def test_ordinary_text_is_not_glued(text: str) -> None:
    """A sign's name counts only between letters or digits, and a quantity is no part of a code."""
    assert canonical(text) == text
