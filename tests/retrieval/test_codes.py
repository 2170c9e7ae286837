"""Laws of codes and model names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.codes import code_keys, find_codes


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("RTX-4090", "rtx4090"),
        ("RTX 4090", "rtx4090"),
        ("RTX4090", "rtx4090"),
        ("ＲＴＸ－４０９０", "rtx4090"),
        ("ERR_2048", "err2048"),
        ("ERR 2048", "err2048"),
        ("err-2048", "err2048"),
        ("0X80070005", "0x80070005"),
        ("0x8024402C", "0x8024402c"),
        ("V2.3.1", "v2.3.1"),
        ("固件2.3.1", "v2.3.1"),
        ("调用update_billing_address后", "update_billing_address"),
        ("X100连不上", "x100"),
        ("扫地机E101", "e101"),
        ("T-350", "t350"),
        ("CW-AX3000的", "cwax3000"),
        ("Galaxy S3电池", "galaxys3"),
        ("CW-Buds 2单次续航", "cwbuds2"),
        ("公网IPv6", "ipv6"),
        ("T+3到账", "t+3"),
        ("F-07", "f07"),
    ],
)
def test_one_code_has_one_key_however_it_is_written(text: str, key: str) -> None:
    """Case, width, hyphens, underscores and blanks do not make two codes of one."""
    assert [code.key for code in find_codes(text)] == [key]


@pytest.mark.parametrize(
    "text",
    [
        "10GB",
        "500MB流量",
        "2.4GHz",
        "5G换卡",
        "1000M宽带",
        "95Mbps",
        "3天",
        "2026",
        "2026-01-01",
        "2026.1.5",
        "100元",
        "7x24小时",
        "192.168.8.1",
        "400-820-8820",
        "APP 3天没反应",
        "iPhone 15个月没用",
        "eSIM",
        "top 10",
        "caféX100",
    ],
)
def test_amounts_dates_and_words_are_no_codes(text: str) -> None:
    """Figures with a unit, dates, numbers and parts of longer words are left alone."""
    assert find_codes(text) == []


def test_codes_one_digit_apart_are_two() -> None:
    """The look-alikes that break similarity search never share a key."""
    for one, other in (
        ("ERR_2048", "ERR_2049"),
        ("0x80070005", "0x80070002"),
        ("X100", "X200"),
        ("V2.3.1", "V2.3.7"),
    ):
        assert not code_keys(one) & code_keys(other)


def test_a_word_before_a_code_does_not_belong_to_it() -> None:
    """APP E101 and WiFi X100 are E101 and X100, but Galaxy S3 is one name."""
    assert code_keys("APP E101报错") == {"e101"}
    assert code_keys("WiFi X100") == {"x100"}
    assert code_keys("Galaxy S3") == {"galaxys3", "s3"}


def test_a_code_answers_for_its_shorter_forms() -> None:
    """Callers leave out the brand or the 0x; the parts are for search only and no keys."""
    assert "ax3000" in code_keys("CW-AX3000")
    assert "8024402c" in code_keys("0x8024402C")
    assert find_codes("RTX-4090")[0].parts == ("rtx", "4090")
    assert "4090" not in code_keys("RTX-4090")


@given(st.text(alphabet="ERXerx019-_. ，天元：Ｅ４é", max_size=30))
@settings(max_examples=400, deadline=None)
def test_spans_hold_the_code_as_written_and_do_not_overlap(text: str) -> None:
    """Whatever is found can be cut out of the original text."""
    last = 0
    for code in find_codes(text):
        assert text[code.start : code.end] == code.text
        assert code.start >= last
        last = code.end
