"""Labelled questions through search and gate, measured layer by layer and kind by kind."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain
from pathlib import Path

from retrieval import metrics
from retrieval.conditions import laid_down
from retrieval.types import Outcome
from voice_agent.errors import InputError
from voice_agent.reply.answer import Asked, Looked
from voice_agent.reply.rewrite import Exchange

Numbers = dict[str, float | int | None]

KS = (1, 3, 10)


@dataclass(frozen=True, slots=True)
class Question:
    """One labelled question. Any of `expect` is a right passage; an empty one goes with `must_refuse`."""

    id: str
    kind: str
    asked: Asked
    expect: tuple[str, ...]
    must_refuse: bool


@dataclass(frozen=True, slots=True)
class Result:
    """What one question came to: each system's ids, best first, and the gate's decision."""

    question: Question
    rankings: Mapping[str, tuple[str, ...]]
    outcome: Outcome
    reason: str | None
    top: str | None
    ms: float


def load_questions(path: Path, as_of: date | None = None) -> list[Question]:
    """Reads one question a line. `as_of` overrides the file's own dates. Raises InputError naming the line."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as e:
        raise InputError(f"{path}: cannot be read ({e}); give a JSON-lines file of questions") from e
    questions = [
        _question(line, f"{path}:{n}", as_of) for n, line in enumerate(lines, start=1) if line.strip()
    ]
    if not questions:
        raise InputError(f"{path}: no question in it; give one JSON object a line")
    return questions


def _question(line: str, where: str, as_of: date | None) -> Question:
    try:
        row = json.loads(line)
        history = tuple(Exchange(turn["question"], turn["answer"]) for turn in row.get("history", ()))
        day = as_of or (date.fromisoformat(row["as_of"]) if "as_of" in row else date.today())
        refuse = bool(row.get("must_refuse", False))
        asked = Asked(row["question"], day, history, conditions=laid_down(row.get("filters", {}), day))
        question = Question(row["id"], row.get("kind", "plain"), asked, tuple(row.get("expect", ())), refuse)
    except json.JSONDecodeError as e:
        raise InputError(f"{where}: not JSON ({e.msg}); one object a line") from e
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise InputError(f"{where}: {type(e).__name__} {e}; see data/schemas/eval_question.json") from e
    if question.must_refuse == bool(question.expect):
        raise InputError(f"{where}: {question.id} needs either expected ids or must_refuse")
    return question


def ask(question: Question, look: Callable[[Asked], Looked]) -> Result:
    """Searches and judges one question."""
    looked = look(question.asked)
    found = looked.found
    reranked = [evidence.passage.id for evidence in found.evidence]
    fused = [passage for passage, _ in found.fused]
    rankings: dict[str, tuple[str, ...]] = {
        channel: tuple(passage for passage, _ in ranking) for channel, ranking in found.rankings.items()
    }
    rankings["fused"] = tuple(fused)
    rankings["reranked"] = tuple(dict.fromkeys(chain(reranked, fused)))
    top = reranked[0] if reranked else None
    return Result(question, rankings, looked.gate.outcome, looked.gate.reason, top, looked.ms)


def summary(results: Sequence[Result]) -> dict[str, object]:
    """Every measure, over all questions and per kind. A measure over nothing is None."""
    kinds = sorted({result.question.kind for result in results})
    per_kind = {kind: _measures([r for r in results if r.question.kind == kind]) for kind in kinds}
    times = sorted(result.ms for result in results)
    return {
        "questions": len(results),
        "all": _measures(results),
        "kinds": per_kind,
        "look_ms": {"p50": _percentile(times, 0.5), "p95": _percentile(times, 0.95)},
    }


def _measures(results: Sequence[Result]) -> dict[str, object]:
    answerable = [result for result in results if not result.question.must_refuse]
    systems = sorted({name for result in answerable for name in result.rankings})
    search = {name: _search_measures(answerable, name) for name in systems}
    return {"count": len(results), "search": search, "gate": _gate_measures(results)}


def _search_measures(results: Sequence[Result], system: str) -> Numbers:
    pairs = [(result.rankings.get(system, ()), result.question.expect) for result in results]
    numbers: Numbers = {
        f"recall@{k}": _mean(metrics.hit_at(k, ids, wanted) for ids, wanted in pairs) for k in KS
    }
    numbers["mrr"] = _mean(metrics.reciprocal_rank(ids, wanted) for ids, wanted in pairs)
    numbers["ndcg@10"] = _mean(metrics.ndcg_at(10, ids, wanted) for ids, wanted in pairs)
    return numbers


def _gate_measures(results: Sequence[Result]) -> dict[str, object]:
    judged = [metrics.Judged(r.outcome, r.question.must_refuse, r.top in r.question.expect) for r in results]
    right = sum(
        (j.outcome is not Outcome.ANSWER) if j.must_refuse else (j.outcome is Outcome.ANSWER) for j in judged
    )
    return {
        "refusal_accuracy": _rate(metrics.rate(right, len(judged))),
        "false_accept": _rate(metrics.false_accept(judged)),
        "false_reject": _rate(metrics.false_reject(judged)),
        "wrong_answer": _rate(metrics.wrong_answer(judged)),
        "clarify": _rate(metrics.clarify_rate(judged)),
    }


def _rate(rate: metrics.Rate) -> Numbers:
    share = None if rate.share is None else round(rate.share, 4)
    return {
        "share": share,
        "count": rate.count,
        "of": rate.total,
        "low": round(rate.low, 4),
        "high": round(rate.high, 4),
    }


def _mean(values: Iterable[float]) -> float | None:
    value = metrics.mean(values)
    return None if value is None else round(value, 4)


def _percentile(ordered: Sequence[float], share: float) -> float | None:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None
