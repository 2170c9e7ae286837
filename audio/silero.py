"""Silero's voice detector, as its wheel ships it, run by ONNX Runtime: neither torch nor the wheel's own code loads.

The graph judges windows of 32 ms, each with the last 4 ms before it, and remembers the call in a state it is given
back. A frame is 20 ms, so its answer is that of the newest whole window: at most 32 ms old.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from audio.errors import ModelError
from audio.types import CALL_RATE_HZ, Samples

_FILE = "data/silero_vad_16k_op15.onnx"
_WINDOW = 512
_CONTEXT = 64
_STATE_SHAPE = (2, 1, 128)

ENTER, KEEP = 0.5, 0.35
"""Probability from which a window is speech, and stays speech when the one before it was; the authors' own limits."""


class SileroModel:
    """The loaded graph; any number of calls share it, from any thread."""

    def __init__(self, path: Path | None = None) -> None:
        """Takes the file of the installed wheel unless `path` names one. Raises ModelError."""
        where = path or _installed()
        try:
            # Imported here: whoever listens by webrtcvad needs neither.
            import onnxruntime
            from onnxruntime.capi import onnxruntime_pybind11_state as states
        except ImportError as error:
            raise ModelError(
                f"onnxruntime cannot be imported ({error}): install the package again"
            ) from error
        # ONNX Runtime's exceptions have no common ancestor but Exception.
        own = [
            kind for kind in vars(states).values() if isinstance(kind, type) and issubclass(kind, Exception)
        ]
        self._faults: tuple[type[Exception], ...] = (RuntimeError, ValueError, OSError, *own)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = (
            1  # 0.3 ms a window: no thread is worth waking
        )
        try:
            self._session: Any = onnxruntime.InferenceSession(
                str(where), options, providers=["CPUExecutionProvider"]
            )
        except self._faults as error:
            raise ModelError(f"{where}: {_one_line(error)}: install silero-vad again") from error

    def run(self, window: Samples, state: Samples) -> tuple[float, Samples]:
        """Context and window, shape (576,), and the state before -> probability of speech and the state after.

        Raises ModelError, also when the probability is no number.
        """
        inputs = {"input": window[None], "state": state, "sr": np.array(CALL_RATE_HZ, dtype=np.int64)}
        try:
            probability, after = self._session.run(None, inputs)
        except self._faults as error:
            raise ModelError(f"silero failed: {_one_line(error)}") from error
        sure = float(probability[0, 0])
        if not 0 <= sure <= 1:
            raise ModelError(f"silero gave {sure} for a probability: install silero-vad again")
        return sure, after


class SileroSpeech:
    """Silero's opinion, frame by frame, of one call."""

    def __init__(self, model: SileroModel) -> None:
        self._model = model
        self._state: Samples = np.zeros(_STATE_SHAPE, dtype=np.float32)
        self._context: Samples = np.zeros(_CONTEXT, dtype=np.float32)
        self._waiting: Samples = np.zeros(0, dtype=np.float32)
        self._speech = False

    def is_speech(self, samples: Samples) -> bool:
        """The next stretch of the call, of any length. Raises ModelError."""
        self._waiting = np.concatenate([self._waiting, samples])
        while len(self._waiting) >= _WINDOW:
            window, self._waiting = self._waiting[:_WINDOW], self._waiting[_WINDOW:]
            sure, self._state = self._model.run(np.concatenate([self._context, window]), self._state)
            self._context = window[-_CONTEXT:]
            self._speech = sure >= (KEEP if self._speech else ENTER)
        return self._speech


def _installed() -> Path:
    """Where the wheel put the graph. Looking the package up does not run it, for it would import torch."""
    spec = importlib.util.find_spec("silero_vad")
    folders = list(spec.submodule_search_locations or []) if spec else []
    path = Path(folders[0], _FILE) if folders else None
    if path is None or not path.is_file():
        raise ModelError(
            f"vad.engine silero: {_FILE} of silero-vad is missing: pip install 'voice-agent[silero]', or webrtc"
        )
    return path


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
