"""What a caller or a program lays down about where to look: a day, tags, an edition, a period, what not. Pure.

From a caller's words only what is plain: 去年的退货政策, 按3月1号那时候的规定, 2023年之后的资费, 上个版本的说明,
V2.3固件, 除了信用卡, 储蓄卡但不是信用卡. A wrong filter loses the right passage without a trace, so that words which
can mean something else (去年买的耳机, 去年的规定现在还算吗, 不要发票) lay nothing down.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from retrieval.normalize import canonical
from retrieval.periods import Period, periods


@dataclass(frozen=True, slots=True)
class Conditions:
    """A passage may be found if it is valid on `as_of`, carries every tag, and is of this version.

    `since` and `until` (inclusive) bound the days a passage is about: the years in its title, and the days on which it
    holds, or with `effective` the day on which it began to. `without` names things: passages about nothing else are
    left out, and `wanted` is what was named beside them. `previous` asks for the edition before the present one.
    `heard` are the fields that were understood from words: when they leave nothing to search, they are lifted.
    """

    as_of: date
    tags: tuple[str, ...] = ()
    version: str | None = None
    without: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    effective: bool = False
    previous: bool = False
    wanted: str = ""
    heard: tuple[str, ...] = ()


_TEXTS: Final = ("tags", "without")
_DAYS: Final = ("since", "until")


def laid_down(filters: Mapping[str, object], as_of: date) -> Conditions:
    """Conditions from a JSON object with any of tags, without, version, since and until (dates like 2026-01-31).

    Raises ValueError naming the field that cannot be read.
    """
    return Conditions(
        as_of, **{name: _given(name, value) for name, value in filters.items() if value is not None}
    )


def _given(name: str, value: object) -> Any:
    if name in _TEXTS and isinstance(value, list) and all(isinstance(text, str) and text for text in value):
        return tuple(value)
    if name == "version" and isinstance(value, str):
        return value
    if name in _DAYS and isinstance(value, str):
        return date.fromisoformat(value)
    raise ValueError(f"filter {name}: {value!r} is no value of tags, without, version, since or until")


def conditions_of(
    question: str, as_of: date, versions: Collection[str] = (), given: Conditions | None = None
) -> Conditions:
    """The conditions of a question asked on `as_of`, on top of what a program has `given`, which no word overrules.

    `versions` are those of the knowledge base: a version is only heard when it is one of them. Any text is accepted.
    """
    laid = given or Conditions(as_of)
    text = canonical(question)
    if laid.since is None and laid.until is None:
        laid = _with_period(laid, text)
    if laid.version is None:
        laid = _with_version(laid, text, versions)
    if not laid.without:
        laid = _with_exclusion(laid, text)
    return laid


def lifted(conditions: Conditions, as_of: date) -> Conditions:
    """The conditions without what was heard, on the day of the question."""
    plain = Conditions(as_of)
    kept = replace(conditions, **{name: getattr(plain, name) for name in conditions.heard})
    return replace(kept, heard=())


_RULE: Final = (
    "(?:政策|规定|规则|规矩|标准|条款|办法|细则|制度|协议"
    "|资费|价格|价目|收费|费率|费用|门槛|期限|手册|说明书?|版本)"
)
"""What has editions. 去年的耳机 is a thing bought then, and which rule it falls under is not said."""

_FREE: Final = "[^，。！？；、,!?;我你您他她它谁]"
_DOUBT: Final = re.compile(
    "现在|目前|如今|眼下|最新|听说|不是|区别|相比|比起|一样|能按|可以按|能不能|可不可以|会不会|是不是|有没有|算数|作数|适用"
    "|还(?!款|价|机)|改(?![派签址地])|变(?!更)|涨|降(?!级)|新(?![疆人]|用户)|到期|过期|买的|办的|签的"
)
"""With one of these in it, the question compares, doubts or tells a story: its day is not plainly the rule's day."""

_IN_FORCE: Final = re.compile(
    rf" ?(?P<then>那个?时候|那会儿|那阵子?|当时|那天|那年|那个月)?的? ?{_FREE}{{0,12}}?{_RULE}"
)
_BY: Final = re.compile("(?:按照?|依照?|根据|照)$")
_ISSUED: Final = re.compile(
    rf" ?(?:新)?(?:出台|发布|颁布|公布|实施|施行|执行|生效|推出|上线|上市)的 ?{_FREE}"
)
_OF: Final = re.compile(" ?的")


def _with_period(laid: Conditions, text: str) -> Conditions:
    """The period, if exactly one is named and plainly that of the rule asked for."""
    named = periods(text, laid.as_of)
    if len(named) != 1:
        return laid if named or laid.previous else _with_previous(laid, text)
    period = named[0]
    if _ISSUED.match(text, period.end):
        return _marked(laid, since=period.first, until=period.last, effective=True)
    if period.side == "after" and (_OF.match(text, period.end) or _in_force(text, period)):
        return _within(laid, period)
    return _within(laid, period) if _in_force(text, period) and not _DOUBT.search(text) else laid


def _in_force(text: str, period: Period) -> bool:
    """Is it a rule of that time? 去年的退货政策, 按3月1号那时候的规定; not 去年买过, 价格说明."""
    behind = _IN_FORCE.match(text, period.end)
    joined = text[period.end :].lstrip().startswith("的")
    return bool(behind and (joined or behind["then"] or _BY.search(text[: period.start])))


def _within(laid: Conditions, period: Period) -> Conditions:
    """A past period is judged by its last day, a coming one by its first; one that holds the day moves nothing."""
    day = laid.as_of
    if period.last is not None and period.last < day:
        day = period.last
    elif period.first is not None and period.first > day:
        day = period.first
    return _marked(laid, as_of=day, since=period.first, until=period.last)


_LAST_EDITION: Final = rf"(?:上一?个?版本?|前一个?版本?)(?!面)的?{_FREE}"
_OLD: Final = "(?:旧版本?|老版本?|以前|之前|原来|原先|从前)的 ?"
_EARLIER: Final = re.compile(rf"{_LAST_EDITION}|{_OLD}(?:(?!订单|单子|商品|东西|号码){_FREE}){{0,8}}?{_RULE}")


def _with_previous(laid: Conditions, text: str) -> Conditions:
    plain = _EARLIER.search(text) and not _DOUBT.search(text)
    return _marked(laid, previous=True) if plain else laid


_VERSION: Final = re.compile(
    r"(?<![a-z\d.])(?:v ?\d+(?:\.\d+)*|\d+(?:\.\d+)+)(?![a-z\d]|\.\d)", re.IGNORECASE
)
_VERSION_NOUN: Final = re.compile(" ?(?:的 ?)?(?:版|固件|系统)")
_NOUN_VERSION: Final = re.compile("(?:版本|固件|系统)(?:号|是)? ?$")


def _with_version(laid: Conditions, text: str, versions: Collection[str]) -> Conditions:
    """The version of the knowledge base that is named as one: V2.3固件, 版本2.3. Two of them are a comparison."""
    known = {_version_key(version): version for version in versions if version}
    named = {
        known[key]: _is_version(text, match)
        for match in _VERSION.finditer(text)
        if (key := _version_key(match[0])) in known
    }
    return _marked(laid, version=next(iter(named))) if list(named.values()) == [True] else laid


def _is_version(text: str, match: re.Match[str]) -> bool:
    behind, before = _VERSION_NOUN.match(text, match.end()), _NOUN_VERSION.search(text[: match.start()])
    return bool(behind or before)


def _version_key(version: str) -> str:
    return canonical(version).lower().replace(" ", "").removeprefix("v")


_WORDS: Final = "[^，。！？；、,!?;]"
_THING: Final = f"(?P<thing>{_WORDS}{{1,16}}?)"
_WANTED: Final = f"(?P<wanted>{_WORDS}{{1,16}})"
_STOP: Final = "(?=[，。！？；,!?;]|$)"
_BEGIN: Final = "(?:^|(?<=[，。！？；,!?;]))我?(?:说|问|要|想要)?的?"
_EXCLUSIONS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:除了|(?<![\u4e00-\u9fff])除){_THING}(?:之外|以外|(?<!海)外{_STOP})",
        rf"除了{_THING}(?:{_STOP}|还|都|呢)",
        rf"{_WANTED}[，,]? ?[但而可]不(?:是|要|包括|包含|含){_THING}(?:的|{_STOP})",
        rf"{_BEGIN}不要{_THING}的{_STOP}",
        rf"{_BEGIN}不是{_THING}[，,] ?我?(?:说|问|要)?的?是{_WANTED}",
        rf"{_WANTED}[，,] ?不是{_THING}的?$",
    )
)
_NO_THING: Final = re.compile("[吗呢么啥哪谁几我你您他她它这那此其]|什么|怎么|多少|为何|是不是|不")
_TAIL: Final = re.compile("(?:那种|这种|一类|之类|类|的)+$")


def _with_exclusion(laid: Conditions, text: str) -> Conditions:
    """What is plainly named as not meant. A pronoun or a whole clause names nothing."""
    for pattern in _EXCLUSIONS:
        match = pattern.search(text)
        if match is None:
            continue
        thing = _TAIL.sub("", match["thing"].strip())
        if thing and not _NO_THING.search(thing):
            wanted = match.groupdict().get("wanted") or ""
            things = tuple(part for part in re.split("[和与及跟或、]|以及", thing) if part)
            return _marked(laid, without=things, wanted=wanted.strip())
    return laid


_MANNER: Final = ("effective", "wanted")
"""How another field is meant: without that one they narrow nothing."""


def _marked(laid: Conditions, **fields: Any) -> Conditions:
    """The conditions with these fields, each that narrows the search remembered as heard."""
    plain = Conditions(laid.as_of)
    said = tuple(name for name, value in fields.items() if value != getattr(plain, name))
    said = tuple(name for name in said if name not in _MANNER)
    return replace(laid, heard=(*laid.heard, *said), **fields)
