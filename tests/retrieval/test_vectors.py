"""Batches by length, and unit rows: tables and laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.errors import ModelError
from retrieval.vectors import batches, normalised


@given(st.lists(st.integers(1, 60)), st.integers(1, 200))
def test_batches_hold_every_index_once_within_the_budget(lengths: list[int], budget: int) -> None:
    """Each index comes exactly once, shortest first, and a batch of several rows stays within the budget."""
    made = list(batches(lengths, budget))
    flat = [index for batch in made for index in batch]
    assert sorted(flat) == list(range(len(lengths)))
    assert [lengths[index] for index in flat] == sorted(lengths)
    for batch in made:
        assert len(batch) == 1 or len(batch) * max(lengths[index] for index in batch) <= budget


def test_a_batch_is_as_full_as_the_budget_allows() -> None:
    """Nothing is split that fits together."""
    assert list(batches([5, 5, 5, 5], 20)) == [[0, 1, 2, 3]]
    assert list(batches([3, 1, 2], 4)) == [[1, 2], [0]]


def test_rows_become_unit_length() -> None:
    """Direction is kept, length becomes one, no rows stay no rows."""
    made = normalised(np.array([[3, 4], [0, -2]], np.float32))
    assert np.allclose(made, [[0.6, 0.8], [0, -1]])
    assert made.dtype == np.float32
    assert normalised(np.zeros((0, 2), np.float32)).shape == (0, 2)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
def test_a_row_without_direction_is_an_error(bad: float) -> None:
    """NaN, infinite and zero rows never become scores."""
    with pytest.raises(ModelError, match="without direction"):
        normalised(np.array([[1, 1], [bad, bad]], np.float32))
