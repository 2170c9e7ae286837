"""What a caller asks of the call itself rather than of the documents. Pure, a closed list.

Listened to by sound as well: a demand for a person must not fail because the recogniser wrote 转人公 or 战人工.
"""

from __future__ import annotations

import re
from typing import Literal

from pypinyin import lazy_pinyin

from voice_agent.floor.overlap import overlap

Wish = Literal["person", "again", "goodbye", "no", "wait", "nothing"]
"""A human; the last sentence once more; the end of the call; a bare no, which is that unless something was asked back;
a moment's patience; nothing: thanks or a murmur."""

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


_TAIL = r"(?:[吧啊呀哦吗了哈呢]|谢谢你?您?|可以吗|好吗|行吗)*"
_AGAIN = re.compile(
    r"(?:(?:抱歉|不好意思|对不起|啊|嗯|哎|什么|喂|我|刚才|刚刚|没有?听[清懂见](?:楚)?|你|您|麻烦|请|能不能|可以|能|把|那|这|再)*)"
    r"(?:再[说讲念读重]复?一?[遍次下句]|重复一?[遍次下]|再?重复|再来一?[遍次]|(?:说|讲)的?(?:是)?什么|没有?听清楚?|没有?听见|没有?听懂)"
    + _TAIL
)
"""Only asks to hear it again: 再说一遍退款的流程 names its subject and is a question."""

_LEAVES = re.compile(
    r"(?:好的?|行|嗯|那|哦|啊|我|知道了|明白了|谢谢你?您?|多谢|感谢|不客气|可以了|先|就|都|暂时|现在|也|吧|了|其他|其它|别|的|问题|什么|事)*"
    r"(?:再见|拜拜|拜了|byebye|bye|没有?别的(?:问题|事)?|没有?(?:什么)?其[他它](?:的|问题|事)?|没(?:有)?(?:什么)?问题了"
    r"|没(?:什么)?事(?:儿)?了?|没有了|不用了|不需要了|不必了|挂了|先挂|就这样|就这些|先这样|结束通话|到这(?:里|儿)?吧?)"
    r"(?:好的?|行|嗯|谢谢你?您?|多谢|再见|拜拜|吧|了|啊|哈|挂了|问题|事|就这样|辛苦了?|麻烦你?您?了?)*"
)
_THANKS = re.compile(
    r"(?:好的?|行|嗯|哦|啊|那|知道了|明白了|谢谢你?您?|多谢|感谢你?您?|非常|太|十分|了|啊|哈|好吧|可以|辛苦)+"
)
_LONGEST_WISH = 16


def wish(text: str) -> Wish | None:
    """What `text` asks of the call; None when it is, or may be, a question for the documents.

    >>> [wish(text) for text in ("转人工", "请再说一遍", "没有别的了，谢谢", "谢谢", "等一下", "再说一遍退款流程")]
    ['person', 'again', 'goodbye', 'nothing', 'wait', None]
    """
    if asks_for_person(text):
        return "person"
    words = re.sub(r"[\W_]", "", text).lower()
    if not words or len(words) > _LONGEST_WISH:
        return None
    if _AGAIN.fullmatch(words):
        return "again"
    if _LEAVES.fullmatch(words):
        return "goodbye"
    if words in ("没有", "没", "没有啊", "没有呢"):
        return "no"
    if _THANKS.fullmatch(words) or overlap(words) == "backchannel":
        return "nothing"
    return "wait" if overlap(words) == "stop" else None
