"""What words spoken over the agent mean: go on, give way, or give way and wait. Pure."""

from __future__ import annotations

import re
from typing import Literal

Overlap = Literal["nothing", "backchannel", "stop", "words"]

_BACKCHANNELS = frozenset(
    {"行", "知道", "知道了", "明白", "明白了", "是吧", "这样", "这样啊", "没错", "收到", "OK", "ok"}
)
"""Said to show one is listening. 不是, 等一下 and 停 are not among them: they ask the agent to give way."""

_MURMURS = frozenset("嗯哦噢喔啊呃唉对好是的得地")
"""Characters that only murmur assent, in any order and number: 嗯嗯, 哦好的, 对对对; 好得 is a recogniser's 好的."""

_STOP = re.compile(
    r"(?:嗯|哎|诶|喂|那个|你|您|请|先|麻烦|啊|哦|不|好了?)*"
    r"(?:停|停一?下|暂停|打住|等一?下|等等|等会儿?|稍等|慢着|且慢|不是|不对|别说了?|不要说了?|不用说了?|别讲了?"
    r"|听我说|我说一?句|让我说)+(?:啊|呀|吧|吗|了|哈|你|先)*"
)
"""Only asks the agent to give way: the caller's own words are still to come."""

_COMMANDS = re.compile(r"停|打住|等一?下|等等|不是|不对|别说|转人工|人工客服|找人工")

_SILENT = " ，。！？、；：…,.!?;:~～“”\"'"
_SHORT = 5
_LONGEST_STOP = 10


def overlap(text: str) -> Overlap:
    """What `text`, heard while the agent was speaking, asks of it.

    >>> overlap("嗯，好的。"), overlap("不是我问的是发票"), overlap("等一下"), overlap("")
    ('backchannel', 'words', 'stop', 'nothing')
    """
    words = _bare(text)
    if not words:
        return "nothing"
    if words in _BACKCHANNELS or set(words) <= _MURMURS:
        return "backchannel"
    return "stop" if len(words) <= _LONGEST_STOP and _STOP.fullmatch(words) else "words"


def commands(text: str) -> bool:
    """Whether `text` is a short order to the agent, which must be obeyed even if it is saying that word itself.

    >>> commands("停一下"), commands("转人工"), commands("停机以后套餐费不是照收")
    (True, True, False)
    """
    words = _bare(text)
    return len(words) <= _SHORT and bool(_COMMANDS.search(words))


def _bare(text: str) -> str:
    return text.translate({ord(mark): None for mark in _SILENT})
