"""Figures in a text with the unit they are counted in, in one form: 3个小时 = 3小时, 2块 = 2元, 8:30 = 8点30分."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from retrieval.codes import Code, find_codes
from retrieval.numbers import UNITS
from retrieval.qualifiers import Qualifier, qualifier, rates


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


@dataclass(frozen=True, slots=True)
class Fact:
    """A typed value in a folded text at [start, end).

    `low` and `high` are equal unless it is a range; a value that is no number (a date, an address) stands in `word`
    and has neither. `unit` is one of a family (`kind`): 天 and 个工作日 are two units of one kind. `own` are the rates
    of its clause, `rates` those of its whole sentence.
    """

    low: Decimal | None
    high: Decimal | None
    word: str
    unit: str
    start: int
    end: int
    qualifier: Qualifier = Qualifier()
    own: frozenset[str] = frozenset()
    rates: frozenset[str] = frozenset()

    @property
    def kind(self) -> str:
        return _KIND.get(self.unit, self.unit)

    @property
    def shown(self) -> str:
        if self.low is None or self.high is None:
            return self.word
        low, high = f"{self.low.normalize():f}", f"{self.high.normalize():f}"
        return f"{low}{self.unit}" if low == high else f"{low}到{high}{self.unit}"


_KIND: Final = {
    unit: kind
    for kind, units in {
        "time": "天 个工作日 个自然日 周 个月 个季度 年 小时 分钟 秒 日 点",
        "money": "元 美元 欧元 日元 港元",
        "share": "% 个百分点",
        "data": "mb gb kb tb mbps gbps kbps",
        "size": "厘米 毫米 公里 米",
        "weight": "公斤 斤 克 毫克",
        "sound": "次 遍 回",
        "piece": "个 件 台 张 份 条 只 部",
        "person": "人 名 位",
    }.items()
    for unit in units.split()
}
"""Units that may be mistaken for one another. A unit that is not listed is a kind of its own."""

_SCALES: Final = {"折": (Decimal(10), "%"), "‰": (Decimal("0.1"), "%"), "角": (Decimal("0.1"), "元")}
_AFTERNOON: Final = re.compile("(?:下午|晚上|晚间|傍晚|夜里|夜间|今晚)$")
_STOPS: Final = "，。；：、！？,;!?\n"
_CLAUSE: Final = re.compile("[，。；！？;!?\n]")


def facts(text: str) -> tuple[Fact, ...]:
    """All typed values of one folded sentence, left to right.

    3到5个工作日 is one range; 2026年3月1日 is one date; 五折 is 50%; 1年 is 12个月; 下午6点 is 18点. Never raises.
    """
    found = quantities(text) if any(char.isdigit() for char in text) else ()
    made: list[Fact] = []
    i = 0
    while i < len(found):
        fact, i = _take(text, found, i)
        made.append(fact)
    return tuple(_qualified(text, made, n) for n in range(len(made)))


def _take(text: str, found: Sequence[Quantity], i: int) -> tuple[Fact, int]:
    """The value that begins with found[i], and the index behind it."""
    here = found[i]
    if here.unit in ("年", "月"):
        n = i + 1
        while n < len(found) and _continues(text, found[n - 1], found[n]):
            n += 1
        if n > i + 1 or here.unit == "月" or len(here.value) == 4:
            word = "".join(part.key for part in found[i:n])
            return Fact(None, None, word, "date", here.start, _stop(text, found[n - 1])), n
    end = _stop(text, here)
    value = _number(here.value)
    if value is None:
        return Fact(None, None, here.key, here.unit or "word", here.start, end), i + 1
    low, unit = _scaled(value, here.unit)
    low = _clock(text, here, low) if unit == "点" else low
    high = _range_end(text, found, i)
    if high is not None and unit == "点" and low > 12 > high:
        high += 12
    if high is None or high < low:
        return Fact(low, low, "", unit, here.start, end), i + 1
    return Fact(low, high, "", unit, here.start, _stop(text, found[i + 1])), i + 2


_UP_TO: Final = re.compile(r" ?(?:到|至|-|~|—) ?(?:第|早上|上午|中午|下午|晚上|晚间)?(?=\d)")


def _range_end(text: str, found: Sequence[Quantity], i: int) -> Decimal | None:
    """The value that found[i] goes up to, if it begins a range: 3到5天, 3天到5天."""
    if i + 1 >= len(found) or found[i + 1].unit != found[i].unit:
        return None
    linked = {m.end() for at in (found[i].end, _stop(text, found[i])) if (m := _UP_TO.match(text, at))}
    value = _number(found[i + 1].value)
    return None if found[i + 1].start not in linked or value is None else _high(text, found[i + 1], value)


def _high(text: str, quantity: Quantity, value: Decimal) -> Decimal:
    scaled, unit = _scaled(value, quantity.unit)
    return _clock(text, quantity, scaled) if unit == "点" else scaled


def _stop(text: str, quantity: Quantity) -> int:
    """Where a figure ends with its unit."""
    if not quantity.unit or re.search("[-:]", text[quantity.start : quantity.end]):
        return quantity.end
    unit = _UNIT.match(text, quantity.end)
    return unit.end() if unit else quantity.end


def _continues(text: str, left: Quantity, right: Quantity) -> bool:
    """月 behind 年, 日 behind 月, nothing between; the parts of 2026-01-31 share one span."""
    follows = (left.unit, right.unit) in (("年", "月"), ("月", "日"))
    return follows and (left.start == right.start or _stop(text, left) == right.start)


def _number(value: str) -> Decimal | None:
    """None for what is counted but no amount: 第3, 192.168.8.1, and a telephone number."""
    if (
        value.startswith("第")
        or value.count(".") > 1
        or (len(value) > 1 and value[0] == "0" and value[1] != ".")
    ):
        return None
    return Decimal(value)


def _scaled(value: Decimal, unit: str) -> tuple[Decimal, str]:
    if unit == "折" and value > 10:
        return value, "%"
    if unit == "年":
        return value * 12, "个月"
    factor, name = _SCALES.get(unit, (Decimal(1), unit))
    return value * factor, name


def _clock(text: str, here: Quantity, value: Decimal) -> Decimal:
    late = _AFTERNOON.search(text, max(0, here.start - 2), here.start)
    return value + 12 if late and value < 12 else value


def _qualified(text: str, made: Sequence[Fact], n: int) -> Fact:
    fact = made[n]
    left = made[n - 1].end if n else 0
    right = made[n + 1].start if n + 1 < len(made) else len(text)
    before = re.split(f"[{_STOPS}]", text[max(left, fact.start - 14) : fact.start])[-1]
    behind = re.split(f"[{_STOPS}]", text[fact.end : min(right, fact.end + 8)])[0]
    first = max((m.end() for m in _CLAUSE.finditer(text, 0, fact.start)), default=0)
    stop = _CLAUSE.search(text, fact.end)
    own = rates(text[first : stop.start() if stop else len(text)])
    return replace(fact, qualifier=qualifier(before, behind, fact.unit), own=own, rates=rates(text))
