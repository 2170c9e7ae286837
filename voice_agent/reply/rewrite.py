"""A follow-up made whole: what "那信用卡呢" leaves out stands in the turn before. Pure, no model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.codes import find_codes


@dataclass(frozen=True, slots=True)
class Exchange:
    """One earlier turn as it was heard and spoken. `answer` holds whole sentences that were played to the end.

    `interrupted` is the sentence that the caller cut: it tells what they were reacting to, and nothing more. It is no
    evidence, is not searched along and is never said again.
    """

    question: str
    answer: str
    interrupted: str = ""


_LEANS_BACK = re.compile(
    r"^(那|那么|它|他|这个|那个|这|如果|要是|万一|还有|另外|超过|不是说)|它|这个|那个|这种|那种|刚才|上面"
)
_ONLY_A_SWITCH = re.compile(r"^.{1,14}呢[？?。]?$")
_NAMES_BOTH = re.compile(r"^那么?(?![它这那])[\u4e00-\u9fff]{2,6}的[\u4e00-\u9fff]{2,6}呢[？?。]?$")
"""那耳机的保修期呢 goes on from a question but names thing and fact itself: the turn before would only mislead."""

_SHORT = 7
"""A question of at most this many characters seldom names its own subject (多少钱, 要几天, 为什么)."""


_HE_OR_SHE = re.compile(r"(?<![其吉])[他她](?![们人乡])")


def neutral(question: str) -> str:
    """他, 她 and 它 sound alike: what callers ask a service line about is 它.

    >>> neutral("那他什么时候能修好"), neutral("其他人呢")
    ('那它什么时候能修好', '其他人呢')
    """
    return _HE_OR_SHE.sub("它", question)


def leans_on_history(question: str) -> bool:
    """Whether the question needs the turn before it to be understood.

    >>> leans_on_history("那信用卡呢"), leans_on_history("多久能到"), leans_on_history("银行卡退款几天到账")
    (True, True, False)
    """
    text = question.strip()
    if (find_codes(text) and not _ONLY_A_SWITCH.match(text)) or _NAMES_BOTH.match(text):
        return False
    return len(text) <= _SHORT or bool(_LEANS_BACK.search(text) or _ONLY_A_SWITCH.match(text))


def leaned_on(question: str, history: Sequence[Exchange]) -> Exchange | None:
    """The turn that the question needs to be understood, if it needs one: the last."""
    return history[-1] if history and leans_on_history(question) else None


def standalone(question: str, before: Exchange | None) -> str:
    """The question as one who did not hear the turn before would need it, for the generator, the check and the record.

    Nothing of the question itself is altered, so its numbers, codes and negations survive. A code of the earlier
    question is left out when the new one names another.
    """
    if before is None:
        return question
    earlier = before.question
    if find_codes(question):
        for code in reversed(find_codes(earlier)):
            earlier = earlier[: code.start] + earlier[code.end :]
    return f"{earlier.rstrip('。？?！! ')}，{question}"
