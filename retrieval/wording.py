"""One wording for two ways of saying the same small thing, so that checks compare meaning and not style. Pure.

For comparing only: what comes out is never shown or spoken. Figures must have been written first (`canonical`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from retrieval.normalize import canonical
from retrieval.numerals import DIGITS


def _tenths(match: re.Match[str]) -> str:
    """九成 is 90%, 三成五 is 35%."""
    whole = DIGITS.get(match[1], 0) if match[1] in DIGITS else int(match[1])
    return f"{whole * 10 + (5 if match[2] else 0)}%"


_COUNTED: Final = "台|张|件|次|单|笔|层|份|条|位|名|户|股|人|月|天|年|周|小时|分钟"

_FOLDS: Final[tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]] = (
    (re.compile(r"\*{1,3}|`{1,3}|~~"), ""),
    (re.compile("[之以](?=[内前后])"), ""),
    (re.compile("翻了(?=[一两二三四五几]?[番倍])"), "翻"),
    (re.compile("即可|便可"), "可以"),
    (re.compile(r"零(?=[到至]\d)"), "0"),
    (re.compile("(?:的话|一下|一共|总共)"), ""),
    (re.compile("(?:首|第一)(?=[次个张单件笔条批期])"), "第1"),
    (re.compile("每[一1]?个(?=月|工作日|自然日|小时|星期|订单)"), "每"),
    (re.compile("每[一1](?=[\u4e00-\u9fff])"), "每"),
    (re.compile("每日|单日(?!元)"), "每天"),
    (re.compile(r"(?<![\d第.])[1一]日(?=\d+次)"), "每天"),
    (re.compile("单月"), "每月"),
    (re.compile("每笔订单|每份订单|每订单|单笔|每笔"), "每单"),
    (re.compile("单次"), "每次"),
    (re.compile("(?<![首当次每各上下本个])月(?:租费?|费)"), "每月费"),
    (
        re.compile(
            rf"(?<![\d第.])[1一]个?({_COUNTED})(?=(?:只?要|收费?|是)?\d+(?:\.\d+)?(?:美?元|块|gb|mb|分钟|次))"
        ),
        r"每\1",
    ),
    (re.compile(r"(?<=元)[/1一](?:个)?(?=(?:月|天|年|次|台|张|件|单|条|层|份)(?![\u4e00-\u9fff]))"), "每"),
    (
        re.compile(
            r"(?<![\d一二三四五六七八九十])([1-9一二三四五六七八九])成(?![不为员立本熟功交])([五半])?"
        ),
        _tenths,
    ),
    (re.compile("不免收"), "收取"),
    (re.compile("免(?:收|交|缴|付|除)(?:了)?"), "不收"),
    (re.compile("免(?=(?![费息密税])[\u4e00-\u9fff]{1,5}费)"), "不收"),
)
"""In this order. 免运费 becomes 不收运费; 免费 免息 are words of their own."""


_FORMAL_DIGITS: Final = str.maketrans("壹贰叁肆伍陆柒捌玖拾佰仟", "一二三四五六七八九十百千")
_FORMAL: Final = re.compile("[零壹贰叁肆伍陆柒捌玖拾佰仟万亿]{2,24}[圆元整]?|[壹贰叁肆伍陆柒捌玖拾][圆元]")
"""How amounts are written on receipts. One such character alone is a name more often than a number."""


def _formal(match: re.Match[str]) -> str:
    return match[0].translate(_FORMAL_DIGITS).replace("圆", "元")


@lru_cache(maxsize=4096)
def folded(text: str) -> str:
    """The canonical text in lower case with the variants above made one.

    >>> folded("签收之后三天以内免收运费")
    '签收后3天内不收运费'
    """
    text = canonical(_FORMAL.sub(_formal, text)).lower()
    for pattern, form in _FOLDS:
        text = pattern.sub(form, text)
    return text
