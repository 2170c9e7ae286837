"""What went wrong with a request, as the service tells it: one kind, one status, one body (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.responses import JSONResponse

PROBLEM_JSON: Final = "application/problem+json"

KINDS: Final[Mapping[str, tuple[int, str]]] = {
    "bad-request": (400, "The request cannot be read"),
    "key-in-url": (400, "A key was sent in the URL"),
    "no-key": (401, "No valid API key"),
    "not-allowed": (403, "This key may not do that"),
    "foreign-origin": (403, "Requests from other web sites are refused"),
    "unknown-host": (403, "The service is not known by this name"),
    "not-found": (404, "There is nothing here"),
    "no-such-call": (404, "No such call"),
    "no-calls": (404, "Calls are not taken here"),
    "method-not-allowed": (405, "This method is not offered here"),
    "too-slow": (408, "The request did not arrive in time"),
    "reloading": (409, "A reload is under way"),
    "too-large": (413, "The request is too large"),
    "invalid": (422, "The request has the wrong shape"),
    "too-many": (429, "Too many requests for this key"),
    "internal": (500, "The service has a fault"),
    "queue-full": (503, "Too many requests are waiting"),
    "calls-full": (503, "Every place for a call is taken"),
    "draining": (503, "No more calls are taken"),
    "unavailable": (503, "The service cannot answer now"),
    "bad-message": (400, "A message of the call has the wrong shape"),
    "bad-audio": (400, "The sound cannot be decoded"),
    "too-fast": (400, "More came than a caller can say"),
    "idle": (408, "No sound has come for too long"),
    "no-start": (408, "The first message did not come in time"),
    "no-resume": (404, "There is no such call to go on with"),
    "taken-over": (409, "The call goes on over another connection"),
    "slow-reader": (503, "The call's messages are not read in time"),
    "reload-failed": (503, "The new knowledge base was not taken"),
    "deadline": (504, "No answer in time"),
}
"""Kind -> its status and title. The kind is the last part of the body's `type`."""


@dataclass(slots=True, eq=False)
class Problem(Exception):
    """A request that is refused. `retry_after_s` becomes the header, `errors` name the fields that are wrong."""

    kind: str
    detail: str
    retry_after_s: int | None = None
    errors: Sequence[Mapping[str, Any]] = field(default=())

    @property
    def status(self) -> int:
        return KINDS[self.kind][0]

    @property
    def title(self) -> str:
        return KINDS[self.kind][1]

    def as_json(self) -> dict[str, Any]:
        """The body."""
        body = {
            "type": f"urn:voice-agent:problem:{self.kind}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
        }
        return {**body, "errors": list(self.errors)} if self.errors else body

    def response(self, headers: Mapping[str, str] | None = None) -> JSONResponse:
        """The answer to the request."""
        told = dict(headers or {})
        if self.retry_after_s is not None:
            told["Retry-After"] = str(self.retry_after_s)
        if self.status == 401:
            told["WWW-Authenticate"] = "Bearer"
        return JSONResponse(self.as_json(), self.status, told, PROBLEM_JSON)
