"""POST /ask and POST /ask/stream."""

from __future__ import annotations

from datetime import date

from fastapi import APIRouter, Request, Response

from voice_agent.service.openapi import ASKING, event_stream, problems
from voice_agent.service.parts import Anyone, InUse
from voice_agent.service.presence import while_present
from voice_agent.service.shapes import AskAnswer, AskRequest
from voice_agent.service.streaming import AnswerStream

router = APIRouter(tags=["ask"])


@router.post("/ask", responses=problems(*ASKING), summary="One question, its whole answer")
async def ask(body: AskRequest, request: Request, client: Anyone, parts: InUse) -> AskAnswer:
    """A refusal is an answer too: `status` tells. What is answered rests on `evidence`, sentence by sentence."""
    asked = body.asked(date.today())
    reply = await while_present(request.receive, lambda: parts.desk.ask(asked, client.name))
    return AskAnswer.model_validate(reply.as_json())


@router.post(
    "/ask/stream",
    response_class=Response,
    status_code=200,
    responses={200: event_stream(), **problems(*ASKING)},
    summary="One question, each sentence as soon as its check is passed",
)
async def ask_stream(body: AskRequest, client: Anyone, parts: InUse) -> AnswerStream:
    """Server-sent events: `sentence`, then `answer`, or `problem` when it breaks off. Unless `answer` says `answered`,
    the sentences before it are to be taken back.
    """
    return AnswerStream(parts.desk, body.asked(date.today()), client.name)
