"""What the journal keeps of an answer: the search, the decision and each sentence, the same for calls and services."""

from __future__ import annotations

from math import isfinite

from retrieval.types import Found, Gate
from voice_agent.reply.answer import Checked, Looked
from voice_agent.reply.basis import facts_of, shown
from voice_agent.reply.generator import Tell

RECALL_SHOWN = 10
"""How many of a channel's candidates the journal keeps; the rest never decide anything."""


def tell_search(tell: Tell, looked: Looked) -> None:
    """The events `rewrite` to `gate`, and `shadow` where other thresholds decided beside the live ones."""
    found, query = looked.found, looked.found.query
    if query.history:
        tell("rewrite", before=query.text, after=looked.standalone)
    tell(
        "query",
        text=query.text,
        terms=query.terms,
        codes=query.codes,
        history=query.history,
        repairs=looked.repairs,
        conditions=looked.conditions,
        lifted=found.lifted,
        as_of=found.as_of,
    )
    tell("recall", channels=_channels(found), down=found.down)
    tell("fusion", ranking=[{"id": i, "score": round(s, 6)} for i, s in found.fused[:RECALL_SHOWN]])
    tell("rerank", ranking=[{"id": e.passage.id, "score": e.rerank} for e in found.evidence[:RECALL_SHOWN]])
    tell("gate", **decision_facts(looked.gate))
    if looked.shadow is not None:
        tell("shadow", **decision_facts(looked.shadow))


def tell_sentence(tell: Tell, checked: Checked) -> None:
    """The event `sentence`, with all that its verdict rests on."""
    verdict = checked.verdict
    evidence = [shown(mark, passage) for mark, passage in checked.evidence]
    basis = {"evidence": evidence} if checked.basis is None else facts_of(checked.basis, verdict)
    judged = {
        "passed": verdict.passed,
        "reason": verdict.reason,
        "cited": verdict.cited,
        "detail": verdict.detail,
    }
    tell("sentence", index=checked.index, text=checked.text, ms=checked.ms, **judged, **basis)


def decision_facts(gate: Gate) -> dict[str, object]:
    """JSON has no NaN, and a feature that is none decides otherwise than one that was not measured: named apart."""
    odd = {k: str(v) for k, v in gate.features.items() if v is not None and not isfinite(v)}
    return {
        "outcome": gate.outcome,
        "reason": gate.reason,
        "features": gate.features,
        "thresholds": gate.thresholds,
        **({"not_finite": odd} if odd else {}),
    }


def _channels(found: Found) -> dict[str, list[dict[str, object]]]:
    return {
        channel: [
            {"id": passage, "rank": rank, "score": round(score, 6)}
            for rank, (passage, score) in enumerate(ranking[:RECALL_SHOWN], start=1)
        ]
        for channel, ranking in found.rankings.items()
    }
