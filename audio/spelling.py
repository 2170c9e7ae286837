"""Text as a Chinese voice can read it: codes spelled, digits in Chinese, symbols named. Pure.

Amounts, dates and telephone numbers should be in words before they come here; this is the last net, so that nothing
a Chinese voice cannot read is dropped in silence. The result holds Chinese, punctuation, single capital letters
(each read by its name) and lower-case Latin words (each read as a word).
"""

from __future__ import annotations

import re

DIGITS = "零一二三四五六七八九"

_MARKS = {
    "_": "下划线",
    ".": "点",
    "/": "斜杠",
    "@": "艾特",
    "+": "加",
    "#": "井号",
    "&": "和",
    ":": "冒号",
    "-": " ",
    ",": " ",
}
"""How a mark inside a code is read; a hyphen is only a breath, as people say RTX-4090."""

_SYMBOLS = {
    "%": "百分号", "‰": "千分号", "℃": "摄氏度", "°": "度", "×": "乘", "÷": "除以", "=": "等于", "≥": "大于等于",
    "≤": "小于等于", ">": "大于", "<": "小于", "+": "加", "&": "和", "@": "艾特", "#": "井号", "_": "下划线", "/": "或",
    "~": "到", "〇": "零", "①": "一", "②": "二", "③": "三", "④": "四", "⑤": "五", "⑥": "六", "⑦": "七", "⑧": "八",
    "⑨": "九", "⑩": "十",
}  # fmt: skip

_CHINESE_UNITS = {"kg": "千克", "km": "公里", "cm": "厘米", "mm": "毫米", "ml": "毫升", "mah": "毫安时"}
_SPELLED_UNITS = frozenset(
    {"kb", "mb", "gb", "tb", "kbps", "mbps", "gbps", "hz", "khz", "mhz", "ghz", "w", "v", "g", "k", "m"}
)
"""Units behind a number. In front of a unit the number is an amount; elsewhere in a code it is read digit by digit."""

_WORDS = frozenset({"wifi"})
"""Words whose capitals would have them spelled."""

_CHINESE = "[\u4e00-\u9fff]"
_MEASURES = "元块角分个天次台件条张位名份种倍周岁度米克小公毫千百万亿"

_RUN = re.compile(r"[¥￥]?[A-Za-z0-9]+(?:[_./@+#&:\-,][A-Za-z0-9]+)*[%‰]?")
_NUMBER = re.compile(r"([¥￥]?)(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?([%‰]?)")
_TIME = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")
_DATE = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})")
_RANGE = re.compile(r"([1-9]\d{0,3}(?:\.\d+)?)-([1-9]\d{0,3}(?:\.\d+)?%?)")
_WITH_UNIT = re.compile(r"(\d+(?:\.\d+)?)([A-Za-z]+)")
_CODE_PARTS = re.compile(r"[A-Za-z]+|\d+|.")
_CASES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def is_speakable(text: str) -> bool:
    """Whether there is anything to read: a letter, a digit or a Chinese character."""
    return any(character.isalnum() for character in text)


def speakable(text: str) -> str:
    """The text with every Latin letter, digit and symbol in a form that is read aloud.

    >>> speakable("ERR_2048是什么？")
    'E R R 下划线 二零四八 是什么？'
    >>> speakable("RTX-4090有10GB，update_address")
    'R T X 四零九零 有 十 G B，update 下划线 address'
    """
    folded = re.sub(r"(?<![\w%])-(?=\d)", "负", "".join(map(_half_width, text)))
    read = _RUN.sub(lambda run: f" {_run(run[0], folded[run.end() : run.end() + 1])} ", folded)
    read = "".join(_SYMBOLS.get(character, character) for character in read)
    read = re.sub(r"\s+", " ", read).strip()
    read = re.sub(r" ?([，。！？；：、,.!?;:]) ?", r"\1", read)
    return re.sub(rf"(?<={_CHINESE}) (?={_CHINESE})", "", read)


def cardinal(value: int) -> str:
    """A number from 0 below 10^16 as it is counted: 110 -> 一百一十, 12 -> 十二, 20005 -> 两万零五."""
    groups: list[int] = []
    while value or not groups:
        value, group = divmod(value, 10_000)
        groups.append(group)
    read = ""
    for power, group in reversed(list(enumerate(groups))):
        if group:
            gap = read and group < 1000
            read += (
                ("零" if gap else "") + _up_to_9999(group, leading=not read) + ("", "万", "亿", "万亿")[power]
            )
    return read or "零"


def _up_to_9999(value: int, *, leading: bool) -> str:
    read, gap = "", False
    for size, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = value // size % 10
        if digit:
            read += ("零" if gap and read else "") + DIGITS[digit] + unit
            gap = False
        else:
            gap = bool(read)
    read = re.sub(r"^二(?=千)", "两", read)
    return read.removeprefix("一") if leading and read.startswith("一十") else read


def digit_by_digit(digits: str) -> str:
    """Digits named one after the other."""
    return "".join(DIGITS[int(digit)] for digit in digits)


def _half_width(character: str) -> str:
    """Full-width letters and digits made ASCII; full-width punctuation is Chinese punctuation and stays."""
    narrow = chr(ord(character) - 0xFEE0) if "！" <= character <= "～" else character
    return narrow if narrow.isalnum() or narrow in "%+#&@/_-~=<>" else character


def _run(run: str, following: str) -> str:
    """One stretch of Latin letters and digits with the marks inside it."""
    if number := _NUMBER.fullmatch(run):
        return _amount(number, following)
    if clock := _TIME.fullmatch(run):
        return _clock(*clock.groups())
    if date := _DATE.fullmatch(run):
        year, month, day = date.groups()
        return f"{digit_by_digit(year)}年{cardinal(int(month))}月{cardinal(int(day))}日"
    if span := _RANGE.fullmatch(run):
        return f"{_run(span[1], following)}到{_run(span[2], following)}"
    measured = _WITH_UNIT.fullmatch(run)
    if measured and (unit := _unit(measured[2])):
        return f"{_run(measured[1], '个')} {unit}"
    # Between groups of digits (a telephone number) a breath must be heard, or they run into one number.
    grouped = re.sub(r"(?<=\d)-(?=\d)", "，", run)
    return " ".join(_code_part(part) for part in _CODE_PARTS.findall(grouped))


def _amount(number: re.Match[str], following: str) -> str:
    money, whole, decimals, percent = number.groups()
    unread = whole.replace(",", "")
    counted = following != "" and following in _MEASURES
    if whole == "2" and counted and decimals is None and following not in "百":
        read = "两"
    elif _is_name(whole, counted or bool(money or decimals), following):
        read = digit_by_digit(unread)
    else:
        read = cardinal(int(unread))
    if decimals is not None:
        read += f"点{digit_by_digit(decimals)}"
    read = {"%": "百分之", "‰": "千分之"}.get(percent, "") + read
    return f"{read}元" if money else read


def _is_name(whole: str, counted: bool, following: str) -> bool:
    """Digits that name something (a year, a number on a bill, a hotline) and are read one by one."""
    if "," in whole:
        return False
    if len(whole) > 1 and whole.startswith("0"):
        return True
    if following == "年" and len(whole) == 4:
        return True
    return len(whole) >= 16 or (len(whole) >= 5 and not counted)


def _clock(hours: str, minutes: str, seconds: str | None) -> str:
    read = f"{cardinal(int(hours))}点"
    if int(minutes) or seconds:
        read += ("零" if minutes[0] == "0" and int(minutes) else "") + f"{cardinal(int(minutes))}分"
    return f"{read}{cardinal(int(seconds))}秒" if seconds else read


def _unit(letters: str) -> str | None:
    folded = letters.casefold()
    if folded in _CHINESE_UNITS:
        return _CHINESE_UNITS[folded]
    return " ".join(letters.upper()) if folded in _SPELLED_UNITS else None


def _code_part(part: str) -> str:
    if part.isdecimal():
        return digit_by_digit(part)
    if not part.isalpha():
        return _MARKS.get(part) or _SYMBOLS.get(part, part)
    if part.casefold() in _WORDS:
        return part.casefold()
    return " ".join(
        piece.lower() if _is_word(piece) else " ".join(piece.upper()) for piece in _CASES.findall(part)
    )


def _is_word(letters: str) -> bool:
    """Read as a word: three letters or more with a vowel, not all capitals (API, VIP and POS are spelled)."""
    return (
        len(letters) >= 3
        and not letters.isupper()
        and re.search(r"[aeiouy]", letters, re.IGNORECASE) is not None
    )
