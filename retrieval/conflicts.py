"""Two passages that are valid together and give different values for one subject. Pure.

Precision before recall: a conflict stops answers and is shown to authors, so two sentences are compared only when they
say the same apart from the value. A word that only one of them has, while the other has one of its own (储蓄卡 and
信用卡, 换货 and 退货), is a second subject; a case that one of them adds is an exception, not a contradiction.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import lru_cache
from itertools import combinations, pairwise
from typing import Final

from retrieval.codes import code_keys
from retrieval.facts import Fact
from retrieval.polarity import denies
from retrieval.readings import Sentence, read_passage, read_sentence
from retrieval.types import Passage, PassageId

_ADDED: Final = 2
"""Characters that one sentence may have beyond the other, when the other has none of its own."""

_SUBJECT: Final = 3
"""Characters that both must share before they can be about one thing; one less when they share all."""

_ALONE: Final = 9
"""The same for passages whose titles share nothing: 水深2到5米 is said of many things, and of which is not said."""

_TELLING: Final = 3
"""How many of its rarest pairs of characters name what a sentence is about."""

_EMPTY_WORDS: Final = re.compile(
    "收费|收取|费用|费率|价格|售价|金额|次数|门槛|条件|说明|问题|介绍|期限|有效期|有效|时限|时间|多久|规定|规则|标准"
    "|政策|要求|支付|支持|可以|能够|必须|应当|建议|享受|提供|服务|办理|完成|达到|一共|累计|按照|一律|统一|申请|到账之日"
    "|之日|起算|用户|客户|顾客|单[笔次]|(?<![半多])[以之]?(?:内|上|下)|最[多少高低长短晚迟快大小]|至[多少]|左右"
    "|不(?:得|能|会|用|必|予|准|许)|[无没]有?|[的了是在和与及或也就都还会把被将到为按以从给对而且但则这那您我请由向着过又再才只仅"
    "须需应要可能得不未非勿个所地之每自起约共内费期率价第含]"
)
"""What is said around any value: two sentences that differ in these differ in style."""

_CONTENT: Final = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*|[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two passages, the values they give (a figure, or a whole sentence and its denial) and the sentences, folded."""

    ids: tuple[PassageId, PassageId]
    values: tuple[str, str]
    sentences: tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence as it is compared: its content characters without values, each two that follow, and its codes."""

    sentence: Sentence
    content: frozenset[str]
    pairs: frozenset[str]
    codes: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Stated:
    """A passage as its statements. `title` is the content of its last heading, `marks` figures and codes in it."""

    title: frozenset[str]
    marks: frozenset[str]
    statements: tuple[_Statement, ...]


def conflicting(passages: Sequence[Passage], as_of: date) -> tuple[Conflict, ...]:
    """The conflicts among passages that are valid on a day, one for each pair. Meant for the evidence of a question."""
    valid = [passage for passage in passages if passage.valid_on(as_of)]
    stated = [(passage, _stated(passage.title, passage.text)) for passage in valid]
    found = (_conflict(*one, *other) for one, other in combinations(stated, 2))
    return tuple(conflict for conflict in found if conflict)


def conflicts(passages: Sequence[Passage]) -> Iterator[Conflict]:
    """The conflicts of a whole corpus between passages that are valid on a common day, in the corpus's order."""
    stated = [_stated(passage.title, passage.text) for passage in passages]
    for i, j in sorted(_candidates(stated)):
        one, other = passages[i], passages[j]
        found = _conflict(one, stated[i], other, stated[j]) if valid_together(one, other) else None
        if found:
            yield found


def valid_together(one: Passage, other: Passage) -> bool:
    """Is there a day on which both are valid?"""
    starts = [p.valid_from for p in (one, other) if p.valid_from]
    ends = [p.valid_to for p in (one, other) if p.valid_to]
    return not starts or not ends or max(starts) <= min(ends)


def _candidates(passages: Sequence[_Stated]) -> set[tuple[int, int]]:
    """Pairs of passages with sentences that share one of the rarest pairs of characters that are not theirs alone."""
    stated = [(i, s.pairs) for i, passage in enumerate(passages) for s in passage.statements]
    seen = Counter(pair for _, held in stated for pair in held)
    holders: defaultdict[str, set[int]] = defaultdict(set)
    for i, held in stated:
        shared = (pair for pair in held if seen[pair] > 1)
        for pair in sorted(shared, key=lambda pair: (seen[pair], pair))[:_TELLING]:
            holders[pair].add(i)
    return {pair for rows in holders.values() for pair in combinations(sorted(rows), 2)}


@lru_cache(maxsize=2048)
def _stated(title: str, text: str) -> _Stated:
    last = read_sentence(title.rpartition(" > ")[2])
    reading = read_passage(title, text)
    marks = frozenset(fact.shown for fact in last.facts) | code_keys(last.text)
    made = tuple(_statement(s) for s in reading.sentences if s.facts or len(s.text) > _SUBJECT)
    return _Stated(frozenset(_content(last)), marks, made)


def _statement(sentence: Sentence) -> _Statement:
    content = _content(sentence)
    pairs = frozenset(map("".join, pairwise(content)))
    return _Statement(sentence, frozenset(content), pairs, code_keys(sentence.text))


def _content(sentence: Sentence) -> list[str]:
    """What a sentence is about: without values, small words, and the words that go with any value."""
    text, done = "", 0
    for fact in sentence.facts:
        text += sentence.text[done : fact.start] + " "
        done = max(done, fact.end)
    return _CONTENT.findall(_EMPTY_WORDS.sub(" ", text + sentence.text[done:]))


def _conflict(one: Passage, a: _Stated, other: Passage, b: _Stated) -> Conflict | None:
    """The first contradiction of two passages. Parts of one section are not compared: they go on, side by side."""
    if one.title == other.title and "#" in one.id and one.id.partition("#")[0] == other.id.partition("#")[0]:
        return None
    if a.marks and b.marks and a.marks != b.marks:
        return None
    mine_only, its_only = a.title - b.title, b.title - a.title
    least = _SUBJECT if a.title & b.title else _ALONE
    for mine in a.statements:
        for its in b.statements:
            if mine_only.difference(its.content) and its_only.difference(mine.content):
                continue
            values = _differ(mine, its) if _same_subject(mine, its, least) else None
            if values:
                return Conflict((one.id, other.id), values, (mine.sentence.text, its.sentence.text))
    return None


def _same_subject(mine: _Statement, its: _Statement, least: int) -> bool:
    here, there = mine.content, its.content
    if abs(len(here) - len(there)) > _ADDED:
        return False
    added = sorted((len(here - there), len(there - here)))
    if mine.codes != its.codes or added[0] or added[1] > _ADDED:
        return False
    return len(here & there) >= (least if added[1] else least - 1)


def _differ(mine: _Statement, its: _Statement) -> tuple[str, str] | None:
    """The two values, or the two sentences when one denies what the other affirms."""
    for fact in mine.sentence.facts:
        for rival in its.sentence.facts:
            if _comparable(fact, rival) and _led_alike(mine.sentence, fact, its.sentence, rival):
                return fact.shown, rival.shown
    alike = mine.content == its.content
    values = [[fact.shown for fact in s.sentence.facts] for s in (mine, its)]
    if alike and values[0] == values[1] and denies(mine.sentence.text) is not denies(its.sentence.text):
        return mine.sentence.text, its.sentence.text
    return None


def _comparable(fact: Fact, rival: Fact) -> bool:
    """Two different values of one kind, promised alike: both at most, both each month, both after the event."""
    if fact.kind != rival.kind or fact.own != rival.own or _agree(fact, rival):
        return False
    mine, its = fact.qualifier, rival.qualifier
    bounds = {mine.bound, its.bound}
    return mine.time == its.time and mine.change == its.change and (len(bounds) == 1 or "" in bounds)


_IN_BASE: Final = {
    "分钟": ("分钟", 1),
    "小时": ("分钟", 60),
    "天": ("分钟", 1440),
    "个自然日": ("分钟", 1440),
    "周": ("分钟", 10080),
    "个月": ("个月", 1),
    "个季度": ("个月", 3),
    "mb": ("mb", 1),
    "gb": ("mb", 1024),
    "mbps": ("mbps", 1),
    "gbps": ("mbps", 1000),
}
_NOT_COMPARED: Final = frozenset(
    (frozenset(("分钟", "个月")), frozenset(("元", "美元")), frozenset(("%", "个百分点")))
)
"""30天 and 1个月, 10元 and 2美元 may be meant for the same; nobody can say."""


def _agree(fact: Fact, rival: Fact) -> bool:
    """May both be true at once: equal, incomparable, or one of them within the range that the other gives?"""
    if fact.low is None or fact.high is None or rival.low is None or rival.high is None:
        return True
    unit, factor = _IN_BASE.get(fact.unit, (fact.unit, 1))
    other, times = _IN_BASE.get(rival.unit, (rival.unit, 1))
    if unit != other:
        return frozenset((unit, other)) in _NOT_COMPARED
    mine = fact.low * factor, fact.high * factor
    its = rival.low * times, rival.high * times
    return mine == its or _within(mine, its) or _within(its, mine)


def _within(point: tuple[Decimal, Decimal], span: tuple[Decimal, Decimal]) -> bool:
    return point[0] == point[1] and span[0] <= point[0] <= span[1] and span[0] != span[1]


def _led_alike(one: Sentence, fact: Fact, other: Sentence, rival: Fact) -> bool:
    """Is every other figure before them, and in their clauses, the same? 59元套餐含20GB and 99元套餐含60GB are not."""
    return _beside(one, fact) == _beside(other, rival)


def _beside(sentence: Sentence, fact: Fact) -> list[str]:
    end = next((c.end for c in sentence.clauses if c.start <= fact.start < c.end), fact.end)
    return [f.shown for f in sentence.facts if f is not fact and f.start < end]
