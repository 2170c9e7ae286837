"""A second opinion on what was spoken: figures, codes and negations against the cited passage. Pure.

Shares nothing with the agent's own check and knows far less: no roles, no conditions, no scope. What it reports is
either unsupported or said in a way that a plain comparison cannot follow; a person reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llm.amounts import Value, plain, shown, values

_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_.·][A-Za-z0-9]+)*")

_SPACED = re.compile(r"([A-Za-z]+) +(\d+)(?![\d.])")
"""ERR 2084 is the code ERR_2084 where the passage has that one; else it is a word and a number."""

Cited = tuple[str, str]
"""Title and text of a passage."""


@dataclass(frozen=True)
class Doubt:
    """Something spoken for which the cited passages show no support."""

    kind: str
    said: str


def doubts(sentence: str, passages: Sequence[Cited]) -> list[Doubt]:
    """Every figure, code and negation of a sentence that its passages do not carry. `passages`: (title, text) each."""
    said, body = plain(sentence), plain("\n".join(text for _, text in passages))
    known = plain("\n".join(title for title, _ in passages)) + "\n" + body
    packed = _packed(known)
    said = _SPACED.sub(lambda code: code[1] + code[2] if _packed(code[0]) in packed else code[0], said)
    found = [Doubt("value", shown(value)) for value in values(said) if not _held(value, values(known))]
    found += [Doubt("rate", f"每{period}") for period in _periods(said) - _periods(known)]
    found += [Doubt("code", word) for word in _LATIN.findall(said) if _packed(word) not in packed]
    return found + [Doubt("negation", word) for word in _turned(said, body)]


def _held(value: Value, known: list[Value]) -> bool:
    """The same number of the same thing; where one side names no unit the number must do."""
    same = [one for one in known if abs(one.number - value.number) < 1e-9]
    return any(one.unit == value.unit or not one.unit or not value.unit for one in same)


def _periods(text: str) -> set[str]:
    """What something is per: 每天, 单日, 元/月."""
    text = re.sub("月(?=费|租|付)", "每月", text)
    found = re.findall(r"(?:每个?|[单/按])(自然月|年|月|季度|周|天|日|小时|分钟)", text)
    return {{"日": "天", "自然月": "月"}.get(period, period) for period in found}


def _packed(text: str) -> str:
    return re.sub(r"[\s_\-.·]", "", text).lower()


_CLAUSE = re.compile(r"[，,。；;！？!?：:\n]|但是?|而")
_NO_DENIAL = re.compile(
    r"(?:不超过|不低于|不少于|不高于|不得超过|不能超过|[不未]满|不足|没满|不到)(?=[\d零一二两三四五六七八九十百千万半实])"
    "|不仅|不但|不同|不过|不少|不断|不久|不管|不论|无论|不妨|不好意思|不客气|差不多|不锈|非常|特别|分别|级别|类别|性别|识别|区别|个别|别的"
    "|别人|未来|无线|无忧|没关系|没问题|不满意|不便|不明|非工作|除非|无理由|不良|不当|不符"
)
_DENIAL = re.compile("不再?|没有?|无(?:法|需|须)?|未(?:曾|能)?|非|勿|别|禁止|拒绝|免(?:收|除|交|付)|除外")
_MODAL = re.compile(
    "^(?:能够?|可以?|会|得|予|用|需要?|必|须|应当?|要|被|再|支持|享受|允许|是|进行|办理|提供|直接|自动)+"
)


_NEAR, _AS_NEAR, _COPIED = 0.4, 0.8, 0.75
"""Share of a clause's pairs of characters that its counterpart holds; how near to the best the others count; and from
where on a clause is the other's copy, so that it must deny as often."""


_ENOUGH = 4
"""Pairs of characters; a shorter clause is too like too many."""


def _turned(said: str, known: str) -> Iterator[str]:
    """What is denied on one side only: each denial must stand in the passage near the same words, and the reverse."""
    heard, there = _clauses(said), _clauses(known)
    denied = [around for clause in there for _, around in _denials(clause)]
    for clause in heard:
        for word, around in _denials(clause):
            if not any(_alike(around, other) for other in denied):
                yield f"{word} in {clause}"
    made = [around for clause in heard for _, around in _denials(clause)]
    for clause in heard:
        yield from _affirmed(clause, there, made)
        yield from _copied(clause, there, made)


def _copied(clause: str, there: Sequence[str], made: Sequence[str]) -> Iterator[str]:
    """A clause that is another's copy but for a denial, which the sentence does not make elsewhere either."""
    near = [(_share(clause, other), other) for other in there]
    best = max((share for share, _ in near), default=0.0)
    copies = [other for share, other in near if share == best]
    if best < _COPIED or any(_odd(clause) is _odd(other) for other in copies):
        return
    if _odd(clause) or not _made_elsewhere(made, copies):
        yield f"{clause} for {copies[0]}"


def _affirmed(clause: str, there: Sequence[str], made: Sequence[str]) -> Iterator[str]:
    """A clause whose nearest clauses in the passage all hold a denial that the sentence does not make anywhere."""
    pairs = _pairs(clause)
    near = [(len(pairs & _pairs(other)) / len(pairs), other) for other in there] if pairs else []
    best = max((share for share, _ in near), default=0.0)
    nearest = [other for share, other in near if share >= _AS_NEAR * best]
    if best < _NEAR or _denials(clause) or not all(_denials(other) for other in nearest):
        return
    if not _made_elsewhere(made, nearest):
        yield f"no denial in {clause}"


def _made_elsewhere(made: Sequence[str], clauses: Sequence[str]) -> bool:
    return any(_alike(one, around) for one in made for clause in clauses for _, around in _denials(clause))


def _share(clause: str, other: str) -> float:
    """Of the pairs of one clause those in another, denials left out."""
    pairs = _pairs(_DENIAL.sub("", clause))
    return len(pairs & _pairs(_DENIAL.sub("", other))) / len(pairs) if len(pairs) >= _ENOUGH else 0.0


def _odd(clause: str) -> bool:
    return len(_denials(clause)) % 2 == 1


def _pairs(text: str) -> set[str]:
    return {text[i : i + 2] for i in range(len(text) - 1) if "_" not in text[i : i + 2]}


def _clauses(text: str) -> list[str]:
    return [
        clause for clause in _CLAUSE.split(_NO_DENIAL.sub(lambda m: "_" * len(m[0]), text)) if clause.strip()
    ]


def _denials(clause: str) -> list[tuple[str, str]]:
    """Each denial of a clause with the words around it."""
    return [
        (
            found[0],
            clause[max(0, found.start() - 8) : found.start()] + "|" + clause[found.end() : found.end() + 8],
        )
        for found in _DENIAL.finditer(clause)
    ]


def _alike(one: str, other: str) -> bool:
    """Do the words around two denials share a pair of characters, or begin alike?"""
    first, second = (text.partition("|") for text in (one, other))
    if first[2].startswith("到") and second[2].startswith("足"):
        return True
    if (a := _MODAL.sub("", first[2])[:1]) and a == _MODAL.sub("", second[2])[:1]:
        return True
    return bool(_pairs(one.replace("|", "_")) & _pairs(other.replace("|", "_")))


def spoken_doubts(row: Mapping[str, Any]) -> Iterator[tuple[str, Doubt]]:
    """The doubts about every sentence of a row of bench_llm, each with its sentence."""
    passages = {one["citation_id"]: (one["title"], one["text"]) for one in row["shown"]}
    for sentence in row["spoken"]:
        for doubt in doubts(sentence["text"], [passages[mark] for mark in sentence["cited"]]):
            yield sentence["text"], doubt
