"""Numbers with what they count, read from Chinese text by plain rules: digits, characters, ranges, units. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

_DIGITS = {char: n for n, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_SCALES = {"十": 10, "百": 100, "千": 1000}
_MYRIADS = {"万": 10_000, "亿": 100_000_000}

_UNITS = {
    "工作日": "workday", "自然日": "day", "百分点": "point", "个月": "month", "小时": "minute*60",
    "钟头": "minute*60", "分钟": "minute", "秒": "second", "年": "year", "月": "date-month", "天": "day",
    "日": "day", "号": "day", "周": "week", "星期": "week", "礼拜": "week", "元": "yuan", "块": "yuan",
    "角": "yuan*0.1", "毛": "yuan*0.1", "分": "fen", "美元": "dollar", "%": "percent", "折": "tenth",
    "倍": "times", "次": "time", "回": "time", "GB": "gb", "G": "gb", "MB": "mb", "M": "mb", "兆": "mb",
    "KG": "kg", "公斤": "kg", "千克": "kg", "克": "g", "斤": "jin", "岁": "age", "周岁": "age",
    "度": "degree", "℃": "degree", "米": "m", "厘米": "cm", "公里": "km", "件": "piece", "张": "sheet",
    "台": "set", "位": "digit", "人": "person", "名": "person", "期": "term", "笔": "deal", "条": "strip",
    "点": "clock", "户": "home", "种": "kind", "步": "step", "级": "grade", "楼": "floor", "层": "floor",
    "寸": "inch",
}  # fmt: skip
"""Unit as written -> what it is. `*` names a factor: an hour is 60 minutes wherever it stands."""

_UNIT = "|".join(sorted(_UNITS, key=len, reverse=True))
_NUMERAL = "[零〇一二两三四五六七八九十百千万亿]"
_NUMBER = re.compile(
    rf"(?P<of>[百千])分之(?P<percent>\d+(?:\.\d+)?|{_NUMERAL}+(?:点{_NUMERAL}+)?)"
    rf"|(?P<digits>\d+(?:\.\d+)?)(?P<scale>[万亿千百]*)"
    rf"|(?P<chinese>{_NUMERAL}+(?:点{_NUMERAL}+(?=个|元|块|%|倍|米|公|折|小|年|月|G|M))?)"
    r"|(?P<half>半)(?=个?(?:年|月|小时|天|日|价))"
)
_BEHIND = re.compile(rf"\s*(?:多|余|来|几)?(?:个(?!月))?\s*(?P<unit>{_UNIT})", re.IGNORECASE)
_RANGE = re.compile(r"\s*[个]?\s*(?:-|~|—|–|至|到|或|、)\s*(?=[\d零一二两三四五六七八九十])")
_NO_VALUE = re.compile(
    "一(?:般|些|下|样|定|直|起|切|旦|并|律|致|会|点|边|面|方|共|同|经|次性|系列|键|概|行|体|线|时)"
    "|统一|唯一|万一|任一|(?<!分)之一|进一步|其一|第一时间|不一|逐一|一一|十分(?!钟|之)|一(?:部分|位|名|只)|千万(?!元|人|次)|万能|百科|四处|三方|两者|双十一"
    "|一个(?!月|半|工作日|小时|星期|自然)|周[一二三四五六日]|星期[一二三四五六日]|二维码|三包|七天无理由(?=退|$)"
)
_MARK = re.compile(r"[\[【［(（]\s*[SsＳｓ]\s*[0-9０-９][^\]】］)）]*[\]】］)）]")


@dataclass(frozen=True)
class Value:
    """A number and what it counts; `unit` is "" where nothing known stands behind it."""

    number: float
    unit: str


def plain(text: str) -> str:
    """Without marks, wide forms and commas between digits."""
    text = unicodedata.normalize("NFKC", _MARK.sub("", text))
    text = re.sub("首(?=[次个条月年笔期])", "一", re.sub(r"(?<=\d),(?=\d{3})", "", text))
    text = re.sub("([一二三四五六七八九])成(?![年功为人本交员])", r"百分之\1十", text)
    return re.sub(r"(?:下午|晚上|晚|傍晚)([\d一二三四五六七八九十]+)(?=点)", _afternoon, text)


def _afternoon(found: re.Match[str]) -> str:
    hour = int(found[1]) if found[1].isdigit() else int(spoken_number(found[1]))
    return str(hour + 12 if hour < 12 else hour)


def shown(value: Value) -> str:
    """For the report."""
    return f"{value.number:g} {value.unit}".strip()


def values(text: str) -> list[Value]:
    """The numbers of a text, digits or characters, each with its unit; the first of a range has the unit of the last.

    >>> [shown(value) for value in values("三到5个工作日内，收百分之二")]
    ['3 workday', '5 workday', '2 percent']
    """
    return list(_values(_NO_VALUE.sub(lambda found: "_" * len(found[0]), text)))


def _values(text: str) -> Iterator[Value]:
    for match in _NUMBER.finditer(text):
        if _inside_code(text, match):
            continue
        number = _number(match)
        if match["percent"]:
            yield Value(number if match["of"] == "百" else number / 10, "percent")
            continue
        yield _scaled(number, _unit(text, match.end()))


def _inside_code(text: str, match: re.Match[str]) -> bool:
    """Digits of a code are compared with the code."""
    before = text[match.start() - 1 : match.start()] if match.start() else ""
    return bool(re.match(r"[A-Za-z_]", before)) and match["digits"] is not None


def _unit(text: str, at: int) -> str:
    for _ in range(3):
        behind = _BEHIND.match(text, at)
        if behind:
            return _UNITS.get(behind["unit"].upper(), _UNITS.get(behind["unit"], ""))
        link = _RANGE.match(text, at)
        following = _NUMBER.match(text, link.end()) if link else None
        if following is None:
            return ""
        at = following.end()
    return ""


def _scaled(number: float, unit: str) -> Value:
    name, _, factor = unit.partition("*")
    if name == "year" and number < 100:
        return Value(number * 12, "month")
    if name == "tenth" and number >= 10:
        return Value(number / 10, name)  # 九五折 is 9.5
    return Value(round(number * float(factor or 1), 6), name)


def _number(match: re.Match[str]) -> float:
    if match["half"]:
        return 0.5
    if match["digits"]:
        number = float(match["digits"])
        for scale in match["scale"]:
            number *= (_SCALES | _MYRIADS)[scale]
        return number
    written = match["percent"] or match["chinese"]
    return float(written) if written[0].isdigit() else spoken_number(written)


def spoken_number(written: str) -> float:
    """A numeral in characters.

    >>> spoken_number("一万二千"), spoken_number("二零四八"), spoken_number("三点五"), spoken_number("十五")
    (12000.0, 2048.0, 3.5, 15.0)
    """
    whole, _, part = written.partition("点")
    if len(whole) > 1 and all(char in _DIGITS for char in whole):
        number = float("".join(str(_DIGITS[char]) for char in whole))
    else:
        number = float(_counted(whole))
    return number + (float("0." + "".join(str(_DIGITS.get(char, 0)) for char in part)) if part else 0.0)


def _counted(whole: str) -> int:
    total = section = digit = 0
    for char in whole:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char in _SCALES:
            section += (digit or 1) * _SCALES[char]
            digit = 0
        else:
            total = (total + section + digit or 1) * _MYRIADS[char]
            section = digit = 0
    return total + section + digit
