"""Calls as one HTML file that needs nothing else: every turn with its waterfall, sound, evidence and scores. Pure.

Nothing of a journal reaches the script as code or data: it is in the page as escaped text, and the script only
shows, hides and copies what is already there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

from voice_agent.page.frame import page, shown
from voice_agent.record.report_call import CallView, call_section, moment
from voice_agent.record.report_script import SCRIPT
from voice_agent.record.report_style import SHEET
from voice_agent.record.report_turn import TurnView
from voice_agent.record.report_words import HANDOFF, OUTCOME, STAGE, coded, word

KEYS = (
    ("j / ↓", "下一轮"),
    ("k / ↑", "上一轮"),
    ("Enter", "打开或合上这一轮"),
    ("/", "到搜索框"),
    ("p", "从这一轮播放，再按暂停"),
    ("t", "浅色、深色、随系统"),
    ("Esc", "离开搜索框；合上帮助"),
    ("?", "这份帮助"),
)


def html_report(calls: Sequence[CallView], left_out: str = "") -> str:
    """The whole page. `left_out` says what was asked for and is not in it."""
    views = [(n, call, call.turns(n)) for n, call in enumerate(calls, start=1)]
    turns = [turn for _, _, mine in views for turn in mine]
    title = f"通话 {calls[0].record.call}" if len(calls) == 1 else f"通话报告：{len(calls)} 通"
    started = sorted(moment(call.record.started) for call in calls if call.record.started)
    span = " 至 ".join(dict.fromkeys((started[0], started[-1]))) if started else ""
    body = (
        f'<header><div class="top"><h1>{shown(title)}</h1>{_buttons()}</div><p class="sub">{shown(span)}</p>'
        f"{_left_out(left_out)}{_tiles(calls, turns)}</header>{_filters(turns)}"
        f"<main>{''.join(call_section(*view) for view in views)}"
        f'<p id="none" hidden>没有这样的一轮。</p></main>{_help()}'
    )
    return page(title, body, SHEET, SCRIPT)


def _left_out(why: str) -> str:
    return f'<p class="bad">{shown(why)}</p>' if why else ""


def _buttons() -> str:
    return (
        '<div class="buttons"><button type="button" id="theme">配色：随系统</button>'
        '<button type="button" id="keys" aria-haspopup="dialog">按键 ?</button></div>'
    )


def _tiles(calls: Sequence[CallView], turns: Sequence[TurnView]) -> str:
    """The few numbers that are looked at first."""
    waits = [turn.turn.first_audio_s for turn in turns if turn.turn.first_audio_s is not None]
    blocked = sum(not sentence.passed for turn in turns for sentence in turn.turn.sentences)
    handed = sum(call.record.handoff is not None for call in calls)
    shares = (
        ("通话", str(len(calls))),
        ("轮", str(len(turns))),
        ("转人工的通话", str(handed)),
        ("失败的轮", str(sum(turn.failure is not None for turn in turns))),
        ("拦下的句子", str(blocked)),
        ("首声（中位）", f"{median(waits):.2f} s" if waits else "–"),
    )
    each = "".join(f'<div class="tile"><span>{name}</span><b>{value}</b></div>' for name, value in shares)
    return f'<div class="tiles">{each}</div>'


def _filters(turns: Sequence[TurnView]) -> str:
    """Search and three choices, each with what there is and how often."""
    outcomes = Counter(turn.turn.outcome or "" for turn in turns)
    stages = Counter(turn.failure.stage if turn.failure else "" for turn in turns)
    reasons = Counter(turn.turn.handoff or "" for turn in turns)
    choices = (
        _choice("outcome", "结果", OUTCOME, outcomes, "没有记录"),
        _choice("stage", "败在", STAGE, stages, "没有失败"),
        _choice("reason", "转人工", HANDOFF, reasons, "没有转"),
    )
    return (
        '<search class="filters"><label>搜索 <input type="search" id="find" autocomplete="off" spellcheck="false"'
        f' placeholder="问题、回答、段落、代码"></label>{"".join(choices)}'
        f'<output id="count" aria-live="polite">{len(turns)} / {len(turns)} 轮</output></search>'
    )


def _choice(name: str, label: str, words: Mapping[str, str], counts: Mapping[str, int], none: str) -> str:
    """`*` stands for all; the empty value for turns that have none."""
    known = [code for code in words if code in counts]
    codes = [
        *known,
        *sorted(code for code in counts if code not in words and code),
        *([""] if "" in counts else []),
    ]
    options = "".join(
        f'<option value="{shown(code)}">{shown(_named(words, code) or none)}（{counts[code]}）</option>'
        for code in codes
    )
    return f'<label>{label} <select id="{name}"><option value="*">全部</option>{options}</select></label>'


def _named(words: Mapping[str, str], code: str) -> str:
    return coded(words, code) if words is HANDOFF else word(words, code)


def _help() -> str:
    rows = "".join(f"<tr><th><kbd>{shown(key)}</kbd></th><td>{text}</td></tr>" for key, text in KEYS)
    return (
        '<dialog id="help" aria-labelledby="help-title"><h2 id="help-title">按键</h2>'
        f'<table>{rows}</table><form method="dialog"><button>合上</button></form></dialog>'
    )
