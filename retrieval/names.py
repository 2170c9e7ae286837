"""Names in a sentence that none of its passages holds: firms, offices, places, people, titles, foreign words. Pure.

Names are told by their endings (公司, 法院, 街) and marks (《》“”), not by a model: what has none of them is left to
the relevance check.
"""

from __future__ import annotations

import re
from typing import Final

from retrieval.alignment import Claim

_ENDINGS: Final = (
    "有限责任公司|股份有限公司|有限公司|公司|集团|银行(?![卡账])|医院|卫生院|诊所|法院|检察院|公安局|派出所|看守所|律师事务所|事务所|大学|学院|研究院"
    "|研究所|交易所|基金会|协会|委员会|税务局|工商局|影业|传媒|工厂|商城|营业厅|售后仓|号仓|区仓"
)
_NAMED: Final = re.compile(f"(?P<name>[\u4e00-\u9fff]{{1,16}}?)(?P<ending>{_ENDINGS})")
_PLACED: Final = re.compile(
    r"(?P<name>[\u4e00-\u9fff]{1,3})(?P<ending>(?<![节反])省|(?<![上城超门夜股都])市(?![场值区]|[\u4e00-\u9fff]?场)|自治区"
    "|(?<![市地片小社东南西北城郊分战禁误])区(?![域别间分块仓])|县|镇|乡(?!村)|街道|街|大道"
    "|(?<![线思电铁公网套出退销短通开回原])路(?![由径线段灯况程上口]))"
)
_PERSON: Final = re.compile(
    "(?P<name>[\u4e00-\u9fff])(?P<ending>某某|某[甲乙丙丁]?|先生|女士|医生|律师|法官|经理)"
)
_EDGE: Final = frozenset(
    "的了在是和与及或由对向被把将从到为给让以据按经因于该本我贵其各每某这那第：，。；、（）()“”《》 \n\t"
)
"""What may stand before a name in its passage without belonging to it."""

_CUT: Final = re.compile(f"[{re.escape(''.join(sorted(_EDGE)))}]")
_GENERIC: Final = frozenset(
    {"公司", "医院", "法院", "银行", "大学", "学院", "协会", "工厂", "商城", "营业厅"}
)

_PLAIN: Final = re.compile(
    "首先|其次|同时|此外|另外|随后|最后|因此|目前|今年|去年|上市|[一这两多]家|[母子总分该本我贵全各其]|使得?|通过|对于|关于|表明|显示|表示"
    "|认为|帮助|令|当地|外地|附近|人民|中级|高级|最高|上级|下级|上诉|快递|运营"
)
"""Words that stand before 公司, 医院 and the like without naming one."""

_QUOTED: Final = re.compile("《([^《》]{1,40})》|“([^“”]{1,40})”")
_LATIN: Final = re.compile(r"(?<![a-z0-9_.\-])[a-z][a-z]{2,}(?![a-z0-9_.\-])")
_COMMON: Final = re.compile("app|wifi|vip|e?sim|usb|led|pdf|sms|[mgk]bps|mah|[mgk]hz|hdmi|mmhg")


def unknown(claim: Claim) -> str:
    """A name that stands in no cited passage; empty if all do."""
    text = claim.sentence.text
    held = "\n".join(reading.text for reading in claim.readings)
    return _plain_name(text, held) or next(
        (
            match[0]
            for pattern in (_NAMED, _PLACED)
            for match in pattern.finditer(text)
            if _is_other(match["name"], match["ending"], held)
        ),
        "",
    )


def _plain_name(text: str, held: str) -> str:
    """A title in its marks, a foreign word or a 某 that is not in `held`."""
    for match in _QUOTED.finditer(text):
        if _solid(match[1] or match[2]) not in _solid(held):
            return match[0]
    for match in _LATIN.finditer(text):
        if match[0] not in held and not _COMMON.fullmatch(match[0]):
            return match[0]
    for match in _PERSON.finditer(text):
        if match["name"] not in _EDGE | {"人"} and match[0] not in held:
            return match[0]
    return ""


def _solid(text: str) -> str:
    return re.sub(r"\W+", "", text)


def _is_other(name: str, ending: str, held: str) -> bool:
    """Is there no such name in the text `held`? The longest end of it that is there must begin there, too.

    Of a plain 公司 or 医院 only the two characters before it are looked at: most often they are no name at all.
    """
    name = _CUT.split(name)[-1]
    near = name[-2:]
    if not name or _PLAIN.fullmatch(name) or _PLAIN.fullmatch(near):
        return False
    if ending in _GENERIC:
        return near not in held
    for first in range(len(name)):
        part = name[first:] + ending
        if part in held:
            return first > 0 and not _begins(part, held)
    return True


def _begins(part: str, held: str) -> bool:
    """Does the part stand somewhere as a whole name, with an edge before it?"""
    for match in re.finditer(re.escape(part), held):
        before = held[max(0, match.start() - 2) : match.start()]
        if not before or before[-1] in _EDGE or not before[-1].isalnum() or _PLAIN.fullmatch(before):
            return True
    return False
