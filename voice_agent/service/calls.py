"""GET /calls and GET /calls/{call}: the journals, as `voice-agent inspect --json` shows them."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from voice_agent.errors import InputError
from voice_agent.record.facts import call_facts, summary_facts, turn_facts
from voice_agent.record.inspection import read_call
from voice_agent.record.journal import check_call_id
from voice_agent.record.listing import list_summaries
from voice_agent.service.openapi import ALWAYS, problems
from voice_agent.service.parts import InUse, Reader
from voice_agent.service.problem import Problem
from voice_agent.service.shapes import CallList, CallShape

router = APIRouter(tags=["calls"])

MOST_LISTED = 500

CallId = Annotated[str, Path(min_length=1, max_length=80, description="as `call` of an answer names it")]
Limit = Annotated[int, Query(ge=1, le=MOST_LISTED, description="the newest so many")]


@router.get("/calls", responses=problems(*ALWAYS, "not-allowed", "invalid"), summary="Calls, newest first")
def calls(client: Reader, parts: InUse, limit: Limit = 50) -> CallList:
    """Typed questions are calls of one turn. Personal numbers were masked before anything was written."""
    folder = parts.desk.calls
    if not folder.is_dir():
        return CallList(calls=[], unread=0)
    listed = list_summaries(folder)
    newest = list(listed.calls[-limit:])[::-1]
    return CallList(calls=[summary_facts(call) for call in newest], unread=listed.unread)


@router.get(
    "/calls/{call}",
    responses=problems(*ALWAYS, "not-allowed", "no-such-call", "invalid"),
    summary="One call, turn by turn",
)
def one_call(call: CallId, client: Reader, parts: InUse) -> CallShape:
    """What was asked, found, decided, said and checked."""
    record = read_call(_journal(parts.desk.calls, call))
    facts: dict[str, Any] = {**call_facts(record), "path": None}  # where it lies is nobody's business
    return CallShape(call=facts, turns=[turn_facts(record, turn) for turn in record.turns])


def _journal(folder: FilePath, call: str) -> FilePath:
    """The file of a call. Only ids that can be nothing but a file's name are looked for. Raises Problem."""
    try:
        path = folder / f"{check_call_id(call)}.jsonl"
    except InputError as e:
        raise Problem("no-such-call", "call ids are made of A-Z a-z 0-9 . _ -") from e
    if not path.is_file() or path.is_symlink():
        raise Problem("no-such-call", "GET /calls lists the calls there are")
    return path
