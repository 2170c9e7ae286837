"""How each layer placed the passages, as one drawing: an upright axis a layer, a line a passage. Pure.

Layers measure on scales of their own, so each axis runs from its lowest to its highest score; a line that falls
shows where a passage was lost. Cited passages have colours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from voice_agent.page.frame import shown
from voice_agent.record.call_record import RankedRecord, TurnRecord
from voice_agent.record.report_waterfall import scrolled
from voice_agent.record.report_words import LAYER, word

SHOWN: Final = 7
"""Passages drawn, those cited besides: more lines are a thicket."""

_COLOURS: Final = 4
_WIDTH, _HEIGHT = 660, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 50, 230, 44, 18
_LABEL: Final = 15
_LABEL_LENGTH: Final = 26

Layers = Mapping[str, tuple[RankedRecord, ...]]


def layers_of(turn: TurnRecord) -> dict[str, tuple[RankedRecord, ...]]:
    """The layers that placed anything, in the order of the search."""
    layers = {**turn.channels, "fused": turn.fused, "reranked": turn.reranked}
    return {name: ranking for name, ranking in layers.items() if ranking}


def scores(turn: TurnRecord) -> str:
    """Drawing and table; empty where nothing was found."""
    layers = layers_of(turn)
    if not layers:
        return ""
    cited = list(dict.fromkeys(passage for sentence in turn.sentences for passage in sentence.cited))
    lists = (turn.reranked, turn.fused, *turn.channels.values())
    found = list(dict.fromkeys(one.id for ranking in lists for one in ranking))
    known = [passage for passage in cited if passage in found]
    drawn = [*known, *(passage for passage in found if passage not in known)][: SHOWN + len(known)]
    return _drawing(layers, drawn, known) + _table(layers, found)


def _drawing(layers: Layers, passages: Sequence[str], cited: Sequence[str]) -> str:
    step = (_WIDTH - _LEFT - _RIGHT) / max(len(layers) - 1, 1)
    at = {name: _LEFT + step * n for n, name in enumerate(layers)}
    axes = "".join(_axis(name, at[name], ranking) for name, ranking in layers.items())
    lines, ends = [], []
    for passage in reversed(passages):  # the cited ones last: on top
        css = f"{cited.index(passage) % _COLOURS}" if passage in cited else "x"
        places = [
            (at[name], _height(ranking, one), one)
            for name, ranking in layers.items()
            if (one := _placed(ranking, passage)) is not None and one.score is not None
        ]
        lines.append(_line(passage, css, places))
        if places and places[-1][0] == max(at.values()):
            ends.append((places[-1][1], passage, css))
    name = "每层的分数：引用的段落有颜色，排名与分数见下表"
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="每层的分数图"><svg class="layers"'
        f' viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{name}">'
        f"{axes}{''.join(lines)}{_labels(ends)}</svg></div>"
    )


def _placed(ranking: Sequence[RankedRecord], passage: str) -> RankedRecord | None:
    return next((one for one in ranking if one.id == passage), None)


def _height(ranking: Sequence[RankedRecord], one: RankedRecord) -> float:
    scored = [other.score for other in ranking if other.score is not None]
    low, high = min(scored), max(scored)
    share = ((one.score or 0.0) - low) / (high - low) if high > low else 1.0
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1.0 - share)


def _axis(name: str, x: float, ranking: Sequence[RankedRecord]) -> str:
    scored = [one.score for one in ranking if one.score is not None]
    ends = (f"{max(scored):.3g}", f"{min(scored):.3g}") if scored else ("", "")
    return (
        f'<line class="grid" x1="{x:.0f}" x2="{x:.0f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>'
        f'<text class="middle strong" x="{x:.0f}" y="14">{shown(word(LAYER, name))}</text>'
        f'<text class="middle tick" x="{x:.0f}" y="{_TOP - 12}">{ends[0]}</text>'
        f'<text class="middle tick" x="{x:.0f}" y="{_HEIGHT - 3}">{ends[1]}</text>'
    )


def _line(passage: str, css: str, places: Sequence[tuple[float, float, RankedRecord]]) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in places)
    dots = "".join(
        f'<circle class="f{css}" cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{shown(passage)} '
        f"第 {one.rank} 名 {one.score:.4g}</title></circle>"
        for x, y, one in places
    )
    return f'<g><polyline class="line c{css}" points="{path}"/>{dots}</g>'


def _labels(ends: Sequence[tuple[float, str, str]]) -> str:
    """Names at the right, each at its line's height or as near below as there is room, all within the drawing."""
    ordered = sorted(ends)
    parts, least = [], float(_TOP - 4)
    for n, (y, passage, css) in enumerate(ordered):
        room = _HEIGHT - 4 - _LABEL * (len(ordered) - 1 - n)
        at = min(max(y + 4, least), room)
        least = at + _LABEL
        short = passage if len(passage) <= _LABEL_LENGTH else f"{passage[: _LABEL_LENGTH - 1]}…"
        end = _WIDTH - _RIGHT
        parts.append(f'<line class="grid" x1="{end + 6}" x2="{end + 18}" y1="{y:.1f}" y2="{at - 4:.1f}"/>')
        parts.append(
            f'<text class="t{css}" x="{end + 22}" y="{at:.1f}"><title>{shown(passage)}</title>{shown(short)}</text>'
        )
    return "".join(parts)


def _table(layers: Layers, passages: Sequence[str]) -> str:
    head = "".join(f"<th>{shown(word(LAYER, name))}</th>" for name in layers)
    rows = "".join(
        f"<tr><td>{shown(passage)}</td>"
        + "".join(_cell(_placed(ranking, passage)) for ranking in layers.values())
        + "</tr>"
        for passage in passages
    )
    table = scrolled("排名与分数", f"<tr><th>段落</th>{head}</tr>{rows}")
    return f"<details><summary>排名与分数（{len(passages)} 段）</summary>{table}</details>"


def _cell(one: RankedRecord | None) -> str:
    if one is None:
        return '<td class="soft">–</td>'
    score = "–" if one.score is None else f"{one.score:.4g}"
    return f'<td>{one.rank} <span class="soft">{score}</span></td>'
