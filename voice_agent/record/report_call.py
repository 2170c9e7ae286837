"""A call in the report: what it was, its recording, and its turns. Pure; all text escaped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from voice_agent.page.frame import shown
from voice_agent.record.call_record import CallRecord
from voice_agent.record.jsonable import plain
from voice_agent.record.report_sound import Sound
from voice_agent.record.report_turn import TurnView, turn_article
from voice_agent.record.report_waterfall import scrolled
from voice_agent.record.report_words import ENDING, HANDOFF, coded, word
from voice_agent.record.waterfall import Waterfall


@dataclass(frozen=True, slots=True)
class CallView:
    """A call with what the page needs besides: where its turns lie on its clock, and its sound."""

    record: CallRecord
    falls: Mapping[int, Waterfall]
    sound: Sound

    def turns(self, n: int) -> tuple[TurnView, ...]:
        """Its turns, named as those of the page's call number n."""
        return tuple(
            TurnView.of(f"c{n}t{turn.turn}", turn, self.falls.get(turn.turn)) for turn in self.record.turns
        )


def call_section(n: int, view: CallView, turns: tuple[TurnView, ...]) -> str:
    """The whole call."""
    call = view.record
    length = None if call.length_s is None else f"{call.length_s:.1f} 秒"
    handoff = f"转人工：{coded(HANDOFF, call.handoff)}" if call.handoff else None
    facts = (
        moment(call.started),
        length,
        f"{len(turns)} 轮",
        f"结束：{word(ENDING, call.ended) or '没有记录'}",
        handoff,
    )
    problems = "".join(f'<p class="bad">{shown(problem)}</p>' for problem in call.problems)
    return (
        f'<section class="call" aria-labelledby="c{n}"><h2 id="c{n}">{shown(call.call)}</h2>'
        f'<p class="sub">{shown(" · ".join(fact for fact in facts if fact))}</p>'
        f"{problems}{_sound(view)}{_header(call)}{''.join(turn_article(turn) for turn in turns)}</section>"
    )


def moment(started: str) -> str:
    """2026-11-30 09:00:05: as its own clock had it, without zone and fractions."""
    return started[:19].replace("T", " ")


def _sound(view: CallView) -> str:
    if not view.sound.address:
        return f'<p class="soft">{shown(view.sound.note)}</p>' if view.sound.note else ""
    name = f"通话 {view.record.call} 的录音：左声道是来电者，右声道是客服"
    return f'<audio controls preload="metadata" aria-label="{shown(name)}" src="{shown(view.sound.address)}"></audio>'


def _header(call: CallRecord) -> str:
    """With which models, configuration and knowledge base the call was held, and how long each took to get ready."""
    told = {
        name: value
        for name, value in call.header.items()
        if name not in ("type", "schema", "call", "started")
    }
    rows = [(name, _compact(value)) for name, value in {**told, **call.counters}.items()]
    rows += [(f"就绪 {stage}", f"{float(ms):.0f} ms") for stage, ms in call.ready_ms.items()]
    rows += [("过时事件", str(call.stale_events))] if call.stale_events is not None else []
    if not rows:
        return ""
    body = "".join(f"<tr><th>{shown(name)}</th><td>{shown(value)}</td></tr>" for name, value in rows)
    return f"<details><summary>模型与配置</summary>{scrolled('模型与配置', body, 'facts')}</details>"


def _compact(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False)
