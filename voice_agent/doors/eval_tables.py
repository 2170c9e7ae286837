"""An evaluation for people at a terminal: the tables of `voice-agent eval`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from voice_agent.doors.tables import Block, number, show
from voice_agent.evaluation.compare import Change

WRONG = frozenset({"false_accept", "wrong_answer", "withheld", "false_reject", "asked_back"})


def show_wrong(run: Mapping[str, Any]) -> None:
    """One JSON object a line for each question that went wrong."""
    for row in run["rows"]:
        if row["erred"] in WRONG:
            names = ("id", "question", "outcome", "reason", "erred", "top", "expect")
            print(json.dumps({name: row[name] for name in names}, ensure_ascii=False))


def show_gaps(run: Mapping[str, Any]) -> None:
    """The groups of unanswered questions, largest first."""
    for gap in run["gaps"]:
        head = f"{gap['count']} 问：{' · '.join(gap['label']) or '–'}"
        known = f"；其中 {gap['answerable']} 问已有段落" if gap["answerable"] else ""
        print(f"{head}{known}；最近的段落 {'、'.join(gap['nearest']) or '–'}")
        for question in gap["questions"]:
            print(f"  {question}")


def show_measures(run: Mapping[str, Any], changes: Sequence[Change]) -> None:
    """Search, gate, answers, hearing, times, and the differences from the run before."""
    show([*_layers(run), *_differences(changes)])
    look = run["look_ms"]
    print(f"每问检索与门控用时 P50 {number(look['p50'], 0)} ms，P95 {number(look['p95'], 0)} ms")


def _layers(run: Mapping[str, Any]) -> Iterator[Block]:
    parts = [("全部", run["all"]), *run["kinds"].items()]
    search = tuple(
        (kind, system, *(number(value) for value in numbers.values()))
        for kind, part in parts
        for system, numbers in part["search"].items()
    )
    columns = ("类别", "系统", "Recall@1", "Recall@3", "Recall@10", "MRR", "nDCG@10", "命中率")
    yield Block(f"检索（{run['questions']} 问）", search, columns)
    gate = tuple(
        (kind, str(part["count"]), *(_share(rate) for rate in part["gate"].values())) for kind, part in parts
    )
    yield Block(
        "门控（括号里是 95 % 区间）", gate, ("类别", "题数", "判断正确", "误答", "误拒", "答错", "反问")
    )
    if run["answers"]:
        yield Block("回答层", tuple(_answers(run["answers"])))
    if run["asr"]:
        yield Block("听写", tuple(_hearing(run["asr"])))
    stages = tuple((name, number(s["p50"], 1), number(s["p95"], 1)) for name, s in run["stages_ms"].items())
    yield Block("各级用时（毫秒）", stages, ("级", "P50", "P95"))


def _answers(layer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "回答 / 说出 / 拦下", f"{layer['answered']} / {layer['spoken']} / {layer['withheld']}"
    yield "忠实度", _share(layer["faithfulness"])
    yield f"切题度（{layer['relevance_by']}）", number(layer["relevance"])
    yield "上下文精确度", number(layer["context_precision"])
    yield "上下文召回", number(layer["context_recall"])
    yield "引用覆盖", _share(layer["citation_coverage"])
    yield "无效引用", _share(layer["invalid_citation"])
    yield "引对段落", _share(layer["right_citation"])


def _hearing(asr: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "录音", str(asr["recordings"])
    yield "字错率", number(asr["cer"])
    names = {"exact": "整句无误", "keywords": "领域词", "codes": "编号", "numbers": "数字（含单位）"}
    for key, name in names.items():
        yield name, _share(asr[key])
    yield "多听出的数字", str(asr["invented_numbers"])


def _differences(changes: Sequence[Change]) -> Iterator[Block]:
    rows = tuple(
        (
            change.measure,
            number(change.before, 4),
            number(change.after, 4),
            f"{change.difference:+.4f}",
            "-" if change.better is None else f"{change.better}/{change.worse}",
            number(change.p, 3),
            "*" if change.is_clear else "",
        )
        for change in changes
    )
    yield Block("与之前相比", rows, ("指标", "之前", "现在", "差", "变好/变坏", "p", "显著"))


def _share(rate: Mapping[str, Any]) -> str:
    if rate["share"] is None:
        return "-"
    return f"{rate['share']:.3f} ({rate['low']:.3f}–{rate['high']:.3f}) {rate['count']}/{rate['of']}"
