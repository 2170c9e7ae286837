"""Turns that somebody judged, read back and diagnosed: by the marks beside the journals, or by labelled questions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from audio.cer import characters
from voice_agent.errors import InputError
from voice_agent.record.diagnosis import Diagnosed, Wanted, diagnose
from voice_agent.record.inspection import read_call
from voice_agent.record.review import Mark, marks_of


def wanted_of(mark: Mark) -> Wanted | None:
    """What the marked turn should have come to; None where the mark does not tell."""
    if mark.judgement == "should_have_refused" or mark.expect:
        return Wanted(mark.expect, mark.said)
    return None


def judged(journals: Iterable[Path], labels: Mapping[str, Wanted]) -> Iterator[Diagnosed]:
    """Every turn that a mark, or else a label, says the right end of. Journals that cannot be read are left out.

    `labels` is keyed by `characters` of the question; without any only calls with marks are read.
    """
    for journal in journals:
        marks = marks_of(journal)
        if not marks and not labels:
            continue
        with suppress(InputError):
            call = read_call(journal)
            for turn in call.turns:
                mark = marks.get(turn.turn)
                wanted = wanted_of(mark) if mark else labels.get(characters(turn.heard))
                if wanted is not None:
                    loss = diagnose(turn, wanted)
                    yield Diagnosed(call.call, turn.turn, turn.heard or turn.raw, wanted.expect, loss)
