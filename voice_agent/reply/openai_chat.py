"""A model on any server that speaks the OpenAI chat protocol: POST /chat/completions, server-sent events.

Plain httpx, which is here anyway through Ollama's client: the protocol needed is one request and lines of JSON.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any

import httpx

from voice_agent.reply.llm import End, LlmError, LlmFault, Prompt, Sampling
from voice_agent.reply.llm_http import Endpoint


class OpenAiChat:
    """Thinking in a field of its own (`reasoning_content`) is dropped; thinking in the text is the filter's matter."""

    def __init__(self, endpoint: Endpoint, sampling: Sampling) -> None:
        """The endpoint's address holds the version, as in http://127.0.0.1:8000/v1."""
        self._endpoint = endpoint
        self._sampling = sampling

    @property
    def id(self) -> str:
        return f"openai/{self._sampling.model}"

    async def stream(self, prompt: Prompt, max_tokens: int | None = None) -> AsyncGenerator[str | End, None]:
        """See `Llm`."""
        url, body = f"{self._endpoint.base_url}/chat/completions", self._body(prompt, max_tokens)
        with self._endpoint.faults():
            async with (
                httpx.AsyncClient(**self._endpoint.options()) as client,
                client.stream("POST", url, json=body) as response,
            ):
                if response.status_code != 200:
                    raise self._rejected(
                        response.status_code, (await response.aread()).decode(errors="replace")
                    )
                async for line in response.aiter_lines():
                    event = _event(line)
                    if event is None:
                        continue
                    if "error" in event:
                        raise self._rejected(0, json.dumps(event, ensure_ascii=False))
                    text, reason = _delta(event)
                    yield text
                    if reason is not None:
                        yield self._end(reason, _counted(event))
                        return
        raise LlmError(
            LlmFault.BROKEN_OFF, f"{self._endpoint.base_url}: the stream ended without a finish_reason"
        )

    def _body(self, prompt: Prompt, max_tokens: int | None) -> dict[str, Any]:
        sampling = self._sampling
        return {
            "model": sampling.model,
            "messages": prompt.messages,
            "stream": True,
            "max_tokens": sampling.max_tokens if max_tokens is None else max_tokens,
            "temperature": sampling.temperature,
        }

    def _rejected(self, status: int, body: str) -> LlmError:
        mend = f"load {self._sampling.model} on the server, or correct llm.model and llm.base_url"
        return self._endpoint.rejected(status, _message(body), self._sampling.model, mend)

    def _end(self, reason: str, tokens: int | None) -> End:
        where = self._endpoint.base_url
        if reason not in ("stop", "length"):
            raise LlmError(LlmFault.REJECTED, f"{where}: the model stopped for {reason!r}, not for an answer")
        return End("length" if reason == "length" else "stop", tokens)


def _event(line: str) -> dict[str, Any] | None:
    """The JSON of a data line; None for blanks, comments, other fields and the closing [DONE]."""
    field, _, value = line.partition(":")
    if field != "data" or value.strip() in ("", "[DONE]"):
        return None
    event = json.loads(value)
    if not isinstance(event, dict):
        raise TypeError("a data line that is no object")
    return event


def _delta(event: dict[str, Any]) -> tuple[str, str | None]:
    """Text and finish_reason of the first choice; the frame that only counts tokens has no choice."""
    choices = event.get("choices") or []
    if not choices:
        return "", None
    text = (choices[0].get("delta") or {}).get("content") or ""
    if not isinstance(text, str):
        raise TypeError("content that is no text")
    return text, choices[0].get("finish_reason")


def _counted(event: dict[str, Any]) -> int | None:
    """The prompt's length as the server counted it, where it says so."""
    tokens = (event.get("usage") or {}).get("prompt_tokens")
    return tokens if isinstance(tokens, int) else None


def _message(body: str) -> str:
    """The server's own words out of {"error": {"message": …}} in its variants, else the body."""
    try:
        error = json.loads(body)["error"]
    except (ValueError, TypeError, KeyError):
        return body
    return str(error.get("message", error)) if isinstance(error, dict) else str(error)
