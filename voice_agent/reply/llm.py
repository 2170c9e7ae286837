"""A language model as the agent sees it: a prompt in, a stream of text out, and every way that can fail by name."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from voice_agent.errors import AgentError

SHOWN = 300
"""Characters of a server's own words that are kept: they name the model or the limit in their first line."""


class LlmFault(StrEnum):
    """What went wrong with a language model."""

    UNREACHABLE = "LLM_UNREACHABLE"
    NO_MODEL = "LLM_NO_MODEL"
    REJECTED = "LLM_REJECTED"
    SERVER = "LLM_SERVER"
    SLOW = "LLM_SLOW"
    BROKEN_OFF = "LLM_BROKEN_OFF"
    GARBLED = "LLM_GARBLED"
    EMPTY = "LLM_EMPTY"
    TOO_BIG = "LLM_TOO_BIG"
    RESTING = "LLM_RESTING"


class LlmError(AgentError):
    """A language model gave no usable answer. `fault` is the kind, the message one line with the server's own words."""

    def __init__(self, fault: LlmFault, message: str) -> None:
        super().__init__(" ".join(message.split()))
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is told (`system`) and given (`user`)."""

    system: str
    user: str

    @property
    def messages(self) -> list[dict[str, str]]:
        """The two messages in the form that both protocols take."""
        return [{"role": "system", "content": self.system}, {"role": "user", "content": self.user}]


@dataclass(frozen=True, slots=True)
class End:
    """The server said that it was done: finished, or stopped by length. `prompt_tokens` as it counted them."""

    reason: Literal["stop", "length"]
    prompt_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model writes. `num_ctx` and `max_tokens` are tokens; the prompt must fit between them."""

    model: str
    max_tokens: int = 200
    num_ctx: int = 4096
    temperature: float = 0.0


class Llm(Protocol):
    """One model on one server."""

    @property
    def id(self) -> str:
        """Protocol and model, for the journal."""
        ...

    def stream(self, prompt: Prompt, max_tokens: int | None = None) -> AsyncGenerator[str | End, None]:
        """The answer in pieces, "" where only thinking came, then one End. Raises LlmError; close it to stop.

        `max_tokens` overrides the model's own bound.
        """
        ...


def words(text: str) -> str:
    """A server's own words on one line, bounded."""
    return " ".join(text.split())[:SHOWN]
