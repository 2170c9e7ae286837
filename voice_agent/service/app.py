"""The application: the routes behind the guard, and every fault of theirs as a problem."""

from __future__ import annotations

from fastapi import FastAPI, Request, Response, Security
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException

from voice_agent.config import Service
from voice_agent.service import asking, calling, calls, page, state
from voice_agent.service.guard import Bounds, Guard, is_loopback
from voice_agent.service.keys import KeyRing
from voice_agent.service.openapi import describe
from voice_agent.service.parts import Parts
from voice_agent.service.presence import ClientGoneError
from voice_agent.service.problem import Problem
from voice_agent.service.rates import Rate
from voice_agent.telephone import provider

VERSION = "1"
"""Of the interface: shapes only gain fields while it stays."""

_GONE = 499
# Nobody reads this answer; the number is for what stands before us.

_ERRORS_SHOWN = 10


def create_app(parts: Parts, ring: KeyRing, rate: Rate, settings: Service) -> Guard:
    """The routes behind their guard; no file is read and nothing is loaded."""
    bounds = Bounds(settings.body_kb * 1024, settings.body_s)
    return Guard(_routes(parts), ring, rate, bounds, loopback=is_loopback(settings.host))


def _routes(parts: Parts) -> FastAPI:
    app = FastAPI(title="voice-agent", version=VERSION, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.state.parts = parts
    key = [Security(HTTPBearer(auto_error=False, description="an API key; none is needed on loopback"))]
    for part in (asking, calls):
        app.include_router(part.router, dependencies=key)
    app.include_router(calling.router)
    app.include_router(provider.router)
    app.include_router(state.router)
    app.include_router(page.router)
    app.add_exception_handler(Problem, _told)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _unrouted)
    app.add_exception_handler(ClientGoneError, _gone)
    app.add_exception_handler(Exception, _fault)
    app.openapi = lambda: describe(app)  # type: ignore[method-assign]  # as FastAPI documents it
    return app


async def _told(request: Request, fault: Exception) -> Response:
    assert isinstance(fault, Problem)
    return fault.response()


async def _invalid(request: Request, fault: Exception) -> Response:
    """Which field and what is wrong with it. What was sent is not repeated."""
    assert isinstance(fault, RequestValidationError)
    errors = [
        {"at": ".".join(str(part) for part in error["loc"]), "is": error["msg"]}
        for error in fault.errors()[:_ERRORS_SHOWN]
    ]
    return Problem("invalid", "see errors, and /openapi.json for the shape", errors=errors).response()


async def _unrouted(request: Request, fault: Exception) -> Response:
    assert isinstance(fault, HTTPException)
    kind = {404: "not-found", 405: "method-not-allowed"}.get(fault.status_code, "bad-request")
    return Problem(kind, "see /openapi.json for what is offered").response(fault.headers)


async def _gone(request: Request, fault: Exception) -> Response:
    return Response(status_code=_GONE)


async def _fault(request: Request, fault: Exception) -> Response:
    return Problem("internal", "the fault was written to the service's own log").response()
