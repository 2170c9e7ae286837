"""Is a question in other words still the same question? Pure: figures, codes and negations are counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from retrieval.codes import code_keys
from retrieval.facts import quantities
from retrieval.normalize import canonical
from retrieval.polarity import settled
from voice_agent.reply.prompt import Wanted

_DENYING: Final = frozenset("不没无未非勿别禁")


def altered(kind: Wanted, question: str, written: str, earlier: str) -> str:
    """What a wording lost or added, in one line; empty if it may be searched.

    Nothing of the question may be lost, and nothing added but what a follow-up takes from the caller's earlier words
    (`earlier`). A more general question may lose figures and codes; a supposed answer may also add figures, for it is
    made to look like a passage, but no code, which would pull in the wrong one.
    """
    asked, said = _Held.of(question), _Held.of(written)
    lent = _Held.of(earlier) if kind == "standalone" else _Held.of("")
    added_codes = said.codes - asked.codes - lent.codes
    if added_codes:
        return f"adds {min(added_codes)}"
    if kind == "hyde":
        return ""
    if added := said.figures - asked.figures - lent.figures:
        return f"adds {min(added)}"
    if kind == "step_back":
        return ""
    if lost := (asked.figures | asked.codes) - said.figures - said.codes:
        return f"loses {min(lost)}"
    return "" if asked.denials == said.denials else f"denies {said.denials} times, not {asked.denials}"


@dataclass(frozen=True, slots=True)
class _Held:
    """The figures and codes of a text and how often it denies."""

    figures: frozenset[str]
    codes: frozenset[str]
    denials: int

    @classmethod
    def of(cls, text: str) -> _Held:
        whole = canonical(text)
        denials = sum(char in _DENYING for char in settled(whole))
        return cls(frozenset(q.key for q in quantities(whole)), code_keys(whole), denials)
