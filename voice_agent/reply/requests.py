"""What a caller asks of the call itself rather than of the documents. Pure, a closed list.

Listened to by sound as well: a demand for a person must not fail because the recogniser wrote 转人公 or 战人工.
"""

from __future__ import annotations

import re

from pypinyin import lazy_pinyin

_HUMAN = r"(?:人工|真人|活人)(?:客服|服务|坐席|座席)?"
_PERSON = re.compile(
    rf"(?:转接?|接通?|找|要|叫|换|让)(?:到|给|一下|一?个|你们的?)?(?:{_HUMAN}|客服人员|经理|领导|主管)"
    r"|(?:找|叫|让|换)(?:一?个|你们的?)?人(?:来|跟我|和我|接|说|听)"
    rf"|^\W*(?:我?[想要]要?|麻烦|请)?{_HUMAN}\W*$"
)
_SOUNDS_LIKE_PERSON = re.compile(
    r"(?:^| )(?:zhuan|zhan|zuan|zhai|zhuang|dian)(?: jie)?(?: dao| gei)? (?:ren|yuan) gong(?: |$)"
)
"""转人工 and 转接人工 by their syllables, with what recognisers were seen to make of them: 战, 占, 债; 员工."""

_DENIED = re.compile(
    r"(?:不要|不用|别|不想|无需|不需要).{0,3}(?:转|接|找|人工)|人工(?:智能|费|成本|检测|审核|复核)"
)


def asks_for_person(text: str) -> bool:
    """Whether the caller wants a human now.

    >>> asks_for_person("帮我转人工"), asks_for_person("人工检测费多少"), asks_for_person("不用转人工")
    (True, False, False)
    """
    if _DENIED.search(text):
        return False
    return bool(_PERSON.search(text) or _SOUNDS_LIKE_PERSON.search(" ".join(lazy_pinyin(text))))
