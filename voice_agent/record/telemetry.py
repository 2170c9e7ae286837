"""Monitoring fed by the events of the journal: Prometheus metrics and OpenTelemetry spans, off unless configured.

The libraries are the extra `telemetry` and are loaded only when something is switched on.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from voice_agent.errors import ConfigError
from voice_agent.record.journal import Recorder
from voice_agent.record.measures import METRICS, Data, measures
from voice_agent.record.spans import CallSpans

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer
    from prometheus_client import CollectorRegistry

_BOUNDS_S = (0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 120.0, 600.0)
"""Buckets from the fastest stage to a long call."""

_EXTRA = "needs the extra telemetry; pip install 'voice-agent[telemetry]'"


class Watcher(Protocol):
    """Sees every event after it was written."""

    def saw(self, kind: str, t: float, turn: int, data: Data) -> None: ...


class Watched:
    """A recorder whose events others see too, once they are on the disk."""

    def __init__(self, recorder: Recorder, watchers: Sequence[Watcher]) -> None:
        self._recorder = recorder
        self._watchers = tuple(watchers)

    def write(self, kind: str, t: float, turn: int, **data: object) -> None:
        """As Recorder says."""
        self._recorder.write(kind, t, turn, **data)
        for watcher in self._watchers:
            watcher.saw(kind, t, turn, data)


class Metrics:
    """The counters and histograms of all calls of the process, in a registry of their own."""

    def __init__(self, registry: CollectorRegistry) -> None:
        from prometheus_client import Counter, Gauge, Histogram

        self.open_calls = Gauge("voice_agent_open_calls", "Calls under way", registry=registry)
        self._counters: dict[str, Counter] = {}
        self._seconds: dict[str, Histogram] = {}
        for metric in METRICS:
            facts = f"voice_agent_{metric.name}", metric.tells, metric.labels
            if metric.kind == "counter":
                self._counters[metric.name] = Counter(*facts, registry=registry)
            else:
                self._seconds[metric.name] = Histogram(*facts, registry=registry, buckets=_BOUNDS_S)

    def saw(self, kind: str, t: float, turn: int, data: Data) -> None:
        """Counts what the event tells."""
        for measure in measures(kind, data):
            labels = measure.labels
            if measure.name in self._counters:
                counter = self._counters[measure.name]
                (counter.labels(**labels) if labels else counter).inc(measure.value)
            else:
                seconds = self._seconds[measure.name]
                (seconds.labels(**labels) if labels else seconds).observe(measure.value)


@dataclass(frozen=True, slots=True)
class Telemetry:
    """What is switched on; with neither, calls are recorded as if there were no monitoring."""

    metrics: Metrics | None = None
    tracer: Tracer | None = None

    @contextmanager
    def watching(self, call: str, recorder: Recorder) -> Iterator[Recorder]:
        """The recorder of one call, watched until the block ends."""
        watchers: list[Watcher] = []
        with ExitStack() as stack:
            if self.metrics is not None:
                watchers.append(self.metrics)
                stack.enter_context(self.metrics.open_calls.track_inprogress())
            if self.tracer is not None:
                spans = CallSpans(self.tracer, call, time.time_ns())
                stack.callback(spans.close)
                watchers.append(spans)
            yield Watched(recorder, watchers) if watchers else recorder


OFF = Telemetry()


@dataclass(frozen=True, slots=True)
class Outlets:
    """Where monitoring goes (config: telemetry). `file` is where spans are written, one JSON object a line."""

    spans: Literal["off", "file", "environment"] = "off"
    file: Path = Path("spans.jsonl")
    port: int | None = None
    host: str = "127.0.0.1"


@contextmanager
def open_telemetry(outlets: Outlets) -> Iterator[Telemetry]:
    """Serves metrics at host:port, if one is given, and sends spans. Raises ConfigError."""
    with ExitStack() as stack:
        metrics = None if outlets.port is None else stack.enter_context(_served(outlets.host, outlets.port))
        tracer = None if outlets.spans == "off" else stack.enter_context(_traced(outlets))
        yield Telemetry(metrics, tracer)


@contextmanager
def _served(host: str, port: int) -> Iterator[Metrics]:
    try:
        from prometheus_client import CollectorRegistry, start_http_server
    except ImportError as e:
        raise ConfigError(f"telemetry.prometheus_port: {_EXTRA}") from e
    registry = CollectorRegistry()
    try:
        server, thread = start_http_server(port, addr=host, registry=registry)
    except OSError as e:
        raise ConfigError(
            f"telemetry.prometheus_port: {host}:{port} cannot be served ({e.strerror}); choose another"
        ) from e
    try:
        yield Metrics(registry)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def _traced(outlets: Outlets) -> Iterator[Tracer]:
    try:
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
    except ImportError as e:
        raise ConfigError(f"telemetry.spans: {_EXTRA}") from e
    if outlets.spans == "environment":
        yield trace.get_tracer("voice_agent")
        return
    try:
        outlets.file.parent.mkdir(parents=True, exist_ok=True)
        file = outlets.file.open("a", encoding="utf-8")
    except OSError as e:
        raise ConfigError(f"telemetry.spans: {outlets.file} cannot be written ({e.strerror})") from e
    with file:
        provider = TracerProvider(shutdown_on_exit=False)
        exporter = ConsoleSpanExporter(out=file, formatter=lambda span: str(span.to_json(indent=None)) + "\n")
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        try:
            yield provider.get_tracer("voice_agent")
        finally:
            provider.shutdown()
