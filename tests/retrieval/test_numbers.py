"""Laws of numbers in running text: rewrite what is proven to be one, leave everything else as it was."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.numbers import written


@pytest.mark.parametrize(
    ("spoken", "expected"),
    [
        ("三到五个工作日", "3到5个工作日"),
        ("十五到二十天", "15到20天"),
        ("三五天到账", "3到5天到账"),
        ("百分之五", "5%"),
        ("百分之二点一五", "2.15%"),
        ("百分之百退款", "100%退款"),
        ("地址一二七点零点零点幺", "地址127.0.0.1"),
        ("二点四GHz", "2.4GHz"),
        ("五G换卡", "5G换卡"),
        ("每月十G流量", "每月10G流量"),
        ("千分之三", "3‰"),
        ("两千块能分期吗", "2000块能分期吗"),
        ("满二百减三十", "满200减30"),
        ("三块五", "3.5块"),
        ("十二块五毛", "12.5块"),
        ("八五折", "8.5折"),
        ("九点五折", "9.5折"),
        ("一个半月", "1.5个月"),
        ("两年半", "30个月"),
        ("每半年一次", "每6个月1次"),
        ("等半个小时", "等30分钟"),
        ("二零二四年三月一号", "2024年3月1号"),
        ("晚上八点到十点", "晚上8点到10点"),
        ("八点半", "8点30分"),
        ("尾号幺七零二", "尾号1702"),
        ("拨打幺零零八六", "拨打10086"),
        ("第三个月", "第3个月"),
        ("一年零三个月", "1年3个月"),
        ("三十多天", "30多天"),
        ("1.2亿元", "120000000元"),
        ("一点五亿元", "150000000元"),
        ("5,000万元", "50000000元"),
        ("3万5", "35000"),
        ("ERR二零四八", "ERR2048"),
        ("X一百连不上", "X100连不上"),
        ("F零七", "F07"),
        ("Galaxy S三", "Galaxy S3"),
    ],
)
def test_spoken_numbers_are_written(spoken: str, expected: str) -> None:
    """A unit, a digit string, a full cardinal or a code letter proves a number."""
    assert written(spoken) == expected


@pytest.mark.parametrize(
    "words",
    [
        "一般一起万一千万不要第一时间",
        "七天无理由",
        "四川三包双十一",
        "不管三七二十一",
        "十分满意",
        "一点小事",
        "我们一块去",
        "一次性付款",
        "一个问题一位师傅",
        "零件费",
        "同一订单另一张哪一年",
        "星期三天气",
        "周一到周五",
        "十几天几十天数百元",
        "八九千",
        "百分之几",
        "二分之一",
        "WiFi一直断",
        "第一Galaxy手机",
        "APP一打开",
        "千兆宽带",
        "唯一一个",
        "四周填充",
        "29元1GB",
    ],
)
def test_words_that_hold_numerals_stay(words: str) -> None:
    """Idioms, names, approximations and word parts are no numbers."""
    assert written(words) == words


def test_a_quantity_behind_latin_letters_is_kept_apart_from_them() -> None:
    """APP三天 must not become a code APP3, nor an API name grow a digit."""
    assert written("APP三天没反应") == "APP 3天没反应"
    assert written("create_refund_request一次能传几张") == "create_refund_request 1次能传几张"


@given(st.text(alphabet="零一二两三百千万亿十半点个月年天元块分之几多不无没退货0123.", max_size=30))
@settings(max_examples=400, deadline=None)
def test_no_text_breaks_it_and_negations_survive(text: str) -> None:
    """Any mixture of numerals is read without an exception and keeps every 不 无 没."""
    result = written(text)
    assert [result.count(c) for c in "不无没退货"] == [text.count(c) for c in "不无没退货"]
