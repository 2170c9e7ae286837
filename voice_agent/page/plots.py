"""Plots as inline SVG: numbers in, a string out. Pure. Colours are classes, so that one sheet serves dark and light.

Every text is escaped here; callers pass plain strings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 560
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 26, 40
"""Room for axis names and tick labels, in the same units as WIDTH."""


@dataclass(frozen=True, slots=True)
class Line:
    """A series of (x, y) in data units. `marks` draws a dot at each point."""

    name: str
    points: tuple[tuple[float, float], ...]
    marks: bool = False
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Axes:
    """Names and upper ends of both axes; both begin at 0."""

    x: str
    y: str
    x_max: float = 1.0
    y_max: float = 1.0
    height: int = 280

    def at_x(self, value: float) -> float:
        """The place of a value, in SVG units."""
        return LEFT + (WIDTH - LEFT - RIGHT) * min(value / self.x_max, 1.0)

    def at_y(self, value: float) -> float:
        return self.height - BOTTOM - (self.height - TOP - BOTTOM) * min(value / self.y_max, 1.0)


def lines(
    title: str, axes: Axes, series: Sequence[Line], note: tuple[str, float, float] | None = None
) -> str:
    """Several series over common axes; `note` marks one point with a word."""
    drawn = [_frame(axes), _legend([line.name for line in series])]
    for n, line in enumerate(series):
        places = [(axes.at_x(x), axes.at_y(y)) for x, y in line.points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        dash = ' stroke-dasharray="5 5"' if line.dashed else ""
        drawn.append(f'<polyline class="line c{n}" points="{path}"{dash}/>')
        if line.marks:
            drawn += [f'<circle class="dot f{n}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in places]
    if note is not None:
        word, x, y = note
        left, top = axes.at_x(x), axes.at_y(y)
        drawn.append(f'<circle class="note" cx="{left:.1f}" cy="{top:.1f}" r="6"/>')
        drawn.append(_text(left + 10, top - 8, word, "label strong"))
    return _svg(title, axes.height, drawn)


def histogram(
    title: str,
    axes: Axes,
    series: Sequence[tuple[str, Sequence[int]]],
    marks: Sequence[tuple[str, float]] = (),
) -> str:
    """Counts of several labels in the same bins over x in [0, x_max], side by side; `marks` are upright lines."""
    bins = max((len(counts) for _, counts in series), default=1)
    step = (WIDTH - LEFT - RIGHT) / bins
    bar = step * 0.8 / max(len(series), 1)
    drawn = [_frame(axes), _legend([name for name, _ in series])]
    for n, (_, counts) in enumerate(series):
        for i, count in enumerate(counts):
            x, y = LEFT + step * i + step * 0.1 + bar * n, axes.at_y(count)
            height = axes.height - BOTTOM - y
            if count:
                drawn.append(
                    f'<rect class="f{n}" x="{x:.1f}" y="{y:.1f}" width="{bar:.1f}" height="{height:.1f}">'
                    f"<title>{count}</title></rect>"
                )
    for name, value in marks:
        x = axes.at_x(value)
        drawn.append(f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{axes.height - BOTTOM}"/>')
        drawn.append(_text(x + 4, TOP + 12, name, "label"))
    return _svg(title, axes.height, drawn)


@dataclass(frozen=True, slots=True)
class Bar:
    """A row of `bars`: parts from left to right, and a mark further out (a P95 behind its P50)."""

    name: str
    parts: tuple[float, ...]
    shown: str
    whisker: float | None = None


NAME_WIDTH, SHOWN_WIDTH, ROW = 110, 146, 24


def bars(title: str, rows: Sequence[Bar], names: Sequence[str], most: float) -> str:
    """Lying bars with their name on the left and their value on the right; `most` is the full width."""
    top = 30 if len(names) > 1 else 8
    scale = (WIDTH - NAME_WIDTH - SHOWN_WIDTH) / (most or 1.0)
    drawn = [_legend(names, NAME_WIDTH)] if len(names) > 1 else []
    for i, row in enumerate(rows):
        y, x = top + ROW * i, float(NAME_WIDTH)
        drawn.append(_text(NAME_WIDTH - 8, y + 15, row.name, "label end"))
        for n, part in enumerate(row.parts):
            drawn.append(
                f'<rect class="f{n}" x="{x:.1f}" y="{y + 3}" width="{part * scale:.1f}" height="{ROW - 8}"/>'
            )
            x += part * scale
        if row.whisker is not None:
            end, middle = NAME_WIDTH + row.whisker * scale, y + ROW / 2 - 1
            drawn.append(f'<line class="mark" x1="{x:.1f}" x2="{end:.1f}" y1="{middle}" y2="{middle}"/>')
            drawn.append(
                f'<line class="mark" x1="{end:.1f}" x2="{end:.1f}" y1="{middle - 5}" y2="{middle + 5}"/>'
            )
            x = max(x, end)
        drawn.append(_text(x + 8, y + 15, row.shown, "label"))
    return _svg(title, top + ROW * len(rows) + 8, drawn)


def _frame(axes: Axes) -> str:
    """Grid, ticks and axis names."""
    parts = []
    for i in range(6):
        x, y = axes.at_x(axes.x_max * i / 5), axes.at_y(axes.y_max * i / 5)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text(LEFT - 6, y + 4, f"{axes.y_max * i / 5:g}", "tick end"))
        parts.append(_text(x, axes.height - BOTTOM + 16, f"{axes.x_max * i / 5:g}", "tick middle"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, axes.height - 6, axes.x, "tick middle"))
    parts.append(_text(6, 14, axes.y, "tick"))
    return "".join(parts)


def _legend(names: Sequence[str], left: float = LEFT + 90) -> str:
    parts, x = [], left
    for n, name in enumerate(names):
        parts.append(f'<rect class="f{n}" x="{x:.0f}" y="5" width="11" height="11"/>')
        parts.append(_text(x + 16, 15, name, "label"))
        x += 34 + sum(13 if ord(char) > 0x2E80 else 7 for char in name)
    return "".join(parts)


def _text(x: float, y: float, text: str, classes: str) -> str:
    return f'<text class="{classes}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _svg(title: str, height: int, parts: Sequence[str]) -> str:
    name = escape(title)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{name}">'
        f"<title>{name}</title>{''.join(parts)}</svg>"
    )
