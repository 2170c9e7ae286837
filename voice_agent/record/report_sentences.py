"""What was said and what it rests on, as HTML: verdict, cited passages with the supporting stretch marked, values side
by side, and what the voice said otherwise. Pure; all text escaped."""

from __future__ import annotations

from retrieval.marks import strip_marks
from retrieval.span import best_span
from voice_agent.page.frame import shown
from voice_agent.record.call_record import PHRASE, CitedRecord, SentenceRecord, SpokenRecord, TurnRecord
from voice_agent.record.report_waterfall import scrolled
from voice_agent.record.report_words import REASON, RELATION, coded
from voice_agent.record.values import ValueRow, compared, spoken_diff


def sentences(turn: TurnRecord) -> str:
    """Every generated sentence in order, then our own phrases; empty where nothing was said."""
    answer = "".join(_sentence(sentence, _heard(turn, sentence)) for sentence in turn.sentences)
    phrases = [spoken.text for spoken in turn.spoken if spoken.source == PHRASE]
    own = "".join(f'<li class="soft">“{shown(text)}” 固定用语</li>' for text in phrases)
    return f'<ol class="said">{answer}</ol>' * bool(answer) + f'<ul class="said">{own}</ul>' * bool(own)


def _heard(turn: TurnRecord, sentence: SentenceRecord) -> SpokenRecord | None:
    return next((spoken for spoken in turn.said if spoken.index == sentence.index), None)


def _sentence(sentence: SentenceRecord, heard: SpokenRecord | None) -> str:
    took = "" if sentence.ms is None else f"核对 {sentence.ms:.0f} ms"
    played = "没有播放" if heard is None else "" if heard.complete else "播放中被打断"
    facts = " · ".join(filter(None, (took, played)))
    css = "good" if sentence.passed else "bad"
    verdict = "通过" if sentence.passed else f"拦下：{coded(REASON, sentence.reason) or '没有说明'}"
    detail = f'<p class="soft">{shown(sentence.detail)}</p>' if sentence.detail else ""
    return (
        f'<li><p>{shown(sentence.text)} <b class="tag {css}">{shown(verdict)}</b> '
        f'<span class="soft">{facts}</span></p>{detail}{_voice(sentence, heard)}'
        f"{''.join(_evidence(sentence, cited) for cited in sentence.evidence)}{_values(compared(sentence))}</li>"
    )


def _voice(sentence: SentenceRecord, heard: SpokenRecord | None) -> str:
    """Only where the voice differs from what was written."""
    pieces = () if heard is None else spoken_diff(sentence.text, heard.text)
    if all(piece.kind == "same" for piece in pieces):
        return ""
    tags = {"same": "{}", "written": "<del>{}</del>", "spoken": "<ins>{}</ins>"}
    words = "".join(tags[piece.kind].format(shown(piece.text)) for piece in pieces)
    return f'<p class="voice"><span class="soft">读作</span> {words}</p>'


def _evidence(sentence: SentenceRecord, cited: CitedRecord) -> str:
    start, end = supporting(sentence.text, cited.text)
    text = cited.text
    words = f"{shown(text[:start])}<mark>{shown(text[start:end])}</mark>{shown(text[end:])}" if text else ""
    source = " · ".join(filter(None, (cited.id, cited.source)))
    return f"<blockquote><cite>[{shown(cited.citation_id)}] {shown(source)}</cite>{words}</blockquote>"


def supporting(said: str, passage: str) -> tuple[int, int]:
    """From where to where the passage speaks most of what was said: one of its sentences.

    >>> supporting("3天到账。[S1]", "先申请。审核后3天到账。")
    (4, 12)
    """
    # Behind a line break nothing is taken for a title; no room is given, so that one sentence is returned.
    span = best_span(strip_marks(said), f"\n{passage}", 0)
    start = passage.find(span)
    return (start, start + len(span)) if start >= 0 else (0, 0)


def _values(rows: tuple[ValueRow, ...]) -> str:
    if not rows:
        return ""
    head = "<tr><th>说的值</th><th>资料的值</th><th>比较</th><th>段落</th></tr>"
    body = "".join(
        f"<tr><td>{shown(row.said)}</td><td>{shown(row.held or '–')}</td>"
        f'<td class="{"good" if row.relation == "same" else "bad"}">{RELATION[row.relation]}</td>'
        f'<td class="soft">{shown(row.passage)}</td></tr>'
        for row in rows
    )
    return scrolled("数值对照", head + body)
