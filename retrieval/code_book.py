"""Which passage answers for which codes. ERR_2048 and ERR_2049 are one digit apart and never the same thing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from retrieval.codes import code_keys
from retrieval.normalize import canonical
from retrieval.surfaces import document_text
from retrieval.types import Passage, PassageId

LOOSE_SIZE = 4
"""A shortened code of fewer characters (v2, s3) fits too many to stand for one."""


class CodeBook:
    """The code keys of every passage.

    A chunk of a document without a code of its own answers for the codes of the document's opening passage: a manual
    says once, at the top, which models it is for.
    """

    def __init__(self, passages: Iterable[Passage]) -> None:
        listed = list(passages)
        own = {p.id: code_keys(canonical(document_text(p))) for p in listed}
        opening = {p.title: own[p.id] for p in listed if p.title and " > " not in p.title}
        self._keys = {p.id: own[p.id] or opening.get(_document(p), frozenset()) for p in listed}
        self._holders: dict[str, list[PassageId]] = {}
        for passage_id, keys in self._keys.items():
            for key in keys:
                self._holders.setdefault(key, []).append(passage_id)
        self._short: dict[str, list[str]] = {}
        for key in self._holders:
            for said in shortened(key):
                self._short.setdefault(said, []).append(key)

    def keys(self, passage_id: PassageId) -> frozenset[str]:
        """The codes a passage answers for; none for an unknown id."""
        return self._keys.get(passage_id, frozenset())

    def holders(self, codes: Collection[str]) -> list[PassageId]:
        """Passages that answer for all of these codes, by id; none when no code is asked."""
        if not codes:
            return []
        sets = [set(self._holders.get(code, ())) for code in codes]
        return sorted(set.intersection(*sets))

    def covered(self, passage_id: PassageId, codes: Collection[str]) -> float | None:
        """Share of the codes that a passage answers for; None when none is asked."""
        return len(self.keys(passage_id) & set(codes)) / len(codes) if codes else None

    def arranged(self, ids: Sequence[PassageId], codes: Collection[str]) -> list[PassageId]:
        """The ids with the better covered first, otherwise in their order.

        When one of them covers every code, those about other codes only are left out: they are no evidence at all.
        """
        if not codes:
            return list(ids)
        covered = {pid: len(self.keys(pid) & set(codes)) for pid in ids}
        if max(covered.values(), default=0) == len(codes):
            ids = [pid for pid in ids if covered[pid] or not self.keys(pid)]
        return sorted(ids, key=lambda pid: -covered[pid])

    def resolve(self, codes: Sequence[str]) -> tuple[str, ...]:
        """Codes as the passages write them, where a caller's shortened form can only mean one.

        v237 is v2.3.7, billing_address is update_billing_address; what fits none or several stays as it was said, and
        no digit is ever guessed.
        """
        return tuple(dict.fromkeys(self._resolved(code) for code in codes))

    def _resolved(self, code: str) -> str:
        if code in self._holders or len(code) < LOOSE_SIZE:
            return code
        fitting = self._short.get(code, ())
        return fitting[0] if len(fitting) == 1 else code


def shortened(key: str) -> set[str]:
    """What a caller may say for a code: it without its dots, and every run of two or more of its whole words.

    >>> sorted(shortened("update_billing_address"))
    ['billing_address', 'update_billing', 'update_billing_address']
    """
    words = key.split("_")
    runs = {"_".join(words[i:j]) for i in range(len(words)) for j in range(i + 2, len(words) + 1)}
    return runs | ({key.replace(".", "")} if "." in key else set())


def _document(passage: Passage) -> str:
    return passage.title.split(" > ")[0]
