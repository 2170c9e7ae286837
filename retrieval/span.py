"""The stretch of a long text that a question is most about. Pure: a reranker takes time for all that it reads."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.normalize import canonical
from retrieval.sentences import split_sentences


def best_span(question: str, text: str, limit: int) -> str:
    """The first line (its title) and whole sentences of the rest, together at most `limit` characters where sentences
    allow: those that follow one another and share the most different character pairs with the question, the earlier
    on a tie. A text within the limit is returned as it is; a single sentence is never cut.

    >>> best_span("几天到账", "退款\\n请先提交申请。审核后三天到账。", 10)
    '退款\\n审核后三天到账。'
    """
    if len(text) <= limit:
        return text
    title, _, body = text.partition("\n")
    if not body:
        title, body = "", text
    sentences = split_sentences(body)
    asked = _pairs(question)
    shared = [_pairs(sentence) & asked for sentence in sentences]
    first, last = max(
        _windows(sentences, limit - len(title)),
        key=lambda window: (len(set().union(*shared[window[0] : window[1]])), -window[0]),
        default=(0, len(sentences)),
    )
    span = "".join(sentences[first:last]).strip()
    return f"{title}\n{span}" if title else span


def _windows(sentences: Sequence[str], room: int) -> list[tuple[int, int]]:
    """From each sentence on as many as fit, at least one."""
    windows = []
    for first in range(len(sentences)):
        last, size = first + 1, len(sentences[first])
        while last < len(sentences) and size + len(sentences[last]) <= room:
            size += len(sentences[last])
            last += 1
        windows.append((first, last))
    return windows


def _pairs(text: str) -> frozenset[str]:
    plain = "".join(c for c in canonical(text).lower() if c.isalnum())
    return frozenset(plain[i : i + 2] for i in range(len(plain) - 1))
