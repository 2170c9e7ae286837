"""Whose client has gone away is not worked for any longer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from starlette.types import Receive

T = TypeVar("T")


class ClientGoneError(Exception):
    """The connection was closed before the answer was ready."""


async def while_present(receive: Receive, work: Callable[[], Awaitable[T]]) -> T:
    """The result of the work, which is cancelled when the client goes: then raises ClientGoneError.

    The request's body must have been read: what still comes is only the news that the client has gone.
    """
    results: list[T] = []

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel_scope.cancel()

    try:
        async with anyio.create_task_group() as scope:
            scope.start_soon(watch)
            results.append(await work())
            scope.cancel_scope.cancel()
    except BaseExceptionGroup as e:
        raise e.exceptions[0] from e  # there is only the work to fail
    if not results:
        raise ClientGoneError
    return results[0]
