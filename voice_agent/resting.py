"""A voice that is left alone for a while after it has failed: no caller waits again for a service that is down."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

from audio.errors import SpeechError, SpeechFault
from audio.types import Samples, Synthesizer
from voice_agent.reply.breaker import Breaker, BreakerRules


class RestingSynthesizer:
    """A Synthesizer over another one, behind a circuit breaker that all calls of the process share."""

    def __init__(
        self,
        inner: Synthesizer,
        rules: BreakerRules | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inner, self._rules, self._now = inner, rules or BreakerRules(), now
        self._breaker = Breaker()
        self._lock = threading.Lock()

    @property
    def engine(self) -> str:
        return self._inner.engine

    @property
    def voice(self) -> str:
        return self._inner.voice

    def synthesize(self, text: str) -> Iterator[Samples]:
        """The other's blocks. Raises SpeechError, at once while it rests."""
        with self._lock:
            if not self._breaker.allows(self._now()):
                told = f"{self.engine}: left alone after {self._breaker.faults} faults in a row"
                raise SpeechError(SpeechFault.RESTING, told)
            self._breaker = self._breaker.begun()
        try:
            yield from self._inner.synthesize(text)
        except SpeechError:
            with self._lock:
                self._breaker = self._breaker.failed(self._now(), self._rules)
            raise
        except GeneratorExit:
            with self._lock:
                self._breaker = self._breaker.abandoned()
            raise
        with self._lock:
            self._breaker = self._breaker.succeeded()
