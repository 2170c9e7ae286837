"""Token vectors: looked up by text, weighed by rarity, centred without losing what is not a number."""

from __future__ import annotations

import numpy as np
import pytest

from retrieval.token_store import (
    CENTRE_TOKENS,
    CENTRED_SHARE,
    centre_of,
    centred,
    count_holding,
    lengths_from,
    rows_by_text,
)


def test_centring_spreads_vectors_that_lean_one_way() -> None:
    """Two unrelated vectors with a large common part are near before and far after it is taken out."""
    rng = np.random.default_rng(1)
    common = rng.normal(size=64)
    vectors = (common * 3 + rng.normal(size=(4000, 64))).astype(np.float32)
    plain = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    moved = centred(plain, centre_of(plain))
    assert float(plain[0] @ plain[1]) > 0.8
    assert float(moved[0] @ moved[1]) < 0.5
    assert np.allclose(np.linalg.norm(moved, axis=1), 1.0, atol=1e-5)


def test_few_tokens_are_trusted_less() -> None:
    """The mean of few tokens is their content: less of it is subtracted, of none nothing."""
    ones = np.ones((CENTRE_TOKENS, 3), dtype=np.float32)
    assert centre_of(ones) == pytest.approx(np.full(3, CENTRED_SHARE / 2))
    assert centre_of(ones[:1])[0] < 0.01
    assert centre_of(np.zeros((0, 3), np.float32)).tolist() == [0.0, 0.0, 0.0]


def test_a_vector_on_the_centre_becomes_zero_and_nan_stays() -> None:
    """Zero length does not divide, and a broken vector is not repaired into a zero."""
    centre = np.array([1.0, 0.0], dtype=np.float32)
    moved = centred(np.array([[1.0, 0.0], [np.nan, 0.0], [0.0, 0.0]], dtype=np.float32), centre)
    assert moved[0].tolist() == [0.0, 0.0]
    assert np.isnan(moved[1]).any()
    assert moved[2].tolist() == [-1.0, 0.0]
    assert lengths_from(np.array([[1.0, 2.0]], dtype=np.float16), centre).tolist() == [2.0]


def test_a_token_counts_once_a_text() -> None:
    """Holding counts texts, not occurrences."""
    ids = np.array([0, 0, 1, 1, 2], dtype=np.int32)
    assert count_holding(ids, np.array([0, 3, 5])) == {0: 1, 1: 2, 2: 1}


def test_equal_texts_share_the_first_row() -> None:
    """Their vectors are equal, so either will do; the first is taken."""
    assert rows_by_text(["a", "b", "a"]) == {"a": 0, "b": 1}
