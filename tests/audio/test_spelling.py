"""Codes, digits and symbols written as a Chinese voice can read them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.spelling import cardinal, digit_by_digit, is_speakable, speakable


@pytest.mark.parametrize(
    ("text", "read"),
    [
        # codes: letters by name, digits one by one
        ("ERR_2048是什么？", "E R R 下划线二零四八是什么？"),
        ("RTX-4090", "R T X 四零九零"),
        ("X100和X200", "X 一零零和 X 二零零"),
        ("0x80070005", "零 X 八零零七零零零五"),
        ("V2.3.1", "V 二点三点一"),
        ("192.168.1.1", "一九二点一六八点一点一"),
        ("CW-AX6000", "C W A X 六零零零"),
        ("USB-C", "U S B C"),
        ("ＥＲＲ＿２０４９", "E R R 下划线二零四九"),
        # words
        ("update_billing_address", "update 下划线 billing 下划线 address"),
        ("Galaxy S3", "galaxy S 三"),
        ("iPhone 15 Pro", "I phone 十五 pro"),
        ("POS机和API", "P O S 机和 A P I"),
        ("eSIM卡", "E S I M 卡"),
        ("WiFi", "wifi"),
        ("help@cw.com", "help 艾特 C W 点 com"),
        # amounts
        ("10GB", "十 G B"),
        ("100Mbps", "一百 M B P S"),
        ("3kg", "三千克"),
        ("1,299.50元", "一千二百九十九点五零元"),
        ("￥99", "九十九元"),
        ("85%和５％", "百分之八十五和百分之五"),
        ("25000元", "二万五千元"),
        ("2个2%", "两个百分之二"),
        ("0.5元", "零点五元"),
        ("-5℃", "负五摄氏度"),
        ("3-5个工作日", "三到五个工作日"),
        ("3~5天", "三到五天"),
        # dates and names made of digits
        ("2026年3月1日", "二零二六年三月一日"),
        ("2026-03-01", "二零二六年三月一日"),
        ("10:30和9:05", "十点三十分和九点零五分"),
        ("10086", "一零零八六"),
        ("13800138000", "一三八零零一三八零零零"),
        ("400-800-1234", "四零零，八零零，一二三四"),
        # left alone
        ("您好，请说。", "您好，请说。"),
        ("", ""),
    ],
)
def test_nothing_is_left_that_a_chinese_voice_drops(text: str, read: str) -> None:
    """Every Latin letter, digit and symbol gets a form that is read aloud."""
    assert speakable(text) == read


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (0, "零"), (2, "二"), (10, "十"), (12, "十二"), (20, "二十"), (101, "一百零一"), (110, "一百一十"),
        (1001, "一千零一"), (1010, "一千零一十"), (2000, "两千"), (20005, "二万零五"), (100_000, "十万"),
        (1_234_567, "一百二十三万四千五百六十七"), (100_010_001, "一亿零一万零一"),
    ],
)  # fmt: skip
def test_numbers_are_counted(value: int, read: str) -> None:
    """Zeros inside are named once, zeros at the end not at all."""
    assert cardinal(value) == read


@given(st.integers(0, 10**12))
def test_different_numbers_read_differently(value: int) -> None:
    """Neighbours never sound alike, and no digit appears that the number lacks."""
    assert cardinal(value) != cardinal(value + 1)
    digits = {digit_by_digit(digit) for digit in str(value)} | {"两", "零"}
    assert set(re.sub("[十百千万亿]", "", cardinal(value))) <= digits


@given(st.text(st.sampled_from("ERxz09_-.:/,%+#& 退款，。2@¥~"), max_size=14))
def test_any_mixture_is_readable(text: str) -> None:
    """Whatever the mixture: no digit is left, and every letter or digit of the text leaves something to read."""
    read = speakable(text)
    assert not re.search(r"\d", read)
    assert is_speakable(read) or not is_speakable(text)
    assert len(re.findall("[A-Za-z]", read)) >= len(re.findall("[A-Za-z]", text))


@pytest.mark.parametrize(
    ("text", "yes"), [("好", True), ("A", True), ("7", True), ("……！", False), ("", False)]
)
def test_speakable_needs_a_letter_or_digit(text: str, yes: bool) -> None:
    """Punctuation alone is nothing to read."""
    assert is_speakable(text) is yes
