"""Which kind of figure a question asks for, and whether a passage holds one. Pure.

A passage about the right thing that states no weight cannot answer 首重几公斤. Only questions that ask for a figure
by 几, 多少 or 百分之几 are read; all others ask for nothing this file knows.
"""

from __future__ import annotations

import re
from typing import Final

from retrieval.facts import quantities
from retrieval.normalize import canonical

Units = frozenset[str]
"""Units that answer for one another: asked in days, 5个工作日 is an answer."""


def _units(names: str) -> Units:
    return frozenset(names.split())


_MONEY: Final = _units("元 角 分 美元 欧元 日元 港元 %")
_TIME: Final = _units("天 日 个工作日 个自然日 周 月 个月 个季度 年 小时 分钟 秒 点")
_SHARE: Final = _units("% 折 个百分点 成")
_DATA: Final = _units("mb gb kb tb")
_SPEED: Final = _units("mbps gbps kbps mb")
_KINDS: Final = (
    _MONEY,
    _TIME,
    _SHARE,
    _DATA,
    _SPEED,
    *map(
        _units,
        ("次 回 趟 遍", "公斤 斤 克 毫克", "米 厘米 毫米 公里 寸", "w kw", "层 楼", "张 份", "台 部 个"),
    ),
    *map(_units, ("度", "位", "件", "条", "户", "期", "人")),
)

_IN_WORDS: Final = {
    _MONEY: re.compile("免费|免收|免首|免运费|包邮|不收|不另收|不计费"),
    _TIME: re.compile("次日|当日|当天|次月|当月|月底|月初|年底|随时|立即|即时|实时|长期|永久|终身"),
}
"""Answers to how much and when that hold no figure."""

_NAMED: Final = (
    (re.compile("多少(?:个?钱|费用|手续费|运费|邮费|租金|押金|违约金|金额|额度)|几个钱|几毛"), _MONEY),
    (
        re.compile("几块(?![儿屏板电硬])|(?:[收付掏交扣补赔]|加收|另加)多少(?![^钱费块元，。？?吗呢啊呀])"),
        _MONEY,
    ),
    (re.compile("(?:费|租|价|押金|金额|违约金)(?:[是要有用]|一共|总共)?多少"), _MONEY),
    (re.compile("百分之(?:几|多少)|(?:几|多少)个百分点|几折|几成"), _SHARE),
    (re.compile("多少(?:国内|国际|全国|定向)?流量|流量[是有]?多少"), _DATA),
    (re.compile("(?:网速|速度|速率)[是有]?多少"), _SPEED),
)
"""Kinds that are asked for without their unit."""

_HOW_MANY: Final = re.compile(r"(?:(?<![好哪十百千万两三])几|多少)(?:个?(?=[a-zA-Z])|(?=[^\W\d_]))")
_MARKER: Final = "97531"
"""Put where 几 and 多少 stand, so that the reader of figures tells the unit; no question says this number itself."""


def asked_units(question: str) -> tuple[Units, ...]:
    """The kinds of figure asked for, each as the units that would answer it; empty when none is.

    >>> [sorted(kind) for kind in asked_units("首重按几公斤算")]
    [['克', '公斤', '斤', '毫克']]
    """
    text = canonical(question)
    kinds = [kind for pattern, kind in _NAMED if pattern.search(text)]
    if not kinds:
        named = {q.unit for q in quantities(_HOW_MANY.sub(_MARKER, text)) if q.value == _MARKER}
        kinds = [kind for kind in _KINDS if kind & named]
    return tuple(dict.fromkeys(kinds))


def states_figure(text: str, kind: Units) -> bool:
    """Whether a text holds a figure of this kind, or says in words what it would be (免费, 次日)."""
    plain = canonical(text)
    words = _IN_WORDS.get(kind)
    return any(q.unit in kind for q in quantities(plain)) or bool(words and words.search(plain))


def slot_missing(question: str, text: str) -> bool:
    """Whether the question asks for a figure and the text holds none of any kind that would answer."""
    kinds = asked_units(question)
    return bool(kinds) and not any(states_figure(text, kind) for kind in kinds)
