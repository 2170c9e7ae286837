"""Figures in a text with the unit they are counted in, in one form: 3个小时 = 3小时, 2块 = 2元, 8:30 = 8点30分."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from retrieval.codes import Code, find_codes
from retrieval.numbers import UNITS


@dataclass(frozen=True, slots=True)
class Quantity:
    """A figure at [start, end) of a canonical text and the unit behind it, empty if there is none."""

    value: str
    unit: str
    start: int
    end: int

    @property
    def key(self) -> str:
        return self.value + self.unit


_SAME_UNIT: Final = {
    "工作日": "个工作日",
    "自然日": "个自然日",
    "季度": "个季度",
    "个小时": "小时",
    "个钟头": "小时",
    "钟头": "小时",
    "h": "小时",
    "星期": "周",
    "礼拜": "周",
    "个星期": "周",
    "个礼拜": "周",
    "min": "分钟",
    "秒钟": "秒",
    "s": "秒",
    "号": "日",
    "块": "元",
    "块钱": "元",
    "元钱": "元",
    "rmb": "元",
    "人民币": "元",
    "毛": "角",
    "百分点": "个百分点",
    "瓦": "w",
    "千米": "公里",
    "km": "公里",
    "cm": "厘米",
    "mm": "毫米",
    "kg": "公斤",
    "千克": "公斤",
    "毫安": "ma",
    "毫安时": "mah",
    "摄氏度": "度",
    "℃": "度",
    "兆": "mb",
    "m": "mb",
    "g": "gb",
}
"""Spellings of one unit. 天 and 个工作日, 个月 and 月, 元 and 美元, % and 个百分点 are different units and stay so."""

_CURRENCY: Final = {"¥": "元", "$": "美元"}

_CHINESE_UNITS: Final = {u for u in (*UNITS, *_SAME_UNIT, "点", "分", "人") if not u.isascii()} - {"单"}
_NAMED: Final = "|".join(sorted(_CHINESE_UNITS, key=len, reverse=True))
_NO_UNIT: Final = "到至和与或及以左的了在是为可能每共也就都单"
"""Characters that go on with the sentence behind a bare figure; any other one counts as its unit."""

_FIGURE: Final = re.compile(
    r"(?P<day>\d{4}-\d{1,2}-\d{1,2})(?![\d-])"
    r"|(?P<phone>(?<![\d-])\d{3,4}-\d{3,4}(?:-\d{4})?)(?![\d-])"
    r"|(?P<clock>(?<![\d:])\d{1,2}:\d{2})(?![\d:])"
    r"|(?:(?P<money>[¥$]) ?)?(?P<value>第?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)*))"
)
_UNIT: Final = re.compile(
    rf" ?(?P<unit>[%‰]|(?P<more>[多余来几])?(?:{_NAMED}|单(?![次笔独个]))|[a-z]+|(?![{_NO_UNIT}])[\u4e00-\u9fff])"
)
_THEN: Final = re.compile(r" ?(?:到|至|-|~|—) ?(?:第)?(?=\d)")


def quantities(text: str, codes: Sequence[Code] | None = None) -> tuple[Quantity, ...]:
    """All figures of a canonical text outside its codes, left to right. `codes` saves finding them again.

    The first figure of a range takes the unit of its end: 3到5个工作日 gives 3个工作日 and 5个工作日.
    """
    text = text.lower()
    in_code = {i for c in (find_codes(text) if codes is None else codes) for i in range(c.start, c.end)}
    found = [q for match in _FIGURE.finditer(text) for q in _read(text, match) if q.start not in in_code]
    for i in range(len(found) - 2, -1, -1):
        here, after = found[i], found[i + 1]
        link = _THEN.match(text, here.end)
        if not here.unit and link and link.end() == after.start:
            found[i] = Quantity(here.value, after.unit, here.start, here.end)
    return tuple(found)


def _read(text: str, match: re.Match[str]) -> Iterator[Quantity]:
    start, end = match.span()
    if match["day"]:
        for value, unit in zip(match["day"].split("-"), ("年", "月", "日"), strict=True):
            yield Quantity(_plain(value), unit, start, end)
    elif match["phone"]:
        yield Quantity(match["phone"].replace("-", ""), "", start, end)
    elif match["clock"]:
        for value, unit in zip(match["clock"].split(":"), ("点", "分"), strict=True):
            yield Quantity(_plain(value), unit, start, end)
    elif match["money"]:
        yield Quantity(_plain(match["value"]), _CURRENCY[match["money"]], start, end)
    else:
        counted = _UNIT.match(text, end)
        if counted is None:
            yield Quantity(match["value"].replace(",", ""), "", start, end)
        else:
            yield Quantity(_plain(match["value"]), _name(counted), start, end)


def _name(unit: re.Match[str]) -> str:
    more = unit["more"] or ""
    word = unit["unit"].removeprefix(more)
    return more + _SAME_UNIT.get(word, word)


def _plain(value: str) -> str:
    """1,299 -> 1299, 3.50 -> 3.5, 02 -> 2; a dotted number with more than one point stays."""
    order = "第" if value[0] == "第" else ""
    value = value.removeprefix("第").replace(",", "")
    if value.count(".") > 1:
        return order + value
    number = Decimal(value)
    return f"{order}{number.normalize():f}" if number else f"{order}0"
