"""Which days a caller's words name: 去年, 2023年之后, 3月1号, 上个月. Pure; a day named by halves is no day.

Only whole expressions are read: a year in four figures, 去年, a month and a day. 两年前, 以前 and 最近 have no bounds
to search by, and are left alone.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Literal

Side = Literal["in", "after", "before"]
"""Where a caller puts what is asked: inside the days named, from their first day on, or before it."""


@dataclass(frozen=True, slots=True)
class Period:
    """Days named at [start, end) of a text. `first` and `last` are inclusive; None is an open end."""

    first: date | None
    last: date | None
    side: Side
    start: int
    end: int


_YEARS_AGO: Final = {"大前年": 3, "前年": 2, "去年": 1, "上一年": 1, "今年": 0, "明年": -1}

_DAY: Final = (
    r"(?:(?P<year>(?:19|20)\d\d)(?: ?年)?|(?P<ago>大前年|前年|去年|上一年|今年|明年))"
    r"(?:(?<=年) ?的? ?(?P<month>\d{1,2}) ?月份?(?: ?(?P<day>\d{1,2}) ?[日号])?)?"
)
_ISO: Final = r"(?P<iso>(?:19|20)\d\d-\d{1,2}-\d{1,2})"
_BARE_DAY: Final = r"(?P<bare_month>\d{1,2}) ?月份? ?(?P<bare_day>\d{1,2}) ?[日号]"
_LAST_MONTH: Final = "(?P<last_month>上个?月份?)"

_ONE: Final = re.compile(rf"(?<![\d.\-]){_ISO}(?![\d-])|(?<![\d.]){_DAY}|(?<!\d){_BARE_DAY}|{_LAST_MONTH}")
_LINK: Final = re.compile(" ?(?:到|至|~|-) ?")
_SIDES: Final[tuple[tuple[re.Pattern[str], Side], ...]] = (
    (re.compile(" ?(?:之后|以后|以来|起(?!来)|(?<=[年月日号])后(?![天年台面]))"), "after"),
    (re.compile(" ?(?:之前|以前|(?<=[年月日号])前(?![天年台面]))"), "before"),
)


def periods(text: str, today: date) -> tuple[Period, ...]:
    """All periods that a canonical text names, left to right, as one who speaks on `today` means them.

    A day without its year is the last one that has been: 3月1号 said on 2026-11-30 is 2026-03-01. 2023年之前 ends on
    2022-12-31 and 2023年之后 begins on 2023-01-01, so that neither loses a day it may mean.
    """
    return tuple(_periods(text, today))


def _periods(text: str, today: date) -> Iterator[Period]:
    at = 0
    while match := _ONE.search(text, at):
        at = match.end()
        span = _span(match, today)
        if span is None:
            continue
        first, last = span
        link = _LINK.match(text, at)
        upper = _ONE.match(text, link.end()) if link else None
        ends = _span(upper, today) if upper and _named(upper) else None
        if upper and ends and ends[1] >= first:
            at = upper.end()
            yield Period(first, ends[1], "in", match.start(), at)
            continue
        if not _named(match):
            continue
        period = _sided(text, first, last, match)
        at = period.end
        yield period


def _named(match: re.Match[str]) -> bool:
    """Four figures are a year only with 年 behind them; without it they are an amount or part of a range."""
    return match["year"] is None or "年" in match[0]


def _sided(text: str, first: date, last: date, match: re.Match[str]) -> Period:
    for pattern, side in _SIDES:
        if found := pattern.match(text, match.end()):
            if side == "after":
                return Period(first, None, side, match.start(), found.end())
            return Period(None, first - timedelta(days=1), side, match.start(), found.end())
    return Period(first, last, "in", match.start(), match.end())


def _span(match: re.Match[str], today: date) -> tuple[date, date] | None:
    """First and last day; None for a day that no calendar has."""
    try:
        return _read(match, today)
    except (ValueError, OverflowError):
        return None


def _read(match: re.Match[str], today: date) -> tuple[date, date]:
    if match["iso"]:
        day = date(*map(int, match["iso"].split("-")))
        return day, day
    if match["last_month"]:
        before = today.replace(day=1) - timedelta(days=1)
        return before.replace(day=1), before
    if match["bare_month"]:
        day = _last_one(int(match["bare_month"]), int(match["bare_day"]), today)
        return day, day
    year = int(match["year"]) if match["year"] else today.year - _YEARS_AGO[match["ago"]]
    if match["month"] is None:
        return date(year, 1, 1), date(year, 12, 31)
    month = int(match["month"])
    if match["day"] is None:
        return date(year, month, 1), date(year, month, monthrange(year, month)[1])
    return date(year, month, int(match["day"])), date(year, month, int(match["day"]))


def _last_one(month: int, day: int, today: date) -> date:
    this = date(today.year, month, day)
    return this if this <= today else date(today.year - 1, month, day)


_TITLE_YEAR: Final = re.compile(
    r"(?<!\d)(?P<first>(?:19|20)\d\d)(?: ?年?度? ?(?:到|至|~|-|—) ?(?P<last>(?:19|20)\d\d))?(?= ?(?:年|版))"
)


def title_years(title: str) -> tuple[int, int] | None:
    """The first and last year that a title names (2024年度报告, 2023-2024年细则); None when it names none.

    >>> title_years("2023-2024年资费"), title_years("错误代码ERR_2048")
    ((2023, 2024), None)
    """
    years = [int(m[name]) for m in _TITLE_YEAR.finditer(title) for name in ("first", "last") if m[name]]
    return (min(years), max(years)) if years else None
