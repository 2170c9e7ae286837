"""Spoken Chinese numerals to Arabic figures, only where they are numbers: 三到五个工作日 -> 3到5个工作日, 万一 stays.

A numeral is rewritten when something proves it is one: a unit behind it, a digit string of three or more, several
characters that parse as a cardinal, 百分之 before it. What does not parse strictly is left as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Final

from retrieval.numerals import DIGIT, DIGITS, cardinal, digits

_RUN: Final = f"{DIGIT}十百千万亿"

_UNIT_WORDS: Final = (
    "个工作日 工作日 个自然日 自然日 个月 个小时 小时 个钟头 钟头 个星期 个礼拜 个季度 季度 分钟 秒钟 "
    "天 日 年 周 月 秒 美元 欧元 日元 港元 块钱 块 元 毛 角 分钱 "
    "次 台 张 件 个 条 份 笔 单 倍 期 位 部 户 项 层 盒 只 颗 级 套 名 页 折 遍 "
    "分贝毫瓦 分贝 厘米 毫米 公里 千米 米 公斤 千克 毫克 克 斤 毫升 升 瓦时 瓦 毫安时 毫安 摄氏度 度 兆 伏 个百分点"
)
UNITS: Final = tuple(sorted(_UNIT_WORDS.split(), key=len, reverse=True))
"""What may stand behind a numeral and proves it. 点 分 号 包 口 面 边 步 are absent: 一点 十分 三包 are words."""

_UNIT: Final = "|".join(UNITS)

_KEEP: Final = (
    "七天无理由|七天无条件|七日无理由|四周|一块儿|一次性|一部分|一条龙|一天到晚|一日游|一成不变|三天两头|三折叠|两折叠"
    "|三三两两|七七八八|一级棒|双十一|双十二|十一(?:假期|期间|长假|国庆|放假|活动|黄金周)"
    "|星期[一二三四五六]|礼拜[一二三四五六]|周[一二三四五六]|五五开"
)
"""Names and idioms that begin like a number in front of a unit."""

_TIME_BEFORE: Final = ("上午", "下午", "晚上", "早上", "中午", "凌晨", "傍晚", "夜里", "今晚", "明早", "晚间")

_SCAN: Final = re.compile(
    rf"(?P<keep>{_KEEP}|一块(?!钱|[{DIGIT}半\d]))"
    rf"|(?P<all>百分之百|百分百)"
    rf"|(?P<per>[百千])分之(?P<share>[{_RUN}]{{1,12}})(?:点(?P<share_dec>[{DIGIT}]{{1,6}}))?"
    rf"|(?P<dotted>[{DIGIT}]{{1,4}}(?:点[{DIGIT}]{{1,4}}){{2,3}})(?![点十百千万])"
    rf"|(?P<radio>[{DIGIT}洞拐勾]{{0,24}}幺[{DIGIT}洞拐勾]{{1,24}}|[{DIGIT}洞拐勾]{{1,24}}幺)(?![十百千万亿])"
    rf"|(?P<whole>[{_RUN}]{{1,12}})点(?P<dec>[{DIGIT}]{{1,6}})(?![十点])(?=(?:{_UNIT}|[A-Za-z%万亿])(?!刻))"
    rf"|(?P<run>[{_RUN}]{{1,24}})"
)

_AFTER_UNIT: Final = re.compile(rf"(?:来|多|余)?(?:{_UNIT})")
_AFTER_RANGE: Final = re.compile(rf"(?:到|至|~|-|—)(?:第)?[{_RUN}\d]{{1,8}}(?:{_UNIT}|点)")
_AFTER_TIME: Final = re.compile(rf"点(?:钟|整|半|前|后|以前|以后|之前|之后|到|至|[{_RUN}\d]{{1,3}}分)")
_AFTER_DAY: Final = re.compile("[日号]")
_RANGE_OPEN: Final = re.compile(rf"[{_RUN}\d点][到至]$")


def written(text: str) -> str:
    """The text with its spoken numerals as figures. Expects folded width and Simplified characters."""
    return _tidy(_SCAN.sub(_rewrite, text))


def _rewrite(match: re.Match[str]) -> str:
    if match["keep"]:
        return match[0]
    if match["all"]:
        return "100%"
    if match["dotted"]:
        return ".".join(digits(part) for part in match[0].split("点"))
    if match["radio"]:
        return digits(match[0]) if len(match[0]) > 2 or _touches_code(match) else match[0]
    if match["per"]:
        return _share(match)
    if match["whole"]:
        whole = _number(match["whole"])
        return match[0] if whole is None else f"{whole}.{digits(match['dec'])}"
    return _run(match)


def _share(match: re.Match[str]) -> str:
    whole = _number(match["share"])
    if whole is None:
        return match[0]
    tail = f".{digits(match['share_dec'])}" if match["share_dec"] else ""
    return f"{whole}{tail}{'%' if match['per'] == '百' else '‰'}"


def _number(run: str) -> str | None:
    """A cardinal, or a string of digits, as figures."""
    value = cardinal(run)
    if value is not None:
        return str(value)
    return digits(run) if all(c in DIGITS for c in run) and (len(run) > 2 or run == "零") else None


def _run(match: re.Match[str]) -> str:
    run, text, start, end = match[0], match.string, match.start(), match.end()
    before = text[max(0, start - 2) : start]
    if before[-1:] in _UNCERTAIN or text.startswith("几", end):
        return run
    if len(run) == 1:
        figures = _single(run, before, match)
    elif all(c in DIGITS for c in run):
        figures = _digit_run(run, before, match)
    else:
        value = cardinal(run)
        figures = run if value is None else str(value)
    apart = figures != run and _after_letter(text, start) and _AFTER_UNIT.match(text, end)
    return f" {figures}" if apart else figures


_UNCERTAIN: Final = ("几", "数", "好")
"""几十天 数百元 好几百: no value to write."""


def _after_letter(text: str, start: int) -> bool:
    """APP三天 must not become the code APP3."""
    left = text[max(0, start - 1) : start]
    return left.isascii() and (left.isalpha() or left == "_")


def _digit_run(run: str, before: str, match: re.Match[str]) -> str:
    if len(run) == 2 and run[0] == "零" and before[-1:] in ("年", "月", "天", "元", "块", "时"):
        return str(DIGITS[run[1]])
    if len(run) > 2 or "零" in run or "〇" in run or _touches_code(match):
        return digits(run)
    unit = _AFTER_UNIT.match(match.string, match.end())
    low, high = (DIGITS[c] for c in run)
    if unit and unit[0] == "折":
        return f"{low}.{high}"
    return f"{low}到{high}" if unit and (high == low + 1 or run == "三五") else run


def _touches_code(match: re.Match[str]) -> bool:
    """Is there a Latin letter, a figure or a joining sign right before or behind?"""
    text, start, end = match.string, match.start(), match.end()
    left, right = text[max(0, start - 1) : start], text[end : end + 1]
    return any(c.isascii() and (c.isalnum() or c in "_-") for c in left + right)


def _single(run: str, before: str, match: re.Match[str]) -> str:
    value = 10 if run == "十" else DIGITS.get(run)
    if value is None or (value == 1 and (before[-1:] in _WORD_ENDINGS or before == "其中")):
        return run
    proven = (
        _counted(value, match)
        or _timed(before, match)
        or _inside_figures(match)
        or bool(_DATA.match(match.string, match.end()))
    )
    return (
        str(value)
        if proven
        or (1 < value < 10 and _LONE_LETTER.search(match.string, max(0, match.start() - 2), match.start()))
        else run
    )


_DATA: Final = re.compile("[GgMmTt](?![A-Za-z])")
"""五G, 三M: what stands before the letter of a data volume or a network is a number."""

_WORD_ENDINGS: Final = ("统", "唯", "专", "逐", "哪", "那", "这", "另", "同", "每", "上", "下", "头")
"""统一 唯一 哪一年 另一张 同一笔: the 一 behind these counts nothing."""

_LONE_LETTER: Final = re.compile(r"(?<![A-Za-z])[A-Za-z]$")

_NOT_ONE: Final = ("个", "位", "升", "度")
"""一个 and 一位 are articles more often than numbers; 一升级 and 一度 are words."""


def _counted(value: int, match: re.Match[str]) -> bool:
    """A unit stands behind it, or it opens or ends a range."""
    text, end = match.string, match.end()
    unit = _AFTER_UNIT.match(text, end)
    if unit and value and not (value == 1 and unit[0] in _NOT_ONE and text[end + 1 : end + 2] != "半"):
        return True
    if value == 0:
        return False
    return bool(_AFTER_RANGE.match(text, end) or (text.startswith("点", end) and _range_end(match)))


def _timed(before: str, match: re.Match[str]) -> bool:
    """三 in 下午三点, 三点半, 三月三号."""
    text, end = match.string, match.end()
    if before.endswith("月") and _AFTER_DAY.match(text, end):
        return True
    return bool(_AFTER_TIME.match(text, end) or (text.startswith("点", end) and before in _TIME_BEFORE))


def _range_end(match: re.Match[str]) -> bool:
    return bool(_RANGE_OPEN.search(match.string, max(0, match.start() - 2), match.start()))


def _inside_figures(match: re.Match[str]) -> bool:
    """138零0013: a digit character in the middle of figures belongs to them."""
    text, start, end = match.string, match.start(), match.end()
    left, right = text[max(0, start - 1) : start], text[end : end + 1]
    return (
        left.isascii() and left.isdigit() and (match[0] in "零〇幺" or (right.isascii() and right.isdigit()))
    )


_SIZE: Final = {"百": 100, "千": 1000, "万": 10**4, "亿": 10**8}


def _months(match: re.Match[str]) -> str:
    return f"{int(match[1]) * 12 + 6}个月"


def _pieces(match: re.Match[str]) -> str:
    """三块五 is 3.5块."""
    return f"{match[1]}.{DIGITS.get(match[3], match[3])}{match[2]}"


def _multiplied(match: re.Match[str]) -> str:
    """1.2亿, 3万, 3万5 (the last figure counts the next lower place)."""
    size = _SIZE[match[2]]
    value = Decimal(match[1].replace(",", "")) * size + (int(match[3]) * size // 10 if match[3] else 0)
    return f"{value.normalize():f}"


_TIDY: Final[tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]] = (
    (re.compile(r"(?<!\d)(\d{1,12})个半(?=月|小时|钟头|星期|工作日)"), r"\1.5个"),
    (re.compile(r"(?<!\d)(\d{1,12})(天|小时|周|倍|公里|米|斤|块|元)半(?![个年])"), r"\1.5\2"),
    (re.compile(r"(?<!\d)(\d{1,12})点半"), r"\1点30分"),
    (re.compile(r"(?<!\d)(\d{1,12})年半"), _months),
    (re.compile(r"(?<![上下大前后小多])半年"), "6个月"),
    (re.compile(r"(?<![大小多])半个?(?:小时|钟头)"), "30分钟"),
    (
        re.compile(
            r"(?<![\d.])(\d{1,12})([块元])([1-9一二三四五六七八九])(?:[毛角]钱?|(?=[钱的，。！？；、,!?;\s]|$))"
        ),
        _pieces,
    ),
    (
        re.compile(
            r"(?<![\d.,])(\d{1,3}(?:,\d{3}){1,3}|\d{1,12}(?:\.\d{1,6})?)([万亿])(?:(\d)(?![\dA-Za-z]))?"
        ),
        _multiplied,
    ),
    (re.compile(r"(?<![\d.])(\d{1,12}(?:\.\d{1,6})?)([百千])()(?=元|块|人|次|个|台|张|件)"), _multiplied),
)
"""Second step, over figures whoever wrote them: the recogniser itself writes 2年半 and 3万."""


def _tidy(text: str) -> str:
    for pattern, form in _TIDY:
        text = pattern.sub(form, text)
    return text
