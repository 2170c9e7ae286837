"""A checked sentence as it is to be said: no marks, no markup, telephone numbers digit by digit, units by their names.

Runs after the check and may change no value. How digits, codes and Latin letters are read is audio/spelling.py's
matter; here is what only the agent knows: its marks, and which numbers are names and not amounts.
"""

from __future__ import annotations

import re

from audio.spelling import cardinal, digit_by_digit, speakable
from retrieval.marks import strip_marks
from voice_agent.reply.markup import without_markup

_COUNTED = "元块毛角分个天次台件条张位名份种倍周岁度米克小公毫千百万亿积步人户字页单笔兆瓦年月日号%％℃-"
"""What stands behind an amount. A number in front of one of these is never a telephone number by its digits alone."""

_PHONE = re.compile(
    r"(?<![\dA-Za-z.,_$＄¥￥-])(?:1[3-9]\d[ -]?\d{4}[ -]?\d{4}|[48]00[- ]?\d{3}[- ]?\d{4}|0\d{2,3}-\d{7,8}(?:-\d{1,5})?"
    rf"|(?:10|12)\d{{3}}|9[56]\d{{3,4}})(?![\dA-Za-z.,_]|\s*[{_COUNTED}])"
)
_NAME = (
    "订单号码?|单号|运单|快递单|工单号|流水号|编号|卡号|账号|户号|尾号|[后前末][三四六]位|验证码|取件码|提货码|密码|工号|号码"
    "|电话|热线|手机号?|拨打|致电|拨|分机|转|邮编|客服"
)
_NAMED = re.compile(
    rf"((?:{_NAME})[是为：:]?\s*[A-Za-z]{{0,4}})(\d{{3,32}}(?:[ -]\d{{1,8}}){{0,4}})"
    rf"(?![\dA-Za-z.,_]|\s*[{_COUNTED}]|\s*到)"
)
"""A number behind the word that says what it names; 转 is an extension."""

_LONG = re.compile(rf"(?<![\dA-Za-z.,_$＄¥￥-])\d{{8,32}}(?![\dA-Za-z.,_]|\s*[{_COUNTED}])")
"""So many digits that count nothing are a number to write down."""

_MANY = re.compile(r"(?<![\dA-Za-z.,_:/-])(\d{5,15})(?=\s*[积步人户字页笔单兆瓦毛号日])")
"""An amount of five digits and more before a word that audio/spelling.py does not know as a measure."""

_UNITS = {
    "GB": "G",
    "MB": "兆",
    "Mbps": "兆每秒",
    "GHz": "G赫兹",
    "MHz": "兆赫兹",
    "㎡": "平方米",
    "m²": "平方米",
}
"""Units a voice says by another word than their letters."""

_MEASURED = rf"(?:{'|'.join(_UNITS)}|[a-zA-Z℃%％‰]|[\u4e00-\u9fff])"
_RANGE = re.compile(
    r"(?<![\dA-Za-z.,_:/-])([¥￥]?\d[\d,]*(?:\.\d+)?[%％‰℃]?)\s*[-~～〜∼—–−]{1,2}\s*"
    rf"([¥￥]?\d[\d,]*(?:\.\d+)?)(?=\s*{_MEASURED})(?![-/]\d)"
)
_CLOCKS = re.compile(
    r"(?<![\d:])((?:[01]?\d|2[0-4]):[0-5]\d)\s*[-~～〜∼—–−至到]{1,2}\s*((?:次日)?(?:[01]?\d|2[0-4]):[0-5]\d)(?![\d:])"
)
_DOLLARS = re.compile(r"(?:US)?[$＄]\s?(\d[\d,]*(?:\.\d+)?)")
_ROOM = re.compile(r"(?<!\d)\d{3,4}(?=[室房])")
_YUAN_RANGE = re.compile(r"([¥￥]\d[\d,]*(?:\.\d+)?)\s*[-~～—–−]\s*[¥￥]?(\d[\d,]*(?:\.\d+)?)(?![\d元-])")
_YEARS = re.compile(r"(?<![\d-])(\d{4})\s*[-~～—–]\s*(\d{4})年")
_RATIO = re.compile(r"(?<![\d:])(\d{1,3}):(\d)(?![\d:])")
_BELOW_ZERO = re.compile(
    r"(?<=[至到为是约在于达])[-−](?=\d)|(?<![\dA-Za-z])[-−](?=\d[\d.]*\s*(?:℃|°|摄氏度|度))"
)
_RATE = re.compile(
    r"(\d\s*(?:元|角|分|块|美元|积分|次|条|个|件|[KMG]B|[kMG]b)?)\s*/\s*"
    r"(分钟|小时|秒|天|日|周|月|季度|年|次|条|个|件|台|人|户|单|笔|份|张|位|GB|MB|米|公里|公斤|吨|平方米|s(?![A-Za-z]))"
)
"""99元/月 is a price a month; 和/或 is left to audio/spelling.py."""

_ORDINAL = re.compile(r"第\s?(\d{1,8})(?![\d.,:])")
_DAY = re.compile(r"(?<!\d)(\d{4}[-/]\d{1,2}[-/]\d{1,2})[日号](?!\d)")


def spoken_form(sentence: str) -> str:
    """The words to synthesise.

    >>> spoken_form("退款在3到5个工作日内到账。[S1]")
    '退款在三到五个工作日内到账。'
    >>> spoken_form("请拨打400-820-8820。")
    '请拨打四零零八二零八八二零。'
    """
    text = _half_width(without_markup(strip_marks(sentence)))
    text = _PHONE.sub(lambda found: _digits(found[0]), text)
    text = _NAMED.sub(lambda found: found[1] + _digits(found[2]), text)
    text = _LONG.sub(lambda found: _digits(found[0]), _ROOM.sub(lambda found: _digits(found[0]), text))
    return speakable(_units(_spans(_DAY.sub(r"\1", text))))


def _half_width(text: str) -> str:
    """３．５ and １０：３０ as every rule here writes them; punctuation of the sentence stays."""
    folded = "".join(chr(ord(c) - 0xFEE0) if "０" <= c <= "９" else c for c in text)
    return re.sub(r"(?<=\d)[．：](?=\d)", lambda found: ".:"["．：".index(found[0])], folded)


def _spans(text: str) -> str:
    """Ranges, rates, ratios and foreign money in words, so that no sign is left that a voice reads otherwise."""
    text = _DOLLARS.sub(r"\1美元", text)
    text = _BELOW_ZERO.sub("负", _RATIO.sub(_ratio, text))
    text = _RATE.sub(_rate, _YEARS.sub(r"\1年到\2年", text))
    text = _CLOCKS.sub(r"\1到\2", text)
    text = _YUAN_RANGE.sub(r"\1到¥\2", text)
    text = _RANGE.sub(r"\1到\2", text)
    text = _MANY.sub(lambda found: cardinal(int(found[1])), text)
    return _ORDINAL.sub(lambda found: f"第{cardinal(int(found[1]))}", text)


def _ratio(found: re.Match[str]) -> str:
    return f"{cardinal(int(found[1]))}比{cardinal(int(found[2]))}"


def _rate(found: re.Match[str]) -> str:
    return f"{found[1]}每{'秒' if found[2] == 's' else found[2]}"


def _units(text: str) -> str:
    for unit, word in _UNITS.items():
        text = re.sub(rf"(?<=\d)\s*{unit}(?![A-Za-z])", word, text)
    return text


def _digits(number: str) -> str:
    """1 is said 幺, or it would be heard as 七."""
    return digit_by_digit(re.sub(r"\D", "", number)).replace("一", "幺")
