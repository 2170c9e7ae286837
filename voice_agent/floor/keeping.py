"""The duties of a call that no words ask for: a greeting, whether anybody is there, what was not heard well. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from audio.types import Silent, Transcript
from retrieval.codes import find_codes
from retrieval.normalize import normalize
from retrieval.numbers import written
from retrieval.spelled import joined
from voice_agent.floor.actions import Action, Say
from voice_agent.floor.duties import Duties, Said
from voice_agent.floor.events import Event, Heard, ReplyId
from voice_agent.floor.state import Floor, IllegalEventError, State, Step

_SILENT = re.compile(r"[^\w]")
_YES = re.compile(r"(?:嗯|恩|啊|哦|对|是|是的|对的|没错|正确|好|好的|可以|没问题|就是|确认|呀|了|的)+")
_NO = re.compile(r"(?:嗯|啊|哦)*(?:不是|不对|错了?|不|没有|听错了?|说错了?)(?:的|了|啊|呀|吧)*")
_LONGEST_ANSWER = 8


def begin_call(state: State, duties: Duties) -> Step:
    """The line is open: the greeting, if there is one. It is nobody's turn, and may be interrupted like an answer."""
    if state != State():
        raise IllegalEventError("a call began twice")
    return _say(state, Said.GREETING) if duties.greeting else (state, ())


def watched(state: State, actions: tuple[Action, ...], event: Event, duties: Duties) -> Step:
    """How long nobody has spoken, and when that has lasted too long: asked twice, then leave is taken."""
    if state.reply is not None or state.floor in (Floor.HANDING_OFF, Floor.ENDED):
        return (state if state.kept.quiet_from_s is None else _quiet_from(state, None)), actions
    if (
        duties.prompt_after_s is None
        or not isinstance(event, Heard)
        or not isinstance(event.activity, Silent)
    ):
        return state, actions
    if state.floor is not Floor.IDLE or state.utterance_from_s is not None or actions:
        return state, actions
    now_s = event.activity.until_s
    if state.kept.quiet_from_s is None:
        return _quiet_from(state, now_s), actions
    if now_s - state.kept.quiet_from_s < duties.prompt_after_s:
        return state, actions
    if state.kept.prompts < duties.prompts:
        return _say(
            replace(state, kept=replace(state.kept, prompts=state.kept.prompts + 1)), Said.STILL_THERE
        )
    return _say(replace(state, kept=replace(state.kept, ending="no_answer")), Said.NO_ANSWER)


def unsure_codes(transcript: Transcript, duties: Duties) -> tuple[str, ...]:
    """The codes that are to be read back before they narrow an answer: those of a transcript not heard well."""
    if transcript.confidence >= duties.read_back_below:
        return ()
    return tuple(
        code.text for code in find_codes(written(joined(normalize(transcript.text, lower=False).text)))
    )


def affirms(text: str) -> bool:
    """Whether `text` says yes and nothing else.

    >>> affirms("对，没错。"), affirms("是的我问的是发票")
    (True, False)
    """
    words = _SILENT.sub("", text)
    return len(words) <= _LONGEST_ANSWER and bool(_YES.fullmatch(words))


def denies(text: str) -> bool:
    """Whether `text` says no and nothing else.

    >>> denies("不对不对"), denies("不是的"), denies("不是我的")
    (True, True, False)
    """
    words = _SILENT.sub("", text)
    return len(words) <= _LONGEST_ANSWER and bool(re.fullmatch(rf"(?:{_NO.pattern})+", words))


def _quiet_from(state: State, at_s: float | None) -> State:
    return replace(state, kept=replace(state.kept, quiet_from_s=at_s))


def _say(state: State, said: Said) -> Step:
    reply = ReplyId(state.last_id + 1)
    begun = replace(state, floor=Floor.THINKING, reply=reply, last_id=reply, passed=True)
    quiet = replace(
        begun, waiting_since_s=None, wait_from_s=None, kept=replace(state.kept, quiet_from_s=None)
    )
    return quiet, (Say(reply, said),)
