"""GET / and /web/…: the page to talk and type at, from the files beside this one. No key: it holds nothing of anybody.

It loads from its own origin alone and runs no code but its files: see POLICY.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Final

from fastapi import APIRouter, Response

from voice_agent.page.style import SHEET
from voice_agent.service.problem import Problem

router = APIRouter(include_in_schema=False)

POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "Permissions-Policy": "microphone=(self), camera=(), geolocation=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

KINDS: Final = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}
_NAME: Final = re.compile(r"[a-z]+\.(css|js|svg)")


@router.get("/")
def page() -> Response:
    """The page."""
    return _sent("index.html", _text("index.html"))


@router.get("/web/{name}")
def part(name: str) -> Response:
    """A file of the page, or the sheet it shares with the reports. Raises Problem."""
    if name == "shared.css":
        return _sent(name, SHEET)
    try:
        if _NAME.fullmatch(name) is None:
            raise FileNotFoundError
        return _sent(name, _text(name))
    except FileNotFoundError as e:
        raise Problem("not-found", "the page has no such part") from e


@cache
def _text(name: str) -> str:
    return (files("voice_agent.service") / "web" / name).read_text("utf-8")


def _sent(name: str, text: str) -> Response:
    return Response(text, media_type=KINDS[name.rpartition(".")[2]], headers=HEADERS)
