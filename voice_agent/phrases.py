"""Every Chinese phrase the agent says that is not an answer. Spoken without a citation, so none may state a fact."""

from __future__ import annotations

from typing import Final

from retrieval.types import GateReason

HANDOFF: Final = "这个问题我没有把握，马上为您转接人工客服，请稍等。"
HANDOFF_ASKED: Final = "好的，马上为您转接人工客服，请稍等。"
REPEAT: Final = "抱歉，我没有听清，请您再说一遍。"
CLARIFY: Final = "请您说得再具体一些，比如具体的产品、型号或者业务名称。"
CLARIFY_CODE: Final = "请您把完整的代码或者型号再说一遍。"
HOLD: Final = "我查一下。"
HOLD_AGAIN: Final = "还在查，请您稍等。"
LEAD_IN: Final = "关于您的问题，"
CALLBACK: Final = "抱歉，现在没有人工客服接听，您的问题已经记下，同事稍后会给您回电。"
CALL_LATER: Final = "抱歉，现在无法转接人工客服，请您稍后再拨。"
GREETING: Final = "您好，我是智能语音助手，请问有什么可以帮您？"
GREETING_RECORDED: Final = "您好，我是智能语音助手，本次通话会被录音，请问有什么可以帮您？"
STILL_THERE: Final = "您好，请问您还在吗？"
NO_ANSWER: Final = "一直没有听到您的声音，我先挂断了，欢迎您再次来电，再见。"
GOODBYE: Final = "感谢您的来电，再见。"
ANYTHING_ELSE: Final = "请问还有什么可以帮您？"
GO_ON: Final = "好的，您请说。"
NOTHING_TO_REPEAT: Final = "刚才还没有说到可以重复的内容，请您说一下您的问题。"
TOO_LONG: Final = "这次通话时间比较长了，马上为您转接人工客服，请稍等。"

ALL: Final = (
    HANDOFF,
    HANDOFF_ASKED,
    REPEAT,
    CLARIFY,
    CLARIFY_CODE,
    HOLD,
    HOLD_AGAIN,
    LEAD_IN,
    CALLBACK,
    CALL_LATER,
    GREETING,
    GREETING_RECORDED,
    STILL_THERE,
    NO_ANSWER,
    GOODBYE,
    ANYTHING_ELSE,
    GO_ON,
    NOTHING_TO_REPEAT,
    TOO_LONG,
)
"""What is synthesised before the first call, so that it is there when a model is not."""


def clarification(reason: GateReason | None) -> str:
    """What to ask when the gate wants to know more."""
    if reason is GateReason.ASR_LOW:
        return REPEAT
    return CLARIFY_CODE if reason is GateReason.CODE_UNCOVERED else CLARIFY


def read_back(words: str) -> str:
    """What the caller is asked to confirm. `words` are their own, never ours.

    >>> read_back("ERR2048")
    '您说的是ERR2048，对吗？'
    """
    return f"您说的是{words}，对吗？"
