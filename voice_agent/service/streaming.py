"""An answer as server-sent events: `sentence` for each that passed its check, then `answer` with the whole of it.

A fault before the first sentence is an ordinary problem with its own status; after it, it is the event `problem`.
Half an answer misleads: when `answer` has another status than `answered`, the sentences before it are taken back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from retrieval.marks import strip_marks
from voice_agent.record.jsonable import plain
from voice_agent.reply.answer import Asked, Checked
from voice_agent.service.desk import Desk
from voice_agent.service.presence import ClientGoneError, while_present
from voice_agent.service.problem import Problem

EVENT_STREAM: Final = "text/event-stream"


class AnswerStream(Response):
    """Works the answer out while it is sent, and stops when the client has gone."""

    media_type = EVENT_STREAM

    def __init__(self, desk: Desk, asked: Asked, client: str) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._desk = desk
        self._asked = asked
        self._client = client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        channel = _Channel(self, send)
        try:
            reply = await while_present(
                receive, lambda: self._desk.ask(self._asked, self._client, channel.sentence)
            )
        except ClientGoneError:
            return
        except Problem as problem:
            if not channel.open:
                await problem.response()(scope, receive, send)
                return
            await channel.event("problem", problem.as_json())
        else:
            await channel.event("answer", reply.as_json())
        await channel.close()


class _Channel:
    """The open response. The headers go out with the first event."""

    def __init__(self, response: Response, send: Send) -> None:
        self._response = response
        self._send = send
        self.open = False

    async def sentence(self, checked: Checked) -> None:
        said = {"index": checked.index, "text": strip_marks(checked.text).strip(), "marked": checked.text}
        await self.event("sentence", {**said, "cited": list(checked.verdict.cited)})

    async def event(self, kind: str, data: Mapping[str, Any]) -> None:
        """JSON is one line, so nothing in it can end the event or begin another."""
        if not self.open:
            self.open = True
            headers = self._response.raw_headers
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        body = f"event: {kind}\ndata: {json.dumps(plain(data), ensure_ascii=False)}\n\n".encode()
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

    async def close(self) -> None:
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})
