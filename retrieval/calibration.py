"""What a calibration chose, kept beside the index: thresholds, fusion, what they are good for, and what was measured.

A calibration is bound to the reranker, its scale, the encoder and the features the gate weighs; with any other of
these it means nothing, and `check_fits` refuses it. Another corpus only makes it stale.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, get_args

from retrieval.errors import StoreError
from retrieval.types import Channel

FILE: Final = "calibration.json"
FORMAT: Final = 1

State = Literal["shipped", "stored", "stale"]
"""Where the thresholds in force come from: the package's own, a calibration of this corpus, or the stricter of both
because the corpus has changed since.
"""


@dataclass(frozen=True, slots=True)
class Bound:
    """False accepts on the half that chose the thresholds and on the other one, with the upper Clopper–Pearson bound
    (one-sided, 95 %) of the latter. `needed` is how many questions without an error would show the wanted rate.
    """

    wanted: float
    chosen_on: tuple[int, int]
    seen_on: tuple[int, int]
    upper: float
    needed: int

    @property
    def shown(self) -> bool:
        """Whether the other half is large and clean enough to show the wanted rate."""
        return self.upper <= self.wanted


@dataclass(frozen=True, slots=True)
class Calibration:
    """`thresholds` override the shipped ones by name; `weights` and `blend` are the fusion's, by channel."""

    reranker: str
    scale: str
    encoder: str
    features: str
    corpus: str
    made: str
    thresholds: Mapping[str, float]
    bound: Bound
    weights: Mapping[Channel, float] = field(default_factory=dict)
    blend: Mapping[Channel, float] = field(default_factory=dict)


def features_sha(coefficients: Mapping[str, float], reader: str = "") -> str:
    """A fingerprint of what the gate weighs and how, and of the model it reads passages with; thresholds chosen under
    another are not comparable.
    """
    weighed = {key: value for key, value in coefficients.items() if key.startswith(("weight_", "bias"))}
    return hashlib.sha256(json.dumps([weighed, reader], sort_keys=True).encode()).hexdigest()[:12]


def save(calibration: Calibration, place: Path) -> Path:
    """Writes it to a .json file or into an index folder, whole or not at all. Raises StoreError."""
    path = place if place.suffix == ".json" else place / FILE
    loose = path.with_name(f"{path.name}.{os.getpid()}")
    text = json.dumps({"format": FORMAT, **asdict(calibration)}, ensure_ascii=False, indent=1)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        loose.write_text(text + "\n", encoding="utf-8")
        os.replace(loose, path)
    except OSError as e:
        raise StoreError(f"calibration {path}: cannot be written ({e.strerror}); choose another place") from e
    return path


def load(path: Path) -> Calibration | None:
    """What `save` wrote, None when there is none. Raises StoreError when it cannot be read or says what cannot be."""
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as e:
        raise _unreadable(path, e) from e
    try:
        return _parsed(facts)
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise _unreadable(path, e) from e


def _parsed(facts: dict[str, Any]) -> Calibration:
    if facts.pop("format") != FORMAT:
        raise ValueError("its format is not one this version reads")
    bound = facts.pop("bound")
    pairs = {name: (int(bound[name][0]), int(bound[name][1])) for name in ("chosen_on", "seen_on")}
    numbers = {
        name: {str(key): float(value) for key, value in facts.pop(name).items()}
        for name in ("thresholds", "weights", "blend")
    }
    made = Calibration(**{**facts, **numbers, "bound": Bound(**{**bound, **pairs})})
    answer, clarify = made.thresholds["answer"], made.thresholds["clarify"]
    if not 0.0 <= clarify <= answer <= 1.0 or any(not value >= 0.0 for value in made.weights.values()):
        raise ValueError(f"thresholds answer {answer} and clarify {clarify} cannot be")
    if not {*made.weights, *made.blend} <= set(get_args(Channel)):
        raise ValueError("it weighs a channel that is not known")
    return made


def _unreadable(path: Path, cause: Exception) -> StoreError:
    return StoreError(f"calibration {path}: cannot be read ({cause}); run voice-agent calibrate again")


def check_fits(
    calibration: Calibration, reranker: str, scale: str, encoder: str, features: str, path: Path
) -> None:
    """Raises StoreError, naming the first difference, when it was made for other models, scales or features."""
    ours = {"reranker": reranker, "scale": scale, "encoder": encoder, "features": features}
    for name, value in ours.items():
        stored = getattr(calibration, name)
        if stored != value:
            raise StoreError(
                f"calibration {path}: made for {name} {stored}, not {value}; run voice-agent calibrate again"
            )


def in_force(
    shipped: Mapping[str, float], calibration: Calibration | None, corpus: str
) -> tuple[dict[str, float], State]:
    """The thresholds to decide by. For a corpus that has changed since, each threshold is the stricter of both, and
    what the calibration had found to be safe without (a channel that is down) no longer is.
    """
    if calibration is None:
        return dict(shipped), "shipped"
    if calibration.corpus == corpus:
        return {**shipped, **calibration.thresholds}, "stored"
    stricter = {name: max(shipped[name], calibration.thresholds[name]) for name in ("answer", "clarify")}
    return {**shipped, **stricter}, "stale"
