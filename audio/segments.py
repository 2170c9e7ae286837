"""Frame flags -> runs of voice and silence. Pure: one fold step a frame, seconds on the call's clock.

A flag flickers: one frame of a click is voiced, one frame inside a word is not. Two rules steady it, each over a
window that starts empty at every change:

- voice begins when `onset` of the last `window` frames are voiced, and is dated back to the first of them;
- voice ends when `release` of them are silent, and silence is dated back to the end of the last voiced frame.

What a consumer can rely on:

- Runs touch: each begins exactly where the one before it was last said to end. Nothing is counted twice.
- Silent.length_s is the true pause, from the last voiced frame, from its first report on. With the default release
  that report comes at most 0.16 s after the voice, before the shortest pause anybody decides on (soft silence, 0.2 s).
- Before that report the pause is not hidden: Voiced.until_s stays at the last voiced frame, so `pause_s` gives the
  pause of either kind, to the frame.
- While voiced frames may be the start of a run, Silent.until_s waits at the first of them. A caller who goes on at
  0.65 s has made a pause of 0.65 s, and an end of turn at 0.7 s is not called over the first word. If they come to
  nothing (a click), until_s moves on; the wait is at most `window` frames and for one click `window - onset + 1`.
- until_s never goes back within a run.
"""

from __future__ import annotations

from dataclasses import dataclass

from audio.types import Activity, Silent, Voiced


@dataclass(frozen=True, slots=True)
class SegmentRules:
    """Counts of frames of 20 ms.

    `onset` 6 of 10: a click of up to 20 ms is flagged in one to three frames, a rattle of eight a second in four of
    ten; a spoken syllable lasts longer. 6 frames are also the 120 ms after which the agent lowers its voice. `release`
    8 of 10: longer than the closure of a stop consonant, and its 0.16 s lie below the soft silence of 0.2 s.
    """

    window: int = 10
    onset: int = 6
    release: int = 8

    def __post_init__(self) -> None:
        if not (1 <= self.onset <= self.window and 1 <= self.release <= self.window):
            raise ValueError(
                f"onset {self.onset} and release {self.release} must be 1 to window {self.window}"
            )


@dataclass(frozen=True, slots=True)
class FrameFlag:
    """One frame on the call's clock, in seconds, and whether the caller was heard in it."""

    start_s: float
    end_s: float
    voiced: bool


@dataclass(frozen=True, slots=True)
class SegmentState:
    """What the fold remembers: the present run and the frames since the last change, at most a window of them."""

    run: Activity = Silent(0.0, 0.0)
    recent: tuple[FrameFlag, ...] = ()


def step(state: SegmentState, flag: FrameFlag, rules: SegmentRules) -> tuple[SegmentState, Activity]:
    """The next frame -> the new state and the run as it now stands. Start from SegmentState().

    Frames come in order; a gap (frames lost by the device) counts as silence of its length. Raises ValueError for a
    frame that ends before it starts or begins before the last one ended.
    """
    _must_follow(state, flag)
    recent = (*state.recent, flag)[-rules.window :]
    run = (
        _in_voice(state.run, recent, rules)
        if isinstance(state.run, Voiced)
        else _in_silence(state.run, recent, rules)
    )
    changed = type(run) is not type(state.run)
    return SegmentState(run, () if changed else recent), run


def pause_s(activity: Activity, now_s: float) -> float:
    """How long the caller has paused at `now_s`, the end of the newest frame; 0 while voiced."""
    return activity.length_s if isinstance(activity, Silent) else now_s - activity.until_s


def _in_voice(run: Voiced, recent: tuple[FrameFlag, ...], rules: SegmentRules) -> Activity:
    newest = recent[-1]
    if newest.voiced:
        return Voiced(run.since_s, newest.end_s)
    if sum(not flag.voiced for flag in recent) >= rules.release:
        return Silent(run.until_s, newest.end_s)
    return run


def _in_silence(run: Silent, recent: tuple[FrameFlag, ...], rules: SegmentRules) -> Activity:
    if sum(flag.voiced for flag in recent) >= rules.onset:
        first = next(flag.start_s for flag in recent if flag.voiced)
        return Voiced(first, recent[-1].end_s)
    candidate = _candidate(recent, rules)
    return Silent(run.since_s, recent[-1].end_s if candidate is None else candidate.start_s)


def _candidate(recent: tuple[FrameFlag, ...], rules: SegmentRules) -> FrameFlag | None:
    """The earliest voiced frame from which an onset can still be counted before it leaves the window."""
    for index, flag in enumerate(recent):
        seen = recent[index:]
        if flag.voiced and sum(each.voiced for each in seen) + rules.window - len(seen) >= rules.onset:
            return flag
    return None


def _must_follow(state: SegmentState, flag: FrameFlag) -> None:
    reached_s = state.recent[-1].end_s if state.recent else state.run.until_s
    if not reached_s <= flag.start_s <= flag.end_s:
        raise ValueError(
            f"a frame from {flag.start_s} to {flag.end_s} s cannot follow one that ended at {reached_s} s"
        )
