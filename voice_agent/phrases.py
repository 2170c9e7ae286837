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
CALLBACK: Final = "抱歉，现在没有人工客服接听，您的问题已经记下，同事稍后会给您回电。"
CALL_LATER: Final = "抱歉，现在无法转接人工客服，请您稍后再拨。"

ALL: Final = (
    HANDOFF,
    HANDOFF_ASKED,
    REPEAT,
    CLARIFY,
    CLARIFY_CODE,
    HOLD,
    HOLD_AGAIN,
    CALLBACK,
    CALL_LATER,
)
"""What is synthesised before the first call, so that it is there when a model is not."""


def clarification(reason: GateReason | None) -> str:
    """What to ask when the gate wants to know more."""
    if reason is GateReason.ASR_LOW:
        return REPEAT
    return CLARIFY_CODE if reason is GateReason.CODE_UNCOVERED else CLARIFY
