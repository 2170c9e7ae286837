"""The stored calibration: bound to its models, stricter when the corpus has changed, never half read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from retrieval.calibration import FILE, Bound, Calibration, check_fits, features_sha, in_force, load, save
from retrieval.errors import StoreError

BOUND = Bound(wanted=0.02, chosen_on=(1, 90), seen_on=(2, 95), upper=0.06, needed=149)
MADE = Calibration(
    reranker="late/1",
    scale="unit",
    encoder="e5-1",
    features="abc",
    corpus="corpus-1",
    made="2026-11-30",
    thresholds={"answer": 0.7, "clarify": 0.1, "without_phonetic": 1.0},
    bound=BOUND,
    weights={"bm25": 1.0, "phonetic": 0.5},
    blend={"dense": 0.2},
)
SHIPPED = {"answer": 0.5, "clarify": 0.15, "near": 0.02, "bias": -1.0, "weight_dense_top": 2.0}


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    """Into an index folder or a file of one's own; beside nothing there is nothing."""
    assert load(tmp_path / FILE) is None
    assert load(save(MADE, tmp_path)) == MADE == load(tmp_path / FILE)
    assert load(save(MADE, tmp_path / "other" / "shadow.json")) == MADE


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"thresholds": {"answer": 0.7}},
        {"thresholds": {"answer": 0.1, "clarify": 0.7}},
        {"thresholds": {"answer": "high", "clarify": 0.1}},
        {"thresholds": {"answer": float("nan"), "clarify": 0.1}},
        {"weights": {"bm25": -1.0}},
        {"weights": {"smell": 1.0}},
        {"bound": None},
        {"surprise": 1},
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    """A calibration that is damaged or edited by hand is one line that names the file, never a guess."""
    path = save(MADE, tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **change}), encoding="utf-8")
    with pytest.raises(StoreError, match=r"calibration .*calibration.json: cannot be read .*calibrate again"):
        load(path)


def test_a_cut_file_is_refused(tmp_path: Path) -> None:
    """Half a file is no calibration."""
    path = save(MADE, tmp_path)
    path.write_text(path.read_text("utf-8")[:80], encoding="utf-8")
    with pytest.raises(StoreError, match="cannot be read"):
        load(path)


@pytest.mark.parametrize("name", ["reranker", "scale", "encoder", "features"])
def test_another_model_scale_or_feature_refuses_to_start(name: str) -> None:
    """The difference is named; the corpus is not one of them."""
    ours = {"reranker": "late/1", "scale": "unit", "encoder": "e5-1", "features": "abc"}
    check_fits(MADE, **ours, path=Path(FILE))
    with pytest.raises(StoreError, match=f"made for {name} "):
        check_fits(replace(MADE, **{name: "other"}), **ours, path=Path(FILE))


def test_thresholds_in_force() -> None:
    """Shipped without a calibration; the calibration's on its own corpus; on another the stricter of both, one by one,
    and without the permission to miss a channel.
    """
    assert in_force(SHIPPED, None, "corpus-1") == (SHIPPED, "shipped")
    stored, state = in_force(SHIPPED, MADE, "corpus-1")
    assert state == "stored" and stored == {**SHIPPED, **MADE.thresholds}
    stale, state = in_force(SHIPPED, MADE, "corpus-2")
    assert state == "stale" and stale == {**SHIPPED, "answer": 0.7, "clarify": 0.15}


def test_features_are_told_apart_by_what_they_weigh() -> None:
    """A coefficient more or another one is another gate; a threshold is not."""
    assert features_sha(SHIPPED) == features_sha({**SHIPPED, "answer": 0.9})
    assert features_sha(SHIPPED) != features_sha({**SHIPPED, "weight_dense_top": 3.0})
    assert features_sha(SHIPPED) != features_sha({**SHIPPED, "weight_new": 0.0})
