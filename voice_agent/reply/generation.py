"""A generator over a language model: prompt, stream, thinking out, in time and bounded, behind a circuit breaker."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass

from retrieval.types import Evidence
from voice_agent.reply.breaker import Breaker, BreakerRules
from voice_agent.reply.generator import Cut, Note, Piece, Void
from voice_agent.reply.llm import End, Llm, LlmError, LlmFault, Prompt, Sampling
from voice_agent.reply.patience import Patience, patient
from voice_agent.reply.prompt import Written, write_prompt
from voice_agent.reply.think import ThinkFilter

MAX_ANSWER = 480
"""Characters after which the answer is cut: three times the longest sentence that can be checked."""

TEMPLATE_TOKENS = 64
"""What a server's chat template may add to the two messages."""


@dataclass(frozen=True, slots=True)
class Visible:
    """The answer's own text of one piece, "" where only thinking came. True if there is something to hear."""

    text: str
    void: bool = False
    end: End | None = None

    def __bool__(self) -> bool:
        return bool(self.text.strip()) or self.end is not None


class LlmGenerator:
    """Writes answers by a language model. Its breaker is shared by all answers of the process.

    Every failure is an LlmError, raised as soon as it is known: whether another generator may take over is for the
    consumer to say, who knows what was spoken.
    """

    def __init__(
        self,
        llm: Llm,
        sampling: Sampling,
        patience: Patience,
        rules: BreakerRules | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._llm = llm
        self._sampling = sampling
        self._patience = patience
        self._rules = rules or BreakerRules()
        self._now = now
        self._breaker = Breaker()

    @property
    def id(self) -> str:
        """The model's."""
        return self._llm.id

    async def stream(self, question: str, evidence: Mapping[str, Evidence]) -> AsyncGenerator[Piece, None]:
        """Text as it comes, one `prompt` note before it. Raises LlmError."""
        written = self._written(question, evidence)
        if not self._breaker.allows(self._now()):
            told = f"{self._llm.id}: left alone after {self._breaker.faults} faults in a row"
            raise LlmError(LlmFault.RESTING, told)
        self._breaker = self._breaker.begun()
        heard = False
        try:
            yield _note(self._llm.id, written)
            async with aclosing(self._answer(written.prompt)) as pieces:
                async for piece in pieces:
                    heard = True
                    yield piece
            self._breaker = self._breaker.succeeded()
        except LlmError:
            self._breaker = self._breaker.failed(self._now(), self._rules)
            raise
        except GeneratorExit:
            self._breaker = self._breaker.succeeded() if heard else self._breaker.abandoned()
            raise
        finally:
            self._breaker = self._breaker.abandoned()

    async def warm(self) -> None:
        """One token with the real rules, so that the first caller does not wait for the model. Raises LlmError."""
        written = write_prompt("您好", {}, self._room())
        async with (
            aclosing(self._llm.stream(written.prompt, max_tokens=1)) as raw,
            aclosing(patient(raw, Patience(60.0, 60.0, 60.0), self._llm.id)) as pieces,
        ):
            async for _ in pieces:
                pass

    def _room(self) -> int:
        return self._sampling.num_ctx - self._sampling.max_tokens - TEMPLATE_TOKENS

    def _written(self, question: str, evidence: Mapping[str, Evidence]) -> Written:
        passages = {mark: found.passage for mark, found in evidence.items()}
        written = write_prompt(question, passages, self._room())
        if not written.shown:
            told = f"{self._llm.id}: the best passage does not fit into llm.num_ctx={self._sampling.num_ctx}"
            raise LlmError(LlmFault.TOO_BIG, told)
        return written

    async def _answer(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        length = 0
        async with (
            aclosing(self._llm.stream(prompt)) as raw,
            aclosing(visible(raw, self._llm.id)) as seen,
            aclosing(patient(seen, self._patience, self._llm.id)) as pieces,
        ):
            async for piece in pieces:
                if piece.void:
                    length = 0
                    yield Void()
                length += len(piece.text.strip())
                if piece.text:
                    yield piece.text
                if piece.end is not None:
                    self._end(piece.end, length)
                if length > MAX_ANSWER or (piece.end is not None and piece.end.reason == "length"):
                    yield Cut()
                    return

    def _end(self, end: End, length: int) -> None:
        """Was it an answer, and to the whole prompt? A prompt over the context may have lost its rules."""
        counted, most = end.prompt_tokens, self._sampling.num_ctx - self._sampling.max_tokens
        if counted is not None and counted > most:
            told = f"{self._llm.id}: the prompt was {counted} tokens, over {most}; raise llm.num_ctx"
            raise LlmError(LlmFault.TOO_BIG, told)
        if not length:
            raise LlmError(LlmFault.EMPTY, f"{self._llm.id}: an answer without a word")


async def visible(raw: AsyncGenerator[str | End, None], name: str) -> AsyncGenerator[Visible, None]:
    """The stream without its thinking. Raises LlmError where the text is not text."""
    think = ThinkFilter()
    async for piece in raw:
        if isinstance(piece, End):
            yield Visible(think.finish(), end=piece)
            return
        if "\ufffd" in piece:
            raise LlmError(LlmFault.GARBLED, f"{name}: the stream is not UTF-8")
        left = think.feed(piece)
        yield Visible(left.text, left.void)


def _note(name: str, written: Written) -> Note:
    shown = {"evidence": written.shown, "left_out": written.left_out, "tokens_at_most": written.tokens}
    return Note("prompt", {"llm": name, **shown})
