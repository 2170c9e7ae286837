"""Frame flags folded to runs: written as strings, one character a frame of 20 ms."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audio.segments import FrameFlag, SegmentRules, SegmentState, pause_s, step
from audio.types import Activity, Silent, Voiced

RULES = SegmentRules()
RULES_DRAWN = st.integers(2, 12).flatmap(
    lambda window: st.builds(SegmentRules, st.just(window), st.integers(2, window), st.integers(1, window))
)


def _frames(flags: str) -> list[FrameFlag]:
    """'#' is a voiced frame, '.' a silent one."""
    return [FrameFlag(i * 20 / 1000, (i + 1) * 20 / 1000, flag == "#") for i, flag in enumerate(flags)]


def _fold(flags: str, rules: SegmentRules = RULES) -> list[Activity]:
    """The activity after every frame."""
    state, seen = SegmentState(), []
    for frame in _frames(flags):
        state, activity = step(state, frame, rules)
        seen.append(activity)
    return seen


def _shown(activity: Activity) -> str:
    """`V 3-9`: voiced from frame 3 to the start of frame 9."""
    kind = "V" if isinstance(activity, Voiced) else "S"
    return f"{kind} {round(activity.since_s * 50)}-{round(activity.until_s * 50)}"


@pytest.mark.parametrize(
    ("flags", "last"),
    [
        (".", "S 0-1"),
        ("." * 100, "S 0-100"),
        # onset: six of ten, dated back to the first
        ("....######", "V 4-10"),
        ("....#####", "S 0-4"),
        ("....##.##.##", "V 4-12"),
        ("....##...####", "V 4-13"),
        # the seventh frame cannot make six of ten with the first any more: the run begins later
        ("#.......######", "V 8-14"),
        # a click, a double click, a rattle of every second frame: never voice
        ("....#....", "S 0-4"),
        ("....#.....", "S 0-10"),
        ("....##......", "S 0-12"),
        ("#." * 50, "S 0-92"),
        # voice holds through short gaps, reaching to the last voiced frame only
        ("######", "V 0-6"),
        ("######.......", "V 0-6"),
        ("######.......#", "V 0-14"),
        # release: eight silent ones, dated back
        ("######........", "S 6-14"),
        ("######....#...", "V 0-11"),
        ("######....#....", "S 11-15"),
        ("######....#......", "S 11-17"),
        # after a release the window is new: what was voiced before does not help the next onset
        ("######...##......" + "####", "S 11-17"),
        ("######...##......" + "######", "V 17-23"),
        # after an onset the window is new: gaps before it do not hasten the release
        ("#.#.##.#.#" + "...", "V 0-10"),
    ],
)
def test_flags_become_runs(flags: str, last: str) -> None:
    """The table of the rules: what the run is after the last frame."""
    assert _shown(_fold(flags)[-1]) == last


def test_a_pause_is_seen_before_the_release() -> None:
    """Frame by frame after the voice, the pause grows by 20 ms, whether the run still holds or not."""
    flags = "." * 5 + "#" * 10 + "." * 20
    seen = list(zip(_frames(flags), _fold(flags), strict=True))[14:]
    assert [round(pause_s(activity, frame.end_s) * 50) for frame, activity in seen] == list(range(21))
    kinds = [type(activity) for _, activity in seen]
    assert kinds == [Voiced] * 8 + [Silent] * 13


def test_soft_silence_is_reported_in_time() -> None:
    """A pause of 0.2 s is a Silent of 0.2 s at that very frame: nobody who waits for it waits longer."""
    assert _fold("#" * 10 + "." * 10)[-1] == Silent(0.2, 0.4)


def test_going_on_just_before_the_end_of_a_turn_is_not_an_end() -> None:
    """Voice again after 0.66 s of pause: no report before the onset is known reaches 0.7 s."""
    seen = _fold("#" * 10 + "." * 33 + "#" * 6)
    assert max(activity.length_s for activity in seen if isinstance(activity, Silent)) < 0.7
    assert _shown(seen[-1]) == "V 43-49"


def test_a_click_delays_a_pause_by_less_than_it_could_be_speech() -> None:
    """A click at 0.66 s holds the clock of the pause for five frames, then it moves on to now."""
    seen = _fold("#" * 10 + "." * 33 + "#" + "." * 10)
    assert [round(activity.until_s * 50) for activity in seen[42:50]] == [43, 43, 43, 43, 43, 43, 49, 50]


def test_lost_frames_are_silence() -> None:
    """A gap in the positions counts by its length: the pause is measured on the clock, not in frames."""
    state = SegmentState()
    for frame in _frames("#" * 6):
        state, _ = step(state, frame, RULES)
    for i in range(8):
        state, activity = step(state, FrameFlag(10 + i / 50, 10 + (i + 1) / 50, False), RULES)
    assert activity == Silent(0.12, 10.16)


@pytest.mark.parametrize(("start_s", "end_s"), [(0.10, 0.12), (0.20, 0.19), (-1.0, 0.5)])
def test_frames_out_of_order_are_a_mistake(start_s: float, end_s: float) -> None:
    """A frame that goes back raises, and the state is unchanged."""
    state = SegmentState()
    for frame in _frames("######"):
        state, _ = step(state, frame, RULES)
    before = state
    with pytest.raises(ValueError, match="cannot follow one that ended at 0.12 s"):
        step(state, FrameFlag(start_s, end_s, True), RULES)
    assert state == before


@pytest.mark.parametrize("counts", [(10, 0, 8), (10, 11, 8), (10, 6, 0), (10, 6, 11), (0, 1, 1)])
def test_rules_that_can_never_fire_are_refused(counts: tuple[int, int, int]) -> None:
    """Counts lie between 1 and the window."""
    with pytest.raises(ValueError, match="must be 1 to window"):
        SegmentRules(*counts)


@settings(deadline=None)
@given(flags=st.text("#.", max_size=150), rules=RULES_DRAWN)
def test_runs_touch_and_never_go_back(flags: str, rules: SegmentRules) -> None:
    """Within a run since_s stays and until_s grows; a new run begins exactly where the one before last reached."""
    before: Activity = Silent(0.0, 0.0)
    for frame, activity in zip(_frames(flags), _fold(flags, rules), strict=True):
        if type(activity) is type(before):
            assert activity.since_s == before.since_s
            assert activity.until_s >= before.until_s
        else:
            assert activity.since_s == before.until_s
        assert activity.since_s <= activity.until_s <= frame.end_s
        before = activity


@settings(deadline=None)
@given(flags=st.text("#.", max_size=150), rules=RULES_DRAWN)
def test_voice_is_bounded_by_voiced_frames(flags: str, rules: SegmentRules) -> None:
    """A voiced run begins with a voiced frame, ends with one, and holds as many as the onset asks."""
    frames = _frames(flags)
    starts = {frame.start_s for frame in frames if frame.voiced}
    ends = {frame.end_s for frame in frames if frame.voiced}
    for activity in _fold(flags, rules):
        if isinstance(activity, Voiced):
            inside = [frame for frame in frames if activity.since_s <= frame.start_s < activity.until_s]
            assert activity.since_s in starts
            assert activity.until_s in ends
            assert sum(frame.voiced for frame in inside) >= rules.onset


@settings(deadline=None)
@given(flags=st.text("#.", max_size=150), rules=RULES_DRAWN)
def test_silence_lags_by_a_window_at_most(flags: str, rules: SegmentRules) -> None:
    """Doubtful frames hold the clock of a pause for no more than a window, so no rattle delays an end for ever."""
    for frame, activity in zip(_frames(flags), _fold(flags, rules), strict=True):
        lag = (frame.end_s - activity.until_s) * 50
        assert lag <= rules.window + 1e-6


@settings(deadline=None)
@given(flags=st.text("#.", max_size=80), rules=RULES_DRAWN, at=st.integers(0, 80))
def test_the_fold_has_no_memory_but_its_state(flags: str, rules: SegmentRules, at: int) -> None:
    """Going on from a stored state gives what going through gives; the state never exceeds a window."""
    state, seen = SegmentState(), []
    for index, frame in enumerate(_frames(flags)):
        if index == at:
            state = SegmentState(state.run, tuple(state.recent))
        state, activity = step(state, frame, rules)
        seen.append(activity)
        assert len(state.recent) <= rules.window
        assert state.run == activity
    assert seen == _fold(flags, rules)
