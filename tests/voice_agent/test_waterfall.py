"""Laws of the waterfall: everything lies where the call's clock had it, and nothing of a turn is lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.voice_agent.reported_calls import write_report_call
from voice_agent.record.lines import read_lines
from voice_agent.record.report_waterfall import waterfall
from voice_agent.record.waterfall import LANES, Span, Waterfall, spans_of, waterfalls


@pytest.fixture
def falls(tmp_path: Path) -> dict[int, Waterfall]:
    return waterfalls(read_lines(write_report_call(tmp_path, "one", 4)).events)


def lane(fall: Waterfall, name: str) -> list[tuple[float, float, str, str]]:
    return [(round(s.start_s, 3), round(s.end_s, 3), s.text, s.state) for s in fall.spans if s.lane == name]


def test_each_lane_says_from_when_to_when(falls: dict[int, Waterfall]) -> None:
    """The answered turn, second by second, from the caller's first sound to the end of the reply."""
    fall = falls[4]
    assert (fall.start_s, fall.end_s) == (30.5, 38.3)
    assert lane(fall, "caller") == [(30.5, 32.4, "第4次问：退款多久到账？", "")]
    assert lane(fall, "vad") == [(30.7, 32.4, "", "")]
    assert lane(fall, "partial") == [(31.4, 31.4, "退款", "")]
    assert lane(fall, "endpoint") == [(32.4, 33.2, "", "")]
    assert lane(fall, "asr") == [(33.2, 33.6, "嗯第4次问：退款多久到账？", "")]
    assert lane(fall, "search") == [(33.6, 33.8, "ANSWER", "")]
    assert lane(fall, "write") == [(33.8, 34.2, "退款3天到账。[S1]", "")]
    assert lane(fall, "check") == [(34.18, 34.2, "✓", "")]
    assert lane(fall, "speech") == [(34.2, 35.0, "退款三天到账。", "")]
    assert lane(fall, "play") == [(35.0, 38.0, "退款三天到账。", "")]
    assert lane(fall, "floor") == [(38.2, 38.2, "error speech slow", "bad")]


def test_what_failed_looks_it(falls: dict[int, Waterfall]) -> None:
    """A refusal, a blocked sentence, a cut sentence and our own phrase each bear their state."""
    assert lane(falls[1], "search")[0][2:] == ("REFUSE LOW_SCORE", "bad")
    assert lane(falls[2], "check")[0][2:] == ("NUM_UNSUPPORTED", "bad")
    assert lane(falls[2], "play")[0][3] == "phrase" and not lane(falls[2], "speech")
    assert lane(falls[3], "play")[0][3] == "cut"
    assert lane(falls[3], "floor")[0][2] == "barge_in 等等"


def test_a_barge_in_lies_in_the_turn_it_cut() -> None:
    """What the caller says over the agent is of the next turn, and is seen in both."""
    events = [
        {"type": "transcript", "t": 2.0, "turn": 1, "text": "一", "start_s": 0.5, "end_s": 1.5},
        {"type": "speech_started", "t": 4.0, "turn": 1},
        {"type": "reply_ended", "t": 5.0, "turn": 1, "outcome": "interrupted"},
        {"type": "partial", "t": 5.6, "turn": 1, "text": "二"},
        {"type": "speech_ended", "t": 7.0, "turn": 1, "ended_s": 6.2},
        {"type": "transcript", "t": 7.5, "turn": 2, "text": "二", "start_s": 3.9, "end_s": 6.2},
    ]
    falls = waterfalls(events)
    assert falls[1].end_s == 5.0 and falls[2].start_s == 3.9
    assert lane(falls[1], "caller") == [(0.5, 1.5, "一", ""), (3.9, 6.2, "二", "")]
    assert lane(falls[1], "vad") == lane(falls[2], "vad") == [(4.0, 6.2, "", "")]


def test_a_journal_without_times_has_no_waterfall() -> None:
    """Fields of a wrong type read as absent, and what has no place is not placed."""
    events = [
        {"type": "transcript", "turn": 1, "t": "now", "start_s": 1},
        {"type": "spoken", "turn": 1, "t": 2.0, "start_s": None, "index": "x"},
        {"type": "gate", "t": 1.0},
    ]
    assert [span.lane for span in spans_of(events)] == ["search"]
    assert waterfall(Waterfall(0.0, 1.0, ())) == ""


def test_bars_lie_within_the_width_in_order_of_lanes(falls: dict[int, Waterfall]) -> None:
    """Per cent of the width grow with time; lanes come in one order; a span beyond the stretch is cut to it."""
    text = waterfall(Waterfall(10.0, 20.0, (Span("play", 9.0, 25.0, "a"), Span("caller", 12.0, 14.0, "b"))))
    assert re.findall(r'class="lane (\w+)"', text) == ["caller", "play"]
    (caller, play) = [tuple(map(float, m)) for m in re.findall(r"left:([\d.]+)%;width:([\d.]+)%", text)]
    assert caller == pytest.approx((100 * 2.3 / 10.6, 100 * 2 / 10.6), abs=0.01)
    assert play == (0.0, 100.0)
    lanes = re.findall(r'class="lane (\w+)"', waterfall(falls[4]))
    assert lanes == sorted(lanes, key=lambda name: [*map(str, LANES)].index(name))
    assert waterfall(falls[4]).count("<tr>") == len(falls[4].spans) + 1
