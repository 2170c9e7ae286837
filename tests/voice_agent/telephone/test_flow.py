"""Sound at the pace of speech, marks that come back, keys that make numbers: the small decisions of a line."""

from __future__ import annotations

import pytest

from voice_agent.telephone.flow import (
    FASTER,
    LEAD_PACKETS,
    QUIET_PACKETS,
    SLACK_S,
    TOO_MUCH_S,
    Inflow,
    Spurts,
)
from voice_agent.telephone.keypad import MAX_KEYS, PAUSE_S, Dialled, Keypad
from voice_agent.telephone.marks import MAX_OPEN, Marks

QUIET, WORD = b"\xff" * 160, b"\x00" * 160


def test_speech_at_its_own_pace_always_comes_in() -> None:
    """An hour of packets, the far clock 1 % fast, one second held back by the network in between."""
    inflow = Inflow(0.0)
    now_s = 0.0
    for packet in range(180_000):
        now_s = packet * 0.0198
        late = 1.0 if 1000 <= packet < 1051 else 0.0
        assert inflow.take(0.02, max(now_s, 1000 * 0.0198 + late if late else now_s))
    assert inflow.refused_s == 0


def test_what_comes_faster_than_speech_is_not_taken() -> None:
    """Twice the pace: the slack fills up, then every second packet is refused, and in the end it is a flood."""
    inflow = Inflow(0.0)
    taken = [inflow.take(0.02, packet * 0.01) for packet in range(int(TOO_MUCH_S / 0.01))]
    took_s = sum(taken) * 0.02
    assert took_s == pytest.approx(len(taken) * 0.01 * FASTER + SLACK_S, rel=0.01)
    assert not inflow.flooded
    for packet in range(len(taken), len(taken) + 1000):
        inflow.take(0.02, packet * 0.01)
    assert inflow.flooded


def test_a_stretch_of_speech_has_a_lead_and_an_end() -> None:
    """Silence before it is sent thrice; a short pause within belongs to it; after 0.2 s nothing more is sent."""
    spurts = Spurts(QUIET)
    assert spurts.send(QUIET).packets == ()
    first = spurts.send(WORD)
    assert first.began
    assert first.packets == (QUIET,) * LEAD_PACKETS + (WORD,)
    pause = [spurts.send(QUIET) for _ in range(QUIET_PACKETS - 1)]
    assert all(out.packets == (QUIET,) and not out.ended for out in pause)
    again = spurts.send(WORD)
    assert (again.packets, again.began) == ((WORD,), False)
    tail = [spurts.send(QUIET) for _ in range(QUIET_PACKETS + 5)]
    assert [out.ended for out in tail].count(True) == 1
    assert tail[QUIET_PACKETS - 1].ended
    assert all(out.packets == () for out in tail[QUIET_PACKETS:])


def test_after_a_clear_the_next_word_begins_anew() -> None:
    """The far side has dropped the lead with the rest."""
    spurts = Spurts(QUIET)
    spurts.send(WORD)
    spurts.clear()
    assert spurts.send(QUIET).packets == ()
    assert spurts.send(WORD).began


def test_a_mark_that_comes_back_tells_the_delay() -> None:
    """The first is believed, later ones move it a little; a mark before one that came back has been passed too."""
    marks = Marks()
    first = marks.place(1.0)
    assert first is not None
    assert marks.waiting
    assert marks.reached(first, 1.3)
    assert marks.delay_s == pytest.approx(0.3)
    assert not marks.waiting
    marks.place(2.0)
    later = marks.place(2.0)
    assert later is not None
    assert marks.reached(later, 2.8)
    assert marks.delay_s == pytest.approx(0.8 * 0.3 + 0.2 * 0.8)
    assert not marks.waiting
    assert not marks.reached("of-nobody", 3.0)


def test_a_cleared_mark_says_nothing() -> None:
    """The far side returns what it dropped at once: nobody heard it, so it is no measure of the delay."""
    marks = Marks()
    name = marks.place(1.0)
    assert name is not None
    marks.clear()
    assert not marks.waiting
    assert not marks.reached(name, 1.01)
    assert marks.delay_s == 0.0


def test_a_side_that_returns_no_marks_is_asked_no_more() -> None:
    """So many may be out; the list does not grow."""
    marks = Marks()
    names = [marks.place(0.0) for _ in range(MAX_OPEN + 3)]
    assert names[MAX_OPEN:] == [None] * 3
    assert len(set(names)) == MAX_OPEN + 1


def test_keys_pressed_in_a_row_are_one_number() -> None:
    """Ended by a pause or by #; the pause is counted from the last key."""
    keypad = Keypad("0")
    assert [keypad.press(key, at) for at, key in enumerate("138")] == [None] * 3
    assert keypad.pause(2 + PAUSE_S - 0.1) is None
    assert keypad.pause(2 + PAUSE_S) == Dialled("138", person=False)
    assert keypad.pause(99.0) is None
    keypad.press("1", 100.0)
    assert keypad.press("#", 100.1) == Dialled("1", person=False)


@pytest.mark.parametrize(
    ("keys", "person_key", "person"), [("0", "0", True), ("10", "0", False), ("0", "", False)]
)
def test_one_key_alone_calls_for_a_person(keys: str, person_key: str, person: bool) -> None:
    """Not as part of a number, and only if a key is configured."""
    keypad = Keypad(person_key)
    for key in keys:
        keypad.press(key, 0.0)
    assert keypad.pause(PAUSE_S) == Dialled(keys, person=person)


def test_keys_without_end_are_cut() -> None:
    """A stuck key fills no memory."""
    keypad = Keypad("0")
    dialled = [told for at in range(100) if (told := keypad.press("7", float(at) / 10))]
    assert [len(each.keys) for each in dialled] == [MAX_KEYS] * 3
