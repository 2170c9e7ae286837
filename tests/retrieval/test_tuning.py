"""Fusion weights from labelled questions: a useless channel loses its weight, a useful one gains."""

from __future__ import annotations

import pytest

from retrieval.tuning import Case, fuse, order, tune
from retrieval.types import Channel, PassageId, Ranking

IDS = tuple(PassageId(f"p{n}") for n in range(12))


def ranked(*first: int) -> Ranking:
    """These first, the others behind them."""
    rest = [n for n in range(len(IDS)) if n not in first]
    return [(IDS[n], 1.0 - rank / 100) for rank, n in enumerate((*first, *rest))]


def case(wanted: int, **rankings: Ranking) -> Case:
    named: dict[Channel, Ranking] = dict(rankings)  # type: ignore[arg-type]
    judged = dict.fromkeys(IDS, 0.5)
    return Case(named, judged, frozenset({IDS[wanted]}), lambda ids: ids)


def test_a_channel_that_misleads_gets_no_say() -> None:
    """Words and meaning find it, sound ranks it last: its weights are 0."""
    far = ranked(*range(10, -1, -1))
    cases = [case(11, bm25=ranked(1, 11), dense=ranked(2, 11), phonetic=far) for _ in range(5)]
    tuned = tune(cases)
    assert tuned.weights["phonetic"] == tuned.blend["phonetic"] == 0.0


def test_a_channel_that_alone_finds_it_is_heard() -> None:
    """Only sound finds it: it gets the most it can in the blend, and the right passage comes first."""
    cases = [case(11, bm25=ranked(5, 6, 7), dense=ranked(7, 6, 5), phonetic=ranked(11)) for _ in range(5)]
    tuned = tune(cases)
    assert tuned.blend["phonetic"] > 0.0
    assert order(cases[0], tuned.blend)[0] == IDS[11] and tuned.ranked["ranked@1"] == 1.0


def test_of_equals_the_plainest_is_taken() -> None:
    """Where every setting is as good, none of the optional weight is used."""
    cases = [case(0, bm25=ranked(0), dense=ranked(0), phonetic=ranked(0))]
    tuned = tune(cases)
    assert tuned.weights == {"bm25": 1.0, "dense": 0.5, "phonetic": 0.0}
    assert set(tuned.blend.values()) == {0.0}


def test_codes_come_first_in_every_order() -> None:
    """The arrangement of a case is applied to fusion and to the final order."""
    one = Case({"bm25": ranked(1)}, dict.fromkeys(IDS, 0.5), frozenset({IDS[9]}), lambda ids: [IDS[9], *ids])
    assert fuse(one, {}, 60)[0] == order(one, {})[0] == IDS[9]


def test_channels_are_reported_side_by_side() -> None:
    """So that an operator sees whether fusion is worth more than its best channel."""
    tuned = tune([case(0, bm25=ranked(0), dense=ranked(5, 6, 7, 0))])
    assert (tuned.fused["bm25@3"], tuned.fused["dense@3"]) == (1.0, 0.0)


def test_nothing_to_tune_on() -> None:
    """No question, no weights."""
    with pytest.raises(ValueError, match="at least one"):
        tune([])
