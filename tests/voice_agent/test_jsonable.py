"""Laws of the conversion: any value has a JSON form, and no line is longer than it may be."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.types import Hit, Passage, PassageId, VerdictReason
from voice_agent.record.jsonable import CUT, LINE_BYTES, line, plain


@dataclass(frozen=True, slots=True)
class _Nested:
    hit: Hit
    day: date
    where: Path


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            _Nested(Hit(1, 0.5), date(2026, 11, 30), Path("a/b")),
            {"hit": {"rank": 1, "score": 0.5}, "day": "2026-11-30", "where": "a/b"},
        ),
        (datetime(2026, 11, 30, 8, tzinfo=UTC), "2026-11-30T08:00:00+00:00"),
        (VerdictReason.NO_CITE, "NO_CITE"),
        ((1, "a", None, True), [1, "a", None, True]),
        ({"b", "a"}, ["a", "b"]),
        (frozenset({2, 10}), [10, 2]),
        ({1: "a", None: "b", "c": "d"}, {"1": "a", "null": "b", "c": "d"}),
        ([math.nan, math.inf, -math.inf, 0.25], [None, None, None, 0.25]),
        ([np.float64(0.5), np.float32(0.5), np.float32("nan")], [0.5, 0.5, None]),
        ([np.int64(3), np.bool_(True), np.str_("x")], [3, True, "x"]),
        ("a\ud800b\udfffc", "a\ufffdb\ufffdc"),
        ("第一行\n第二行\r\u2028", "第一行\n第二行\r\u2028"),
        (b"raw", "<bytes>"),
        (object(), "<object>"),
        (Hit, "<type>"),
        (np.zeros(3), "<ndarray>"),
        (10**400, "<int of 1329 bits>"),
        (1j, "<complex>"),
    ],
)  # fmt: skip
def test_each_value_has_its_json_form(value: object, expected: object) -> None:
    """Facts become plain values; what has no form is named by its type, and its content stays out."""
    assert plain(value) == expected


def test_a_passage_reads_back() -> None:
    """The largest fact of the contract survives json."""
    passage = Passage(PassageId("a"), "文", valid_from=date(2026, 1, 1), tags=("x",))
    back = json.loads(line({"passage": plain(passage)}))["passage"]
    assert (back["id"], back["valid_from"], back["valid_to"], back["tags"]) == (
        "a",
        "2026-01-01",
        None,
        ["x"],
    )


def test_endless_values_end() -> None:
    """A list that holds itself, a very deep one and a very long one are cut."""
    loop: list[Any] = []
    loop.append(loop)
    assert CUT in json.dumps(plain(loop), ensure_ascii=False)
    deep: Any = "x"
    for _ in range(5_000):
        deep = [deep]
    assert CUT in json.dumps(plain(deep), ensure_ascii=False)
    assert len(line({"v": plain([0] * 1_000_000)})) <= LINE_BYTES


@pytest.mark.parametrize(
    "data",
    [
        {"text": "长" * 100_000},
        {"texts": ["长" * 300] * 1_000},
        {"rows": [{"id": "p", "score": 0.5}] * 100_000},
        {"map": {f"k{i}": i for i in range(100_000)}},
        {"k" * 100_000: 1},
        {f"k{i}": "长" * 2_000 for i in range(100)},
        {"deep": [[[["长" * 90] * 12] * 12] * 12] * 12},
    ],
)
def test_a_line_is_never_too_long(data: dict[str, Any]) -> None:
    """Whatever is in it; a cut line says so, stays one JSON object, and keeps its first three keys."""
    whole = line({"type": "error", "t": 1.0, "turn": 2, **data})
    assert len(whole) <= LINE_BYTES
    assert whole.count(b"\n") == 1
    event = json.loads(whole)
    assert event["truncated"] is True
    assert (event["type"], event["t"], event["turn"]) == ("error", 1.0, 2)


def test_the_longest_string_gives_way_first() -> None:
    """A huge text is shortened with a mark; short neighbours stay whole."""
    event = json.loads(line({"type": "prompt", "t": 0, "turn": 0, "a": "short", "b": "长" * 100_000}))
    assert event["a"] == "short"
    assert event["b"].endswith(CUT)
    assert len(event["b"]) > 10_000


def test_a_line_that_fits_is_not_touched() -> None:
    """No mark, no loss."""
    assert json.loads(line({"a": "短", "b": [1, 2]})) == {"a": "短", "b": [1, 2]}


_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.binary()
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner) | st.dictionaries(_SCALARS, inner) | st.tuples(inner, inner),
    max_leaves=30,
)


@given(_VALUES)
def test_anything_becomes_one_line(value: object) -> None:
    """Every value a program may hold: one line, one newline, readable again."""
    whole = line({"v": plain(value)})
    assert whole.count(b"\n") == 1
    assert json.loads(whole)["v"] == plain(value)
