"""GET /health, GET /ready, GET /metrics and POST /reload: the service about itself."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from voice_agent.service.openapi import ALWAYS, problems
from voice_agent.service.parts import Admin, Anyone, InUse
from voice_agent.service.problem import Problem
from voice_agent.service.shapes import Health, Readiness, ReloadAnswer

router = APIRouter(tags=["service"])

_OPEN: Final = ("bad-request", "key-in-url", "unknown-host", "foreign-origin")
_NOT_READY: Final[dict[int | str, dict[str, Any]]] = {503: {"model": Readiness, "description": "Not ready"}}
_TEXT: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "Prometheus text", "content": {"text/plain": {"schema": {"type": "string"}}}}
}


@router.get("/health", responses=problems(*_OPEN), summary="The process lives")
async def health() -> Health:
    """Nothing is asked of any part; restart the process when this does not answer."""
    return Health()


@router.get(
    "/ready", responses={**problems(*_OPEN), **_NOT_READY}, response_model=Readiness, summary="Send requests?"
)
async def ready(parts: InUse) -> JSONResponse:
    """503 while a part cannot be reached and from the moment a shutdown begins."""
    readiness = await parts.watch.look(parts.host.free)
    return JSONResponse(readiness.model_dump(), 200 if readiness.ready else 503)


@router.get(
    "/metrics",
    responses={**problems(*ALWAYS, "not-found"), **_TEXT},
    response_class=Response,
    summary="Counters for monitoring",
)
async def metrics(client: Anyone, parts: InUse) -> Response:
    """Numbers and codes only, no word of a call."""
    if parts.metrics is None:
        raise Problem("not-found", "metrics need the extra telemetry")
    return Response(parts.metrics.text(), media_type=parts.metrics.content_type)


@router.post(
    "/reload",
    responses=problems(*ALWAYS, "not-allowed", "reloading", "reload-failed"),
    summary="Take the knowledge base anew",
)
async def reload(client: Admin, parts: InUse) -> ReloadAnswer:
    """Requests in hand finish with the old one. A knowledge base that cannot be used changes nothing, and says why."""
    reloaded = await parts.desk.reload()
    if reloaded.why:
        raise Problem("reload-failed", reloaded.why, 60)
    return ReloadAnswer(kb_version=reloaded.kb_version)
