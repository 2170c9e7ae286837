"""What stands around a figure and changes what it promises: its bound, its vagueness, its time and its rate. Pure.

至少3天 3天内 约3天 3天后 提前3天 每月3天 are six promises about one figure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

Bound = Literal["", ">=", ">", "<=", "<", "reach"]
"""`reach` is 达到: in a condition it means at least, in a report it means exactly."""


@dataclass(frozen=True, slots=True)
class Qualifier:
    """`time` is after, before, ahead, first, recent or next; `change` is by (提高了) or to (提高到).

    `inside`: the bound is a plain 内 behind the figure, which a noun like 期限 can stand for.
    """

    bound: Bound = ""
    about: bool = False
    inside: bool = False
    time: str = ""
    change: str = ""


_CAN: Final = "(?:得|能|可以|可|应该|应|要|会|允许|准|宜)?"
_FAR: Final = r"[^，。；：、！？,;\d]{0,7}$"
"""Between 最多 and its figure a verb may stand: 最多可以连接64台."""

_MORE: Final = "(?:超过|超出|超|大于|高于|多于|长于|晚于|迟于)"
_LESS: Final = "(?:少于|低于|小于|短于|早于|不足|不满)"
_NEAR: Final = "(?:了|约|过|有)?$"
_THAN: Final = r"[^，。；：、！？,;\d收付的加交]{0,5}$"
"""Between 低于 and its figure stands at most what is measured: 低于签约速率90%."""

_BEFORE: Final[tuple[tuple[re.Pattern[str], Bound], ...]] = (
    (re.compile(f"(?:不{_CAN}|[未没]有?){_MORE}{_FAR}"), "<="),
    (re.compile(f"(?:不{_CAN}|[未没]有?){_LESS}{_FAR}"), ">="),
    (re.compile(f"(?:最多|至多|最高|最长|最大|最晚|最迟|顶多|上限|封顶|限额|小于等于|≤){_FAR}"), "<="),
    (re.compile(f"(?:至少|最少|最低|最短|最小|起码|下限|大于等于|≥){_FAR}"), ">="),
    (
        re.compile(
            f"(?:不满|未满|没满|没有满|不足|不到|没到|未达到?|没有?达到|不够|不及|<){_NEAR}|(?:少于|低于|小于|短于){_THAN}"
        ),
        "<",
    ),
    (re.compile(f"(?:逾|突破|不止|超|>){_NEAR}|(?:超过|超出|大于|高于|多于|长于){_THAN}"), ">"),
    (re.compile(f"(?<![未充圆])满{_NEAR}"), ">="),
    (re.compile("(?:达到|达至|达)(?:约|过|有)?$"), "reach"),
)
_BEHIND: Final[tuple[tuple[re.Pattern[str], Bound], ...]] = (
    (re.compile("[及或]?以上|起(?![算诉源见伏飞草])"), ">="),
    (re.compile("[及或]?以下|内(?![存容部地科径])|封顶|为限|为上限"), "<="),
    (re.compile("[以之]外|开外"), ">"),
)
_INSIDE: Final = re.compile("内")
_ABOUT_BEFORE: Final = re.compile("(?:约|大约|约为|大概|差不多|将近|接近|近)$")
_ABOUT_BEHIND: Final = re.compile("(?:钱)?(?:左右|上下|前后|出头)")
_TIME_BEFORE: Final = (
    (re.compile("(?:提前|早)$"), "ahead"),
    (re.compile("(?<![之以提])前$"), "first"),
    (re.compile("(?:最近|(?<![将接附])近|过去)$"), "recent"),
    (re.compile("(?:接下来|未来|今后)$"), "next"),
)
_TIME_BEHIND: Final = (
    (re.compile("后(?![台续备]|[\u4e00-\u9fff]?位)"), "after"),
    (re.compile("，?[再才](?=[\u4e00-\u9fff])"), "after"),
    (re.compile("前(?![台往提])"), "before"),
)
_CHANGED: Final = (
    "(?:提高|增加|上调|上升|增长|上涨|升高|提升|扩大|减少|降低|下调|下降|下跌|缩短|延长|缩减|[增减升降涨跌])"
)
_TO: Final = re.compile(f"{_CHANGED}(?:到了?|至|为|成)约?$")
_BY: Final = re.compile(f"{_CHANGED}(?:了|达|(?:率|额|幅度?)[为是达]?)?约?$|(?<![最至不])[多少]$")
_LONG: Final = frozenset("天日月年周时期")


def qualifier(before: str, behind: str, unit: str) -> Qualifier:
    """Reads the words right before and right behind a figure, each up to the next figure or stop.

    `unit` decides what 近 means: 近12个月 is a span of time, 近300元 is a vague amount.
    """
    bound: Bound = next((name for pattern, name in _BEFORE if pattern.search(before)), "")
    if bound in ("", "reach"):
        bound = next((name for pattern, name in _BEHIND if pattern.match(behind)), bound)
    long = bool(unit) and unit[-1] in _LONG
    recent = long and before.endswith("近") and not before.endswith(("将近", "接近", "附近"))
    about = bool(_ABOUT_BEHIND.match(behind)) or (bool(_ABOUT_BEFORE.search(before)) and not recent)
    time = next((name for pattern, name in _TIME_BEFORE if pattern.search(before)), "")
    if time == "recent" and not long:
        time = ""
    tail = re.sub("^(?:左右|上下|[及或]?以上|内)", "", behind)
    time = time or next((name for pattern, name in _TIME_BEHIND if pattern.match(tail)), "")
    change = "to" if _TO.search(before) else "by" if _BY.search(before) else ""
    inside = bound == "<=" and bool(_INSIDE.match(behind))
    return Qualifier(bound, about, inside, time, change)


_RATE: Final = re.compile(
    "每(?:天|月|年|周|季度|小时|分钟|秒|单|人|次|台|件|张|份|户|条|层|米|期|股|位|名|个|公里|公斤|[gmkt]b)"
    "|累计|合计|总计|共计|日均|月均|年均|人均|首月|次月|当月|首年|单件|一次性|日利率|月利率|年利率|年化|日息|月息"
    "|(?<=[\u4e00-\u9fffa-z%])/(?:分钟?|小时|天|日|周|月|年|次|人|kg|公斤|平方米|升|ml|l)(?![a-z])"
)
_RATE_NAME: Final = {
    "日均": "每天",
    "月均": "每月",
    "年均": "每年",
    "人均": "每人",
    "单件": "每件",
    "日利率": "每天",
    "日息": "每天",
    "月利率": "每月",
    "月息": "每月",
    "年利率": "每年",
    "年化": "每年",
    "合计": "累计",
    "总计": "累计",
    "共计": "累计",
}
_PERIODS: Final = frozenset(
    {"每天", "每月", "每年", "每周", "每季度", "每小时", "每分", "每秒", "首月", "次月", "首年", "当月"}
)


def rates(text: str) -> frozenset[str]:
    """What a stretch of folded text counts by, in one form: 单笔 and 每单 alike, 累计, 每月.

    >>> sorted(rates("每天累计最多充值2000元"))
    ['每天', '累计']
    """
    found = (word.replace("/", "每").replace("分钟", "分") for word in _RATE.findall(text))
    return frozenset(_RATE_NAME.get(word, word) for word in found)


def is_period(rate: str) -> bool:
    """每月 and 每年 exclude each other; 每月 and 每张 do not."""
    return rate in _PERIODS
