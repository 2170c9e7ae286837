"""A call as OpenTelemetry spans: the call, in it its turns, in them what was heard and said. Numbers and codes only.

Spans lie on the call's own clock, counted from the wall time at which it began. Those of turns are sent when the call
is over: words and times of a turn may come in after its reply has ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from voice_agent.record.measures import Data, measures, number

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

_NS = 1_000_000_000

_STRETCHES = {"transcript": "heard", "spoken": "said"}
# Events that tell when something began and ended, in seconds of the call's clock.


class CallSpans:
    """Takes the events of one call. `close` ends what is still open; `call` is the id under which its journal lies."""

    def __init__(self, tracer: Tracer, call: str, began_ns: int) -> None:
        self._tracer = tracer
        self._began_ns = began_ns
        self._last_s = 0.0
        self._call = tracer.start_span("call", start_time=began_ns, attributes={"voice_agent.call": call})
        self._turns: dict[int, Span] = {}
        self._last_of: dict[int, float] = {}

    def saw(self, kind: str, t: float, turn: int, data: Data) -> None:
        """One event, before it was masked: nothing of it passes but what measures.py lets through."""
        self._last_s = max(self._last_s, t)
        self._last_of[turn] = t
        span = self._turn(turn, t) if turn else self._call
        for measure in measures(kind, data):
            for label, value in measure.labels.items():
                span.set_attribute(f"voice_agent.{measure.name}.{label}", value)
            if measure.name.endswith("seconds"):
                suffix = "".join(f".{value}" for value in measure.labels.values())
                span.set_attribute(f"voice_agent.{measure.name}{suffix}", measure.value)
        if kind in _STRETCHES:
            self._stretch(_STRETCHES[kind], span, data)

    def close(self) -> None:
        """Ends the call's spans at its last event."""
        for turn, span in self._turns.items():
            span.end(self._at(self._last_of[turn]))
        self._call.end(self._at(self._last_s))

    def _turn(self, turn: int, t: float) -> Span:
        if turn not in self._turns:
            self._turns[turn] = self._child("turn", self._call, t, {"voice_agent.turn": turn})
        return self._turns[turn]

    def _stretch(self, name: str, within: Span, data: Data) -> None:
        start_s, end_s = number(data.get("start_s")), number(data.get("end_s"))
        if start_s is not None and end_s is not None:
            self._child(name, within, start_s, {}).end(self._at(end_s))

    def _child(self, name: str, within: Span, t: float, attributes: Mapping[str, int]) -> Span:
        from opentelemetry.trace import set_span_in_context

        context = set_span_in_context(within)
        return self._tracer.start_span(name, context, start_time=self._at(t), attributes=attributes)

    def _at(self, t: float) -> int:
        return self._began_ns + round(t * _NS)
