"""A model on an Ollama server, by its official client: /api/chat, streamed."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, cast

import ollama

from voice_agent.reply.llm import End, LlmError, LlmFault, Prompt, Sampling
from voice_agent.reply.llm_http import Endpoint

KEEP_ALIVE = "30m"
"""How long the server keeps the model loaded between questions: a quiet half hour must not cost a cold start."""


class OllamaChat:
    """Thinking is switched off; what a model thinks nevertheless in its own field is dropped here."""

    def __init__(self, endpoint: Endpoint, sampling: Sampling) -> None:
        self._endpoint = endpoint
        self._sampling = sampling

    @property
    def id(self) -> str:
        return f"ollama/{self._sampling.model}"

    async def stream(self, prompt: Prompt, max_tokens: int | None = None) -> AsyncGenerator[str | End, None]:
        """See `Llm`. The context length is set, for the server's own default cuts long prompts silently."""
        with self._endpoint.faults():
            try:
                async with ollama.AsyncClient(self._endpoint.base_url, **self._endpoint.options()) as client:
                    parts = await client.chat(
                        model=self._sampling.model,
                        messages=prompt.messages,
                        stream=True,
                        think=False,
                        options=self._options(max_tokens),
                        keep_alive=KEEP_ALIVE,
                    )
                    async with aclosing(cast(AsyncGenerator[ollama.ChatResponse, None], parts)) as answer:
                        async for part in answer:
                            yield part.message.content or ""
                            if part.done:
                                yield _end(part)
                                return
            except ollama.ResponseError as e:
                mend = f"run: ollama pull {self._sampling.model}"
                raise self._endpoint.rejected(e.status_code, str(e.error), self._sampling.model, mend) from e
        raise LlmError(
            LlmFault.BROKEN_OFF, f"{self._endpoint.base_url}: the stream ended before its last line"
        )

    def _options(self, max_tokens: int | None) -> dict[str, Any]:
        sampling = self._sampling
        length = sampling.max_tokens if max_tokens is None else max_tokens
        return {"num_ctx": sampling.num_ctx, "num_predict": length, "temperature": sampling.temperature}


def _end(part: ollama.ChatResponse) -> End:
    return End("length" if part.done_reason == "length" else "stop", part.prompt_eval_count)
