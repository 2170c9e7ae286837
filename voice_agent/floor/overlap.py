"""What words spoken over the agent mean: go on, or give way. Pure."""

from __future__ import annotations

from typing import Literal

Overlap = Literal["nothing", "backchannel", "words"]

_BACKCHANNELS = frozenset(
    {"行", "知道", "知道了", "明白", "明白了", "是吧", "这样", "这样啊", "没错", "收到", "OK", "ok"}
)
"""Said to show one is listening. 不是, 等一下 and 停 are not among them: they ask the agent to give way."""

_MURMURS = frozenset("嗯哦噢喔啊呃唉对好是的得地")
"""Characters that only murmur assent, in any order and number: 嗯嗯, 哦好的, 对对对; 好得 is a recogniser's 好的."""

_SILENT = " ，。！？、；：…,.!?;:~～“”\"'"


def overlap(text: str) -> Overlap:
    """What `text`, heard while the agent was speaking, asks of it.

    >>> overlap("嗯，好的。"), overlap("不是"), overlap("")
    ('backchannel', 'words', 'nothing')
    """
    words = text.translate({ord(mark): None for mark in _SILENT})
    if not words:
        return "nothing"
    if words in _BACKCHANNELS or set(words) <= _MURMURS:
        return "backchannel"
    return "words"
