"""The waterfall of a turn as HTML: a lane a row, its spans placed by share of the width. Pure; all text escaped.

Bars are boxes and not a drawing, so that words keep their size on a phone. The same spans follow as a table, for
whoever reads by ear or wants the figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from voice_agent.page.frame import shown
from voice_agent.record.report_words import FLOOR, GATE, LANE, REASON, coded
from voice_agent.record.waterfall import LANES, Lane, Span, Waterfall

MARGIN_S: Final = 0.3
"""Seconds shown on both sides, so that nothing begins at the edge."""

_TICKS: Final = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)
_MOST_TICKS: Final = 9
_WORDED: Final = 8.0
"""Per cent of the width from which a bar carries words."""

_CODES: Final[Mapping[Lane, Mapping[str, str]]] = {"search": GATE, "check": REASON, "floor": FLOOR}
_STATE: Final = {"": "", "bad": "未过", "cut": "被打断或丢弃", "phrase": "固定用语"}


def waterfall(fall: Waterfall) -> str:
    """The lanes that hold anything, ticks of time, the cursor, and the table. Empty where nothing is to be placed."""
    if not fall.spans:
        return ""
    scale = _Scale(max(fall.start_s - MARGIN_S, 0.0), fall.end_s + MARGIN_S)
    lanes = [(lane, [span for span in fall.spans if span.lane == lane]) for lane in LANES]
    rows = "".join(_lane(lane, spans, scale) for lane, spans in lanes if spans)
    ticks = "".join(_tick(at, scale) for at in scale.ticks())
    name = f"这一轮的时间线，{fall.start_s:.1f} 至 {fall.end_s:.1f} 秒；逐条见下面的事件表"
    return (
        f'<div class="fall" role="group" aria-label="{name}" data-from="{scale.start_s:.3f}"'
        f' data-to="{scale.end_s:.3f}">{ticks}{rows}<div class="cursor" hidden></div></div>'
        f'<p class="readout soft">点色块看内容；有录音时点空白处从那里播放。</p>{_table(fall)}'
    )


class _Scale:
    """Seconds of the call -> per cent of the width."""

    def __init__(self, start_s: float, end_s: float) -> None:
        self.start_s = start_s
        self.end_s = max(end_s, start_s + 0.1)

    def at(self, seconds: float) -> float:
        share = (seconds - self.start_s) / (self.end_s - self.start_s)
        return 100.0 * min(max(share, 0.0), 1.0)

    def ticks(self) -> Iterator[float]:
        length = self.end_s - self.start_s
        step = next((step for step in _TICKS if length / step <= _MOST_TICKS), length)
        first = math.ceil(self.start_s / step)
        return (n * step for n in range(first, math.floor(self.end_s / step) + 1))


def _tick(at: float, scale: _Scale) -> str:
    return f'<div class="tick" style="--x:{scale.at(at) / 100:.4f}"><span>{at:g} s</span></div>'


def _lane(lane: Lane, spans: Sequence[Span], scale: _Scale) -> str:
    bars = "".join(_bar(span, scale) for span in spans)
    return (
        f'<div class="lane {lane}"><span class="who">{LANE[lane]}</span><div class="track">{bars}</div></div>'
    )


def _bar(span: Span, scale: _Scale) -> str:
    left, right = scale.at(span.start_s), scale.at(span.end_s)
    moment = span.end_s <= span.start_s
    words = shown(_worded(span)) if right - left >= _WORDED else ""
    place = f"left:{left:.2f}%" + ("" if moment else f";width:{right - left:.2f}%")
    css = " ".join(filter(None, ("moment" if moment else "bar", span.state)))
    return f'<i class="{css}" style="{place}" title="{shown(_told(span))}">{words}</i>'


def _told(span: Span) -> str:
    """播放 12.48–14.66 s：耳机保修期为十八个月。"""
    length = span.end_s - span.start_s
    when = (
        f"{span.start_s:.2f}–{span.end_s:.2f} s（{length:.2f} s）" if length > 0 else f"{span.start_s:.2f} s"
    )
    head = " ".join(filter(None, (LANE[span.lane], when, _state(span))))
    return f"{head}：{_worded(span)}" if span.text else head


def _worded(span: Span) -> str:
    """Codes with their words, what was said as it was."""
    names = _CODES.get(span.lane)
    if names is None:
        return span.text
    first, *rest = span.text.split(" ", 1)
    return " ".join((coded(names, first), *(coded(REASON, part) for part in rest)))


def _state(span: Span) -> str:
    return "" if span.lane == "floor" else _STATE[span.state]


def _table(fall: Waterfall) -> str:
    rows = "".join(
        f'<tr><td class="n">{span.start_s:.2f}</td><td class="n">{span.end_s:.2f}</td><td>{LANE[span.lane]}</td>'
        f"<td>{shown(_worded(span))}</td><td>{_state(span)}</td></tr>"
        for span in fall.spans
    )
    head = '<tr><th class="n">从</th><th class="n">到</th><th>谁</th><th>内容</th><th>状态</th></tr>'
    return f"<details><summary>事件表（{len(fall.spans)} 条）</summary>{scrolled('事件表', head + rows)}</details>"


def scrolled(name: str, rows: str, css: str = "") -> str:
    """A table that scrolls by itself where the page is narrower; reachable by keyboard."""
    table = f'<table class="{css}">{rows}</table>' if css else f"<table>{rows}</table>"
    return f'<div class="wide" tabindex="0" role="group" aria-label="{shown(name)}">{table}</div>'
