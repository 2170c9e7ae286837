"""The HTTP of both language model protocols: one client a request, its bytes bounded, its faults named.

A client lives as long as its request, so closing the stream closes the connection and the server can stop computing.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx

from voice_agent.reply.llm import LlmError, LlmFault, words

MAX_BYTES = 4_000_000
"""Of one response. A sentence or two is a few thousand; with thinking, one frame a token, some hundred thousand."""

_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


async def bound(response: httpx.Response) -> None:
    """Makes a response break off with ReadError beyond MAX_BYTES."""
    assert isinstance(response.stream, httpx.AsyncByteStream)
    response.stream = _BoundedStream(response.stream)


class _BoundedStream(httpx.AsyncByteStream):
    def __init__(self, whole: httpx.AsyncByteStream) -> None:
        self._whole = whole

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MAX_BYTES
        async for chunk in self._whole:
            left -= len(chunk)
            if left < 0:
                raise httpx.ReadError(f"more than {MAX_BYTES} bytes in one response")
            yield chunk

    async def aclose(self) -> None:
        await self._whole.aclose()


class Endpoint:
    """One server: where it is and how to knock. `key` is sent as a bearer token if there is one."""

    def __init__(self, base_url: str, key: str = "", connect_s: float = 2.0) -> None:
        self.base_url = base_url.rstrip("/")
        self._key = key
        self._connect_s = connect_s
        self._tls = ssl.create_default_context()  # read once: it takes longer than a local request

    def options(self) -> dict[str, Any]:
        """Arguments of an httpx.AsyncClient. All further timeouts are the caller's, who knows what it waits for."""
        local = urlsplit(self.base_url).hostname in _LOOPBACK
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        return {
            "timeout": httpx.Timeout(None, connect=self._connect_s),
            "headers": headers,
            "verify": self._tls,
            "trust_env": not local,  # a proxy of the environment is for the world, not for this machine
            "follow_redirects": False,
            "event_hooks": {"response": [bound]},
        }

    @contextmanager
    def faults(self) -> Iterator[None]:
        """Turns what HTTP and its bodies raise into LlmError."""
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout) as e:
            told = f"nothing answers at {self.base_url}; start the server or correct llm.base_url ({words(str(e))})"
            raise LlmError(LlmFault.UNREACHABLE, told) from e
        except httpx.HTTPError as e:
            told = f"{self.base_url}: the answer broke off ({type(e).__name__}: {words(str(e))})"
            raise LlmError(LlmFault.BROKEN_OFF, told) from e
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as e:
            told = f"{self.base_url}: not the expected protocol ({type(e).__name__}: {words(str(e))})"
            raise LlmError(LlmFault.GARBLED, told) from e

    def rejected(self, status: int, told: str, model: str, mend: str) -> LlmError:
        """An HTTP status, or an error inside the stream (status below 400), with the server's own words."""
        where = f"{self.base_url} ({status})" if status >= 400 else self.base_url
        if status == 404:
            return LlmError(LlmFault.NO_MODEL, f"{where}: {words(told)}; {mend}")
        fault = LlmFault.REJECTED if 400 <= status < 500 else LlmFault.SERVER
        return LlmError(fault, f"{where}, model {model}: {words(told)}")
