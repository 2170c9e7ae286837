"""The tables of the report, as HTML sections. Pure; every text from outside is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from voice_agent.evaluation.compare import Change

Run = Mapping[str, Any]

WORST = 40
"""Questions listed; whoever needs more has the JSON."""

FAULTS = {
    "false_accept": "误答",
    "wrong_answer": "答错",
    "withheld": "核对拦下",
    "false_reject": "误拒",
    "asked_back": "反问",
}
"""From worst to mildest."""


def tiles(run: Run) -> str:
    """The few numbers that are looked at first."""
    search, gate = run["all"]["search"], run["all"]["gate"]
    found = search.get("reranked", {}).get("recall@3")
    shown = [("Recall@3（最终）", _number(found), "")]
    names = {
        "false_accept": "误答率",
        "false_reject": "误拒率",
        "wrong_answer": "答错率",
        "clarify": "反问率",
    }
    shown += [(name, _percent(gate[key]["share"]), _interval(gate[key])) for key, name in names.items()]
    layer = run.get("answers")
    if layer:
        faith = layer["faithfulness"]
        shown.append(("忠实度（过核对的句子）", _percent(faith["share"]), _interval(faith)))
    if run.get("asr"):
        shown.append(("字错率", _percent(run["asr"]["cer"]), f"{run['asr']['recordings']} 段录音"))
    p50 = run["look_ms"]["p50"]
    shown.append(("检索与门控 P50", "–" if p50 is None else f"{p50:.0f} ms", ""))
    each = "".join(
        f'<div class="tile"><span>{escape(name)}</span><b>{escape(value)}</b><span>{escape(note)}</span></div>'
        for name, value, note in shown
    )
    return f'<div class="tiles">{each}</div>'


def heat(run: Run) -> str:
    """Recall@3 of each kind in each channel and stage."""
    systems = list(run["all"]["search"])
    kinds = [("全部", run["all"]), *((k, part) for k, part in run["kinds"].items() if part["search"])]
    if not systems:
        return ""
    rows = []
    for kind, part in kinds:
        cells = "".join(_heat_cell(part["search"].get(name, {}).get("recall@3")) for name in systems)
        rows.append(f'<tr><td>{escape(kind)}</td><td class="n">{part["answerable"]}</td>{cells}</tr>')
    head = "".join(f'<th class="n">{escape(name)}</th>' for name in systems)
    return _section(
        "Recall@3：每类问题", f'<tr><th>类别</th><th class="n">题数</th>{head}</tr>{"".join(rows)}'
    )


def _heat_cell(value: float | None) -> str:
    if value is None:
        return '<td class="n soft">–</td>'
    return f'<td class="heat" style="--a:{max(value - 0.5, 0.0):.2f}">{value:.3f}</td>'


def answers(run: Run) -> str:
    """The answer layer."""
    layer = run.get("answers")
    if not layer:
        return ""
    rows = [
        ("回答的问题", str(layer["answered"]), f"核对后说出 {layer['spoken']}，拦下 {layer['withheld']}"),
        _rate_row("忠实度", layer["faithfulness"], "过核对的句子"),
        ("切题度", _number(layer["relevance"]), f"问与答的相似度：{layer['relevance_by']}"),
        ("上下文精确度", _number(layer["context_precision"]), "正确段落是否排在前面"),
        ("上下文召回", _number(layer["context_recall"]), "正确段落是否都在可引用之列"),
        _rate_row("引用覆盖", layer["citation_coverage"], "带有效引用的句子"),
        _rate_row("无效引用", layer["invalid_citation"], "指向不存在段落的标记"),
        _rate_row("引对段落", layer["right_citation"], "说出的回答引用了正确段落"),
    ]
    body = "".join(
        f'<tr><td>{escape(name)}</td><td class="n">{escape(value)}</td><td class="soft">{escape(note)}</td></tr>'
        for name, value, note in rows
    )
    blocked = "，".join(f"{reason} {count}" for reason, count in layer["blocked_for"].items())
    return _section("回答层", body, f"拦下的原因：{blocked}" if blocked else "")


def recordings(run: Run) -> str:
    """How the recordings were heard: the words, the words of the domain, codes and figures."""
    asr = run.get("asr")
    if not asr:
        return ""
    rows = [("字错率", _percent(asr["cer"]), f"{asr['recordings']} 段录音")]
    names = {"exact": "整句无误", "keywords": "领域词", "codes": "编号", "numbers": "数字（含单位）"}
    rows += [_rate_row(name, asr[key], "") for key, name in names.items()]
    rows.append(("多听出的数字", str(asr["invented_numbers"]), "没有说过的数字"))
    rows.append(("无声处听出话", str(asr["heard_in_silence"]), "没有人说话的录音"))
    body = "".join(
        f'<tr><td>{escape(name)}</td><td class="n">{escape(value)}</td><td class="soft">{escape(note)}</td></tr>'
        for name, value, note in rows
    )
    return _section("听写", body)


def baseline(changes: Sequence[Change], name: str) -> str:
    """Each measure against the earlier run."""
    if not changes:
        return ""
    head = "".join(
        f'<th class="{css}">{text}</th>'
        for text, css in (
            ("指标", ""),
            ("之前", "n"),
            ("现在", "n"),
            ("差", "n"),
            ("变好 / 变坏", "n"),
            ("显著性", ""),
        )
    )
    moved = [change for change in changes if abs(change.difference) > 1e-9]
    body = "".join(_change_row(change) for change in moved)
    same = f"{len(changes) - len(moved)} 项没有变化。"
    hint = f"{same}份额用成对题目的精确符号检验，均值用成对自助法的 95 % 区间；用时还取决于机器，不作检验。"
    return _section(f"与 {name} 相比", f"<tr>{head}</tr>{body}", hint)


def _change_row(change: Change) -> str:
    is_time = change.measure.startswith("P50 ")
    digits = 1 if is_time else 4
    moved = change.difference * change.good
    css = "" if abs(moved) < 1e-9 or not (change.is_clear or is_time) else "good" if moved > 0 else "bad"
    counts = "–" if change.better is None else f"{change.better} / {change.worse}"
    proof = ""
    if change.p is not None:
        proof = ("p < 0.001" if change.p < 0.001 else f"p = {change.p:.3f}") + (
            "，显著" if change.is_clear else ""
        )
    elif change.low is not None and change.high is not None:
        proof = f"{change.low:+.4f} 至 {change.high:+.4f}" + ("，显著" if change.is_clear else "")
    cells = (f"{change.before:.{digits}f}", f"{change.after:.{digits}f}")
    return (
        f"<tr><td>{escape(change.measure)}</td>"
        + "".join(f'<td class="n">{cell}</td>' for cell in cells)
        + f'<td class="n {css}">{change.difference:+.{digits}f}</td><td class="n">{counts}</td>'
        + f'<td class="soft">{escape(proof)}</td></tr>'
    )


def worst(run: Run) -> str:
    """The questions that went wrong, the worst faults first, the surest of them at the top."""
    order = list(FAULTS)
    wrong = [row for row in run.get("rows", ()) if row["erred"]]
    wrong.sort(key=lambda row: (order.index(row["erred"]), -(row["sure"] or 0.0), row["id"]))
    if not wrong:
        return ""
    body = "".join(_worst_row(row) for row in wrong[:WORST])
    head = "<tr><th>错</th><th>问题</th><th>首段</th><th>应为</th><th class='n'>把握</th></tr>"
    counts = {name: sum(row["erred"] == key for row in wrong) for key, name in FAULTS.items()}
    hint = "，".join(f"{name} {count}" for name, count in counts.items() if count)
    return _section("最差的问题", head + body, f"共 {len(wrong)} 题：{hint}。")


def _worst_row(row: Mapping[str, Any]) -> str:
    notes = [f"{row['id']} · {row['kind']}" + (f" · {row['reason']}" if row["reason"] else "")]
    if row["heard"]:
        notes.append(f"原话：{row['heard']['said']}")
    for sentence in (row["answer"] or {}).get("sentences", ()):
        verdict = f"（{sentence['reason']}：{sentence['detail']}）" if sentence["reason"] else ""
        notes.append(f"{sentence['text']}{verdict}")
    more = "".join(f'<span class="q more">{escape(note)}</span>' for note in notes)
    sure = "–" if row["sure"] is None else f"{row['sure']:.2f}"
    places = {name: rank for name, rank in row["ranks"].items() if name == "reranked"}
    place = "".join(f" <span class='soft'>第 {rank or '–'} 名</span>" for rank in places.values())
    expected = escape("、".join(row["expect"]) or "（应拒）")
    return (
        f'<tr><td><span class="tag">{FAULTS[row["erred"]]}</span></td>'
        f'<td><span class="q">{escape(row["question"])}</span>{more}</td>'
        f'<td class="code">{escape(row["top"] or "–")}</td><td class="code">{expected}{place}</td>'
        f'<td class="n">{sure}</td></tr>'
    )


def gap_list(run: Run) -> str:
    """Unanswered questions in groups: what to write next."""
    groups = [gap for gap in run.get("gaps") or () if gap["count"] > 1]
    if not groups:
        return ""
    head = "<tr><th>主题</th><th class='n'>题数</th><th class='n'>已有段落</th><th>问题</th><th>最近的段落</th></tr>"
    body = "".join(
        f"<tr><td>{escape(' · '.join(gap['label']))}</td><td class='n'>{gap['count']}</td>"
        f"<td class='n'>{gap['answerable']}</td><td>{_listed(gap['questions'][:4])}</td>"
        f"<td class='code'>{_listed(gap['nearest'])}</td></tr>"
        for gap in groups
    )
    hint = "没有回答的问题按意思归组。「已有段落」的题缺的是问法：把问法加进那个段落；其余缺的是段落。"
    return _section("接下来该写什么", head + body, hint)


def _listed(texts: Iterable[str]) -> str:
    return "".join(f'<span class="q">{escape(text)}</span>' for text in texts)


def _section(title: str, rows: str, hint: str = "") -> str:
    below = f'<p class="hint">{escape(hint)}</p>' if hint else ""
    return f'<section><h2>{escape(title)}</h2><div class="wide"><table>{rows}</table></div>{below}</section>'


def _rate_row(name: str, rate: Mapping[str, Any], note: str) -> tuple[str, str, str]:
    return name, _percent(rate["share"]), f"{note} {rate['count']}/{rate['of']}，{_interval(rate)}".strip()


def _interval(rate: Mapping[str, Any]) -> str:
    return f"95 % 区间 {rate['low'] * 100:.1f}–{rate['high'] * 100:.1f} %" if rate["of"] else "没有题目"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.1f} %"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
