"""Laws of masking: no personal number or address leaves the process in any dress it comes in; nothing else changes."""

from __future__ import annotations

import string
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice_agent.record.privacy import Masker
from voice_agent.record.secrets import DETECTORS, Secret, digits_of

PHONE_FORMS = (
    "13800138000",
    "138 0013 8000",
    "138-0013-8000",
    "138—0013—8000",
    "138.0013.8000",
    "138,0013,8000",
    "138，0013，8000",
    "138 00138000",
    "1 3 8 0 0 1 3 8 0 0 0",
    "13 800 138 000",
    "１３８００１３８０００",
    "１３８　００１３　８０００",
    "一三八零零一三八零零零",
    "幺三八零零幺三八零零零",
    "要三八零零要三八零零零",
    "一三八，零零一三，八零零零",
    "一三八零零、一三八零零零",
    "幺三八〇〇幺三八○○洞",
    "138零零138零零零",
    "8613800138000",
    "008613800138000",
    "八六一三八零零一三八零零零",
)

OTHERS = (
    ("PHONE", "010-62345678"),
    ("PHONE", "01062345678"),
    ("PHONE", "0571 8765 4321"),
    ("PHONE", "05718765432"),
    ("PHONE", "零一零六二三四五六七八"),
    ("PHONE", "139001390001"),  # a digit too many
    ("PHONE", "1390013900"),  # a digit too few
    ("ID", "11010519900101123X"),
    ("ID", "11010519900101123x"),
    ("ID", "110105199001011234"),
    ("ID", "110105 19900101 1234"),
    ("ID", "110105 1990 0101 1234"),
    ("ID", "１１０１０５１９９００１０１１２３４"),
    ("ID", "110105900101123"),
    ("ID", "一一零一零五一九九零零一零一一二三四"),
    ("CARD", "6222021234567890123"),
    ("CARD", "6222 0212 3456 7890 123"),
    ("CARD", "6222-0212-3456-7890"),
    ("CARD", "4000123412341"),
    ("CARD", "六二二二零二一二三四五六七八九零一二三"),
    ("NUMBER", "12345678901234567890"),
    ("NUMBER", "零零零一三八零零一三八零零零"),
    ("NUMBER", "一三八零零一三八零零零一三九零零一三九零零零"),
    ("EMAIL", "li.wei+a@example.com"),
    ("EMAIL", "ＬＩ＠example．ｃｏｍ"),
)

HARMLESS = (
    "ERR_2048 和 ERR_2049 不同",
    "错误代码 0x80070005、0x80070002、0x8024402C",
    "RTX-4090 降价到 12999 元，Galaxy S3 停产",
    "订单状态 3，退款 1580.50 元，满 300 减 50",
    "共 1,234,567 元，区间 1500-2000 元",
    "2026-11-30 12:34:56，2026年11月30日，20261130",
    "拨打 10086、10010、95588、12345、110、96110",
    "客服热线 400-820-8820，或 4008208820，或 400 820 8820",
    "请拨四零零八二零八八二零，或一零零八六，或九五五八八",
    "请拨九五五八八，一零零八六，一二三一五",
    "第一、二、三、四、五、六、七、八、九、十条",
    "需要2000，3000，4000三档",
    "需要 15 到 30 个工作日，30 60 90 120 天四档",
    "得分 0.1234567890123456 与 -12.13800138000",
    "运单 SF1234567890123，指纹 a13800138000bcdef",
    "一千三百八十元，百分之十三点八",
    "call-20261130-123456-01",
    "每个月3000分钟，100GB，5至7天",
    "v2026.1.13 之后支持 update_billing_address",
    "@全体成员 5折",
)


@pytest.mark.parametrize("form", PHONE_FORMS)
def test_a_phone_is_masked_in_every_dress_and_is_the_same_phone(form: str) -> None:
    """However it is grouped, widened or spoken, a number gets the placeholder of its first appearance."""
    masker = Masker()
    assert masker.mask("打13800138000") == "打〈PHONE:1〉"
    assert masker.mask(f"我的电话是{form}。") == "我的电话是〈PHONE:1〉。"
    assert masker.mask("另一个13900139000") == "另一个〈PHONE:2〉"


@pytest.mark.parametrize(("kind", "form"), OTHERS)
def test_each_kind_has_its_own_placeholder(kind: str, form: str) -> None:
    """Kinds are told apart, and nothing but the secret is replaced."""
    assert Masker().mask(f"我的是{form}，对") == f"我的是〈{kind}:1〉，对"


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_not_personal_stays_as_it_is(text: str) -> None:
    """Prices, dates, codes, order states and public service numbers are not masked."""
    assert Masker().mask(text) == text


def test_neighbours_survive() -> None:
    """Words, dates and a trailing 一 around a number are not eaten; two numbers stay two."""
    mask = Masker().mask
    assert mask("2026-11-30 13800138000") == "2026-11-30 〈PHONE:1〉"
    assert mask("幺三八零零幺三八零零零一共两个") == "〈PHONE:1〉一共两个"
    assert mask("13900139000一共") == "〈PHONE:2〉一共"
    assert mask("我要六二二二零二一二三四五六七八九零一二三") == "我要〈CARD:1〉"
    assert mask("13800138000和13900139000") == "〈PHONE:1〉和〈PHONE:2〉"
    assert mask("加我wx13800138000") == "加我wx〈PHONE:1〉"
    assert mask("13800138000@qq.com") == "〈EMAIL:1〉"


def test_masking_twice_changes_nothing() -> None:
    """A placeholder is no secret."""
    masker = Masker()
    once = masker.mask("打13800138000，证件11010519900101123X，卡6222021234567890123")
    assert masker.mask(once) == once == "打〈PHONE:1〉，证件〈ID:1〉，卡〈CARD:1〉"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("我的号码是1380013", "我的号码是〈NUMBER:1〉"),
        ("我的号码是一三八零零一三八", "我的号码是〈NUMBER:1〉"),
        ("卡号是 6222 0212，", "卡号是 〈NUMBER:1〉"),
        ("错误 0x80070005", "错误 0x80070005"),
        ("ERR_2048", "ERR_2048"),
        ("一共 138 元", "一共 138 元"),
    ],
)
def test_a_number_still_being_spoken_is_hidden_too(text: str, masked: str) -> None:
    """A partial that ends in seven digits or more is on its way to a secret; a finished text is not so judged."""
    assert Masker().mask(text, unfinished=True) == masked
    assert Masker().mask(text) == text


def test_words_of_a_list_do_not_spell_a_known_number() -> None:
    """Search terms cut a number into pieces; in order they are joined, out of order the long pieces go."""
    masked = Masker().mask_data(
        {
            "terms": ["手机", "138", "0013", "8000"],
            "text": "手机 138 0013 8000",
            "ids": ["8000", "138", "7000"],
        }
    )
    assert masked == {
        "terms": ["手机", "〈PHONE:1〉"],
        "text": "手机 〈PHONE:1〉",
        "ids": ["〈PHONE:1〉", "138", "7000"],
    }


def test_every_string_of_a_value_is_masked_and_nothing_else_is_touched() -> None:
    """Keys, nested lists and objects; numbers, null and truth values stay."""
    value: Any = {"a": [{"b": "打13800138000"}, 1.5, None, True], "13800138000": "x"}
    assert Masker().mask_data(value) == {"a": [{"b": "打〈PHONE:1〉"}, 1.5, None, True], "〈PHONE:1〉": "x"}


def test_a_new_kind_of_secret_is_one_more_function() -> None:
    """The masker takes its detectors from outside."""

    def find_names(text: str) -> list[Secret]:
        at = text.find("王小明12345678")
        return [Secret("NAME", at, at + 3, "王小明")] if at >= 0 else []

    masker = Masker((*DETECTORS, find_names))
    assert masker.mask("我叫王小明12345678") == "我叫〈NAME:1〉12345678"


@given(st.text())
def test_any_text_passes_and_loses_only_digits_and_mail(text: str) -> None:
    """No input raises; a text without digits, numerals, @ and what leads to a name or place comes back as it was."""
    masked = Masker().mask(text)
    if not digits_of(text) and not set("@＠叫姓名人主是住家址寄送省市区") & set(text):
        assert masked == text


@given(
    st.from_regex(r"1[3-9]\d{9}", fullmatch=True),
    st.text("的是，。我你吗 ", max_size=6),
    st.text("的是，。我你吗 ", max_size=6),
)
def test_no_mobile_number_survives_between_words(number: str, before: str, after: str) -> None:
    """Whatever stands around it."""
    ascii_number = "".join(string.digits[int(d)] for d in number)
    assert digits_of(Masker().mask(before + ascii_number + after)) == "1"


@pytest.mark.parametrize(
    "text",
    [
        *("a" * 60_000 + "@", "1 " * 30_000, "一" * 60_000, "a.@" * 20_000, "13" * 30_000),
        *(
            "我叫" * 30_000,
            "我叫王" * 20_000,
            "省市区" * 20_000,
            "路1号" * 20_000,
            "住在" * 30_000,
            "路" * 60_000,
        ),
    ],
)
def test_hostile_text_costs_bounded_time(text: str) -> None:
    """No pattern goes quadratic: 60,000 characters take less processor time than a call would notice as a hang."""
    before = time.process_time()
    Masker().mask(text, unfinished=True)
    assert time.process_time() - before < 5
