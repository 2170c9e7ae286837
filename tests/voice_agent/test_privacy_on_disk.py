"""Laws of what lies on the disk after callers spoke about themselves: the files themselves are searched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from retrieval.terms import terms
from tests.voice_agent.privacy_texts import ADDRESSES, HARMLESS, MAILS, NAMES, NUMBERS, PRIVATE
from voice_agent.record.journal import Journal
from voice_agent.record.privacy import Masker
from voice_agent.record.secrets import digits_of
from voice_agent.reply.handoff import FileHandoffSink, HandoffPacket


def recorded(folder: Path, call: str, text: str) -> str:
    """All that a call writes in which this was said: every event that can hold words, and the hand-off packet."""
    masker = Masker()
    words = terms(text)
    with Journal(folder, call, {}, masker=masker) as journal:
        for end in range(1, len(text) + 1):
            journal.write("partial", 1, 1, text=text[:end])
        journal.write("transcript", 2, 1, text=text, raw=text, hot_words=words)
        journal.write("query", 2, 1, text=text, terms=words, history=(text, text), repairs=[{"from": text}])
        journal.write("rewrite", 2, 1, before=text, after=f"之前问：{text}")
        journal.write("sentence", 3, 1, text="好的。[S1]", question=text, before=[text], evidence=[])
        journal.write("barge_in", 4, 1, heard=text)
        journal.write("error", 5, 1, where="reply", message=f"ValueError: {text}")
    packet = HandoffPacket(
        call, 1, "ASKED", text, evidence=(("a", text),), history=((text, text),), added=(text,)
    )
    FileHandoffSink(folder / "handoff", masker.mask).deliver(packet)
    return journal.path.read_text("utf-8") + (folder / "handoff" / f"{call}.json").read_text("utf-8")


def strings(text: str) -> Iterator[str]:
    """Every string of every JSON line, so that numbers of ours do not count as the caller's."""
    for line in text.replace("\n ", " ").splitlines():
        yield from _strings(json.loads(line) if line.startswith('{"type"') else line)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def test_there_are_texts_enough() -> None:
    """At least 150 of each side, and of every kind."""
    assert len(PRIVATE) >= 150 and len(HARMLESS) >= 150 and len(set(HARMLESS)) == len(HARMLESS)
    assert all(len(kind) >= 8 for kind in (NUMBERS, MAILS, NAMES, ADDRESSES))


@pytest.mark.parametrize(
    "kind", [MAILS, NAMES, ADDRESSES, NUMBERS], ids=["mails", "names", "places", "numbers"]
)
def test_nothing_personal_is_on_the_disk(tmp_path: Path, kind: list[tuple[str, str]]) -> None:
    """Neither as it was said nor, for a number, by its digits in any dress; in no event and in no packet."""
    leaked = []
    for i, (text, secret) in enumerate(kind):
        kept = recorded(tmp_path, f"c{i}", text)
        digits = secret if kind is NUMBERS else ""
        inside = [said for said in strings(kept) if digits and digits in digits_of(said)]
        if secret in kept or inside:
            leaked.append((text, secret, inside[:1]))
    assert leaked == []


def test_harmless_numbers_stay() -> None:
    """Prices, codes, order states, dates: at most 2 % of them are taken for a secret."""
    masked = [text for text in HARMLESS if Masker().mask(text) != text]
    assert len(masked) <= 0.02 * len(HARMLESS), masked
