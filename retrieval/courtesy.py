"""Speech that states nothing: greeting, sympathy, asking back. A closed list, so that no fact slips in. Pure."""

from __future__ import annotations

import re
from typing import Final

from retrieval.normalize import canonical

_COURTESY: Final = re.compile(
    "[您你]好|好的|嗯+|明白了?|了解了?|感谢您的?(?:来电|耐心等待|理解|支持)|谢谢您?|再见|祝您生活愉快|很高兴为您服务"
    "|(?:非常|很|实在)?(?:抱歉|对不起)|不好意思|给您带来(?:了)?不便(?:了)?|(?:非常|很)抱歉给您带来(?:了)?不便"
    "|我(?:很|非常)?(?:能)?理解您的(?:心情|感受)|请您?稍等(?:一下)?|我(?:来|马上)?(?:帮您|为您)?查一下"
    "|请问(?:您)?还有(?:什么|其他)(?:可以|能)?(?:帮(?:到)?您|问题|需要)(?:的)?(?:吗)?"
    "|请问您?(?:说的|问的|咨询的)?是(?:哪一?[款个种]|什么)(?:产品|型号|业务|商品|订单)?(?:呢)?"
    "|(?:请问)?您的?(?:订单号|型号|错误代码|手机型号)是(?:多少|什么)(?:呢)?"
)
_BARE: Final = re.compile(
    "(?:是的?|对的?|可以|不可以|能|不能|行|不行|会|不会|有|没有|没错|需要|不需要|支持|不支持|不是|不对|当然|当然可以|没问题|可以的|不用)[吧啊呢呀哦]?"
)
"""是的 to 不能退吗 says yes to the no: such a word means nothing apart from its question."""


def clauses(text: str) -> list[str]:
    """The stretches between stops and blanks of a canonical text."""
    return [clause for clause in re.split(r"[，。！？；、,.!?;…~\s]+", text) if clause]


def is_courtesy(text: str) -> bool:
    """Whole clauses only: one that holds a figure, a code or a fact is none."""
    said = clauses(canonical(text))
    return bool(said) and all(_COURTESY.fullmatch(clause) for clause in said)


def is_bare(text: str) -> bool:
    """Is a canonical text nothing but a yes or no?"""
    said = clauses(text)
    return bool(said) and all(_BARE.fullmatch(clause) for clause in said)


_YES: Final = re.compile("(?:是的?|对的?|没错|嗯+)[吧啊呢呀哦]?")


def agrees(text: str) -> bool:
    """Does a canonical text begin with a yes before it goes on?"""
    said = clauses(text)
    return len(said) > 1 and bool(_YES.fullmatch(said[0]))
