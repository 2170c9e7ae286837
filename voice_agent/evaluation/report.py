"""One evaluation as one HTML file that needs nothing else: no network, no script; all text escaped. Pure.

It is made of what `eval --json` writes, so that an old run can be shown again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from voice_agent.evaluation.compare import Change
from voice_agent.evaluation.report_tables import answers, baseline, gap_list, heat, recordings, tiles, worst
from voice_agent.page.frame import page
from voice_agent.page.plots import Axes, Bar, Line, bars, histogram, lines

Run = Mapping[str, Any]


def html_report(run: Run, changes: Sequence[Change] = (), baseline_name: str = "") -> str:
    """The whole page. `changes` against the run named `baseline_name`, if there is one."""
    parts = [
        tiles(run),
        baseline(changes, baseline_name),
        _two(_systems(run), heat(run)),
        _two(_outcomes(run), _histogram(run)),
        _two(_curve(run), _reliability(run)),
        _two(_times(run), answers(run)),
        recordings(run),
        worst(run),
        gap_list(run),
    ]
    title = f"评测 {run.get('file', '')}"
    facts = (
        f"{run['questions']} 问",
        f"知识库 {run.get('kb_version', '–')}",
        f"配置 {run.get('config_sha', '–')}",
        *(f"{name} {model}" for name, model in (run.get("models") or {}).items()),
    )
    head = f'<h1>{escape(title)}</h1><p class="sub">{escape(" · ".join(facts))}</p>'
    return page(title, f"<main>{head}{''.join(parts)}</main>")


def _two(*cards: str) -> str:
    shown = [card for card in cards if card]
    return f'<div class="grid2">{"".join(shown)}</div>' if shown else ""


def _card(title: str, body: str, hint: str = "") -> str:
    below = f'<p class="hint">{escape(hint)}</p>' if hint else ""
    return f"<section><h2>{escape(title)}</h2>{body}{below}</section>"


def _systems(run: Run) -> str:
    """Recall over k of each channel and stage."""
    search = run["all"]["search"]
    if not search:
        return ""
    rows = []
    for system, numbers in search.items():
        at1, at3, at10 = (numbers[f"recall@{k}"] for k in (1, 3, 10))
        parts = (at1, at3 - at1, at10 - at3)
        rows.append(Bar(system, parts, f"{at1:.3f} · {at3:.3f} · {at10:.3f}"))
    plot = bars("各路与各级的召回率", rows, ("前 1", "前 3", "前 10"), 1.0)
    return _card("召回：各路与各级", plot, "任一正确段落排在前 1、3、10 名的问题所占份额。")


def _outcomes(run: Run) -> str:
    """What the gate said, kind by kind."""
    rows = []
    for kind, part in [("全部", run["all"]), *run["kinds"].items()]:
        counts = [
            sum(label[name] for label in part["outcomes"].values())
            for name in ("ANSWER", "CLARIFY", "REFUSE")
        ]
        total = sum(counts) or 1
        rows.append(Bar(kind, tuple(n / total for n in counts), " / ".join(map(str, counts))))
    plot = bars("门控结果", rows, ("回答", "反问", "转人工"), 1.0)
    return _card(
        "门控：每类问题怎么处理", plot, "hard_negative、off_topic、must_handoff 应当不回答，其余应当回答。"
    )


def _histogram(run: Run) -> str:
    """How sure the gate was of what it should answer and of what it must not."""
    found = run["sureness"]
    labels = (("应答", found["answerable"]), ("应拒", found["must_refuse"]))
    most = max((max(counts, default=0) for _, counts in labels), default=0)
    if not most:
        return ""
    names = {"answer": "回答", "clarify": "反问"}
    marks = [(names[name], value) for name, value in found["thresholds"].items()]
    axes = Axes("把握", "题数", y_max=float(-(-most // 5) * 5))
    plot = histogram("门控把握的分布", axes, labels, marks)
    return _card("门控：把握的分布", plot, "竖线是门槛；两色重叠处分不开，只能靠反问。")


def _curve(run: Run) -> str:
    """What another threshold would cost and save."""
    found = run["curve"]
    if not found["points"]:
        return ""
    points = tuple((accepted, rejected) for _, accepted, rejected in found["points"])
    most = max(0.2, -(-max(accepted for accepted, _ in points) // 0.2) * 0.2)
    axes = Axes("误答：应拒而答", "未答：应答而没有答", x_max=round(most, 1))
    _, accepted, rejected = found["shipped"]
    plot = lines("误答对未答", axes, [Line("门槛从 0 到 1", points)], ("现用", accepted, rejected))
    return _card("门控：误答对未答", plot, "沿线移动门槛；越靠左下越好。反问在这里算没有答。")


def _reliability(run: Run) -> str:
    """Is a sureness of 0.8 right in 80 of 100?"""
    found = run["reliability"]
    if not found["buckets"]:
        return ""
    measured = tuple((bucket["sure"], bucket["right"]) for bucket in found["buckets"])
    series = [Line("实测", measured, marks=True), Line("理想", ((0.0, 0.0), (1.0, 1.0)), dashed=True)]
    plot = lines("把握与正确率", Axes("把握", "答对的份额"), series)
    return _card("校准：把握与正确率", plot, f"期望校准误差 {found['ece']:.3f}：点在虚线上方是过于谨慎。")


def _times(run: Run) -> str:
    """P50 as a bar, P95 as a whisker."""
    stages = {name: stage for name, stage in run["stages_ms"].items() if stage["p50"] is not None}
    if not stages:
        return ""
    rows = [
        Bar(name, (stage["p50"],), f"{stage['p50']:.1f} / {stage['p95']:.1f} ms", stage["p95"])
        for name, stage in stages.items()
    ]
    plot = bars("各级用时", rows, ("P50",), max(stage["p95"] for stage in stages.values()))
    return _card("用时：P50 与 P95", plot, "recall 是各路并行的总时，search 含重排，look 含修复与门控。")
