"""A turn in the report: the line that is always there, and what opens below it. Pure; all text escaped.

What opens lies in a template until then: five hundred turns in full would be too much for a phone to lay out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from voice_agent.page.frame import shown
from voice_agent.page.plots import Bar, bars
from voice_agent.record.call_record import GateRecord, TurnRecord, UtteranceRecord
from voice_agent.record.gate_reading import GateRow, gate_rows
from voice_agent.record.jsonable import plain
from voice_agent.record.report_scores import scores
from voice_agent.record.report_sentences import sentences
from voice_agent.record.report_waterfall import scrolled, waterfall
from voice_agent.record.report_words import GATE, HANDOFF, OUTCOME, REASON, STAGE, coded, word
from voice_agent.record.stages import Failure, failure_of
from voice_agent.record.waterfall import Waterfall

_GOOD: Final = ("answered", "clarify")
_PLAY: Final = (
    '<p class="listen" hidden><button type="button" data-play="{:.2f}">从这一轮播放录音</button></p>'
)
_GATE_HEAD: Final = "<tr><th>特征</th>{}<th>是否满足</th></tr>".format(
    "".join(f'<th class="n">{name}</th>' for name in ("值", "需要", "权重", "贡献"))
)


@dataclass(frozen=True, slots=True)
class TurnView:
    """A turn with what the page needs besides: a name unique in the page, its stretch of the call, and its failure."""

    name: str
    turn: TurnRecord
    fall: Waterfall | None
    failure: Failure | None

    @classmethod
    def of(cls, name: str, turn: TurnRecord, fall: Waterfall | None) -> TurnView:
        return cls(name, turn, fall, failure_of(turn))


def turn_article(view: TurnView) -> str:
    """The whole turn. Its data attributes are what the filters and the search go by."""
    turn, failure = view.turn, view.failure
    stage = failure.stage if failure else ""
    attributes = {
        "outcome": turn.outcome or "",
        "stage": stage,
        "reason": turn.handoff or "",
        "find": _findable(view),
    }
    data = " ".join(f'data-{name}="{shown(value)}"' for name, value in attributes.items())
    return (
        f'<article class="turn" {data}><h3><button type="button" aria-expanded="false"'
        f' aria-controls="{view.name}">{_line(view)}</button></h3>'
        f'<div class="panel" id="{view.name}" hidden></div><template>{_panel(view)}</template></article>'
    )


def _findable(view: TurnView) -> str:
    """Every word and code that a search may be for."""
    turn = view.turn
    cited = (f"{e.id} {e.text}" for sentence in turn.sentences for e in sentence.evidence)
    codes = (
        turn.outcome,
        turn.handoff,
        turn.gate.reason if turn.gate else None,
        *(s.reason for s in turn.sentences),
    )
    heard = (f"{one.text} {one.raw}" for one in turn.utterances)
    parts = (
        *heard,
        turn.query,
        *(s.text for s in turn.sentences),
        *(s.text for s in turn.spoken),
        *cited,
        *codes,
    )
    return " ".join(dict.fromkeys(part for part in parts if part)).casefold()


def _line(view: TurnView) -> str:
    turn = view.turn
    at = "" if view.fall is None else f"{int(view.fall.start_s) // 60}:{int(view.fall.start_s) % 60:02d}"
    question = turn.heard or turn.raw or "（没有听到话）"
    answer = " ".join(spoken.text for spoken in turn.spoken) or "（没有说话）"
    return (
        f'<span class="no">{turn.turn}<small>{at}</small></span>'
        f'<span class="words"><span class="q">{shown(question)}</span> '
        f'<span class="a soft">{shown(answer)}</span></span>'
        f' <span class="tags">{"".join(_tags(view))}</span>'
    )


def _tags(view: TurnView) -> Iterator[str]:
    turn = view.turn
    if turn.outcome:
        css = "good" if turn.outcome in _GOOD and view.failure is None else ""
        yield f'<span class="tag {css}">{shown(word(OUTCOME, turn.outcome))}</span> '
    if view.failure:
        yield f'<span class="tag bad">败在{STAGE[view.failure.stage]}</span> '
    if turn.handoff:
        yield f'<span class="tag">转人工：{shown(word(HANDOFF, turn.handoff))}</span> '
    if turn.first_audio_s is not None:
        yield f'<span class="tag soft">首声 {turn.first_audio_s:.2f} s</span>'


def _panel(view: TurnView) -> str:
    turn, failure = view.turn, view.failure
    failed = ""
    if failure:
        cause = " · ".join(filter(None, (coded(REASON, failure.cause), failure.detail)))
        failed = f'<p class="failed"><b class="bad">败在{STAGE[failure.stage]}</b> {shown(cause)}</p>'
    parts = (
        ("时间线", waterfall(view.fall) if view.fall else ""),
        ("听到与查询", _heard(turn)),
        ("说出与依据", sentences(turn)),
        ("每层的分数", scores(turn)),
        ("门控", _gate(turn.gate) if turn.gate else ""),
        ("用时", _times(turn)),
    )
    play = "" if view.fall is None else _PLAY.format(view.fall.start_s)
    return failed + play + "".join(f"<h4>{name}</h4>{body}" for name, body in parts if body)


def _heard(turn: TurnRecord) -> str:
    rows = [
        (f"听到 {n}" if len(turn.utterances) > 1 else "听到", _utterance(one))
        for n, one in enumerate(turn.utterances, 1)
    ]
    down = "；".join(f"{name}：{cause}" for name, cause in turn.down.items())
    rows += [
        ("查询", shown(turn.query)),
        ("改写", shown(turn.rewritten)),
        ("检索词", shown(" ".join(turn.terms))),
        ("编号", shown(" ".join(turn.codes))),
        ("修正", shown("；".join(_compact(repair) for repair in turn.repairs))),
        ("前文", shown(" | ".join(turn.history))),
        ("日期", shown(turn.as_of)),
        ("缺的一路", shown(down)),
        ("插话", shown(" | ".join(word or "（没有听清）" for word in turn.barge_ins))),
        ("中止", shown(coded(HANDOFF, turn.halted))),
        ("转人工", shown(" ".join(filter(None, (coded(HANDOFF, turn.handoff), turn.delivery))))),
        ("故障", shown(" | ".join(turn.errors))),
    ]
    body = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in rows if value)
    return scrolled("听到与查询", body, "facts") if body else ""


def _utterance(one: UtteranceRecord) -> str:
    raw = "" if one.raw == one.text else f' <span class="soft">原文：{shown(one.raw)}</span>'
    sure = "" if one.confidence is None else f' <span class="soft">把握 {one.confidence:.2f}</span>'
    dropped = f' <b class="tag bad">丢弃：{shown(one.dropped)}</b>' if one.dropped else ""
    return f"{shown(one.text)}{raw}{sure}{dropped}"


def _compact(value: object) -> str:
    return json.dumps(plain(value), ensure_ascii=False)


def _gate(gate: GateRecord) -> str:
    css = "good" if gate.outcome == "ANSWER" else "bad"
    verdict = " ".join(filter(None, (coded(GATE, gate.outcome), coded(REASON, gate.reason))))
    rows = gate_rows(gate)
    missed = sum(row.holds is False for row in rows)
    table = scrolled("门控特征", _GATE_HEAD + "".join(_gate_row(row) for row in rows))
    return (
        f'<p><b class="tag {css}">{shown(verdict)}</b></p>'
        f"<details><summary>特征与门槛（{len(rows)} 项，{missed} 项不满足）</summary>{table}</details>"
    )


def _gate_row(row: GateRow) -> str:
    cells = "".join(
        f'<td class="n">{_short(part)}</td>' for part in (row.value, row.least, row.weight, row.share)
    )
    holds = "" if row.holds is None else "是" if row.holds else "否"
    return f'<tr><td>{shown(row.name)}</td>{cells}<td class="{"bad" if row.holds is False else ""}">{holds}</td></tr>'


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _times(turn: TurnRecord) -> str:
    if not turn.stages_ms:
        return ""
    rows = [Bar(name, (float(ms),), f"{ms:.1f} ms") for name, ms in turn.stages_ms.items()]
    plot = bars("各级用时", rows, ("用时",), max(float(ms) for ms in turn.stages_ms.values()))
    return f'<div class="times">{plot}</div>'
