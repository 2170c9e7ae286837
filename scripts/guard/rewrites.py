"""True sentences of a passage in other words: merged, shortened, cut, reordered, reworded, figures spelled out."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import cn2an

from retrieval.normalize import canonical
from retrieval.sentences import split_sentences

MIN_CHARS, MAX_CHARS, MAX_MERGED = 10, 110, 150

CONNECTIVES = re.compile(
    "^(?:首先|其次|再次|此外|另外|同时|随后|接着|最后|最终|总之|因此|综上所述|与此同时|具体来说|例如|目前|其中)，?"
)
FILLERS = re.compile("进一步|显著地?|成功地?|积极地?|有效地?|不断|大力|全面|深入|充分|切实|迅速")
BRACKET = re.compile(r"（[^（）]{1,30}）|\([^()]{1,30}\)")
DATED = re.compile(
    r"^在?(\d{4}年(?:\d{1,2}月(?:\d{1,2}日)?)?|\d{1,2}月\d{1,2}日)，?"
    "((?:该|本)?公司|企业|集团|被告人[\u4e00-\u9fff]某某?|患者)(?=[\u4e00-\u9fff])(.+)$"
)
STATED = re.compile(r"^[\u4e00-\u9fff]{2,12}(?:为|是|达到了?|约为|：)[^，]{0,6}\d[^，]*$")
EFFECT = re.compile("从而|进而|以便|这|使|表明|显示|增强|提升|推动|为了")
LIMITS_NEXT = re.compile("除外。$|例外|仅限|只限|不适用|不参加|^但|^不过|方可|才能|^其中")
"""A sentence like this may limit the one before it."""

SURELY_LIMITS = re.compile("除外。$|例外|仅限|只限|不适用|不参加|方可|才能")
"""A sentence like this does: 但 alone goes on telling more often than it limits."""


def pairs(table: str) -> tuple[tuple[str, str], ...]:
    """old>new old>new; - stands for nothing."""
    rows = (row.split(">") for row in table.split())
    return tuple((old, "" if new == "-" else new) for old, new in rows)


PLAIN = pairs(
    "达到了>为 完成了>完成 进行了>做了 以及>和 并且>而且 由于>因为 患者>病人 未见>没有见到 于20>在20 从而>因而 "
    "公司的>公司 因此>所以 当前>目前 在签收后>签收后 可以>能 以后>之后 支付的>付的 如果>要是 出现>遇到"
)

Rewrite = Callable[[list[str], int], str | None]


def words_for(figure: str) -> str:
    """1.2 -> 一点二, 300 -> 三百; what begins with 0 and is no fraction stays."""
    whole, point, part = figure.partition(".")
    if len(whole) > 1 and whole[0] == "0":
        return figure
    return (
        f"{cn2an.an2cn(whole)}点{''.join(cn2an.an2cn(digit) for digit in part)}"
        if point
        else str(cn2an.an2cn(whole))
    )


def spelled(sentence: str) -> str:
    """All plain figures in words: percentages as 百分之, years digit by digit."""
    before = r"(?<![\d.,A-Za-z_/+-])"
    unit = "[万亿]?(?:元|美元|天|日|个|次|岁|月|年|小时|分钟|台|张|件|倍|条|人|名|位|笔|期|折|层)"
    sentence = re.sub(
        r"(\d{4})(?=年)", lambda m: "".join("零一二三四五六七八九"[int(d)] for d in m[1]), sentence
    )
    sentence = re.sub(rf"{before}(\d{{1,4}}(?:\.\d+)?)%", lambda m: f"百分之{words_for(m[1])}", sentence)
    return re.sub(rf"{before}(\d{{1,4}}(?:\.\d+)?)(?={unit})", lambda m: words_for(m[1]), sentence)


def merged(sentences: list[str], i: int) -> str | None:
    """Two sentences in one."""
    if i + 1 >= len(sentences) or len(sentences[i]) + len(sentences[i + 1]) > MAX_CHARS:
        return None
    right = CONNECTIVES.sub("", sentences[i + 1])
    return None if "：" in right[:12] else f"{sentences[i].rstrip('。；！')}，{right}"


def shortened(sentences: list[str], i: int) -> str | None:
    """Without connectives, brackets and filler adverbs."""
    return BRACKET.sub("", FILLERS.sub("", CONNECTIVES.sub("", sentences[i])))


def cut(sentences: list[str], i: int) -> str | None:
    """Without its last clause, when that only tells the effect."""
    clauses = sentences[i].rstrip("。").split("，")
    return f"{'，'.join(clauses[:-1])}。" if len(clauses) >= 3 and EFFECT.match(clauses[-1]) else None


def reordered(sentences: list[str], i: int) -> str | None:
    """在2017年2月，公司… -> 公司在2017年2月…; A为1，B为2 -> B为2，A为1."""
    text = CONNECTIVES.sub("", sentences[i])
    dated = DATED.match(text)
    if dated:
        return f"{dated[2]}在{dated[1]}{dated[3]}"
    clauses = text.rstrip("。").split("，")
    stated = [n for n, clause in enumerate(clauses) if STATED.match(clause)]
    if len(stated) < 2 or stated != list(range(stated[0], stated[-1] + 1)):
        return None
    first, last = stated[0], stated[-1] + 1
    turned = [*clauses[:first], *clauses[first + 1 : last], clauses[first], *clauses[last:]]
    return f"{'，'.join(turned)}。"


def reworded(sentences: list[str], i: int) -> str | None:
    """Small words exchanged for others of the same meaning."""
    text = sentences[i]
    for old, new in PLAIN:
        text = text.replace(old, new, 1)
    return text if text != sentences[i] else None


REWRITES: dict[str, Rewrite] = {f.__name__: f for f in (merged, shortened, cut, reordered, reworded)}


def is_part(sentence: str, passage: str) -> bool:
    """Does it stand in the passage as it is, whatever its last mark?"""
    return canonical(sentence).rstrip("。；") in canonical(passage)


def spoken_sentences(text: str) -> list[str]:
    """The sentences of a passage that an answer might speak."""
    return [s for s in split_sentences(text) if s.endswith("。")]


def true_sentences(text: str, rng: random.Random) -> list[tuple[str, str]]:
    """(how it was made, the sentence); none stands in the passage as it is.

    A sentence that the next one limits is only merged with it: alone it would be half the truth.
    """
    sentences = spoken_sentences(text)
    made = []
    for i, sentence in enumerate(sentences):
        if not MIN_CHARS <= len(sentence) <= MAX_CHARS or LIMITS_NEXT.search(sentence):
            continue
        limited = bool(LIMITS_NEXT.search("".join(sentences[i + 1 : i + 2])))
        for name in ["merged"] if limited else rng.sample(list(REWRITES), len(REWRITES)):
            result = REWRITES[name](sentences, i) or ""
            behind = "".join(sentences[i + 2 : i + 3]) if name == "merged" else ""
            if (
                8 <= len(result) <= MAX_MERGED
                and not is_part(result, text)
                and not LIMITS_NEXT.search(behind)
            ):
                made.append((name, result))
                break
    return made


def half_truths(text: str) -> list[str]:
    """Sentences in other words whose limit, the next sentence, is left out."""
    sentences = spoken_sentences(text)
    made = []
    for i, sentence in enumerate(sentences[:-1]):
        if LIMITS_NEXT.search(sentence) or not SURELY_LIMITS.search(sentences[i + 1]):
            continue
        ways = (
            reworded(sentences, i),
            shortened(sentences, i),
            reordered(sentences, i),
            f"按规定，{sentence}",
        )
        other = next((way for way in ways if way and way != sentence and not is_part(way, text)), None)
        made += [other] if other else []
    return made
