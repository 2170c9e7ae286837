"""The report: one file that needs nothing else, in which no text from outside is markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

from retrieval.types import Outcome
from tests.voice_agent.evaluation.results import checked, question, result
from tests.voice_agent.evaluation.test_compare import asked, run_of
from voice_agent.evaluation.compare import compare
from voice_agent.evaluation.report import html_report
from voice_agent.page.plots import Axes, Bar, Line, bars, histogram, lines

NASTY = '<script>alert("1")</script>&'
VOID = {"meta", "br", "img", "link"}


class Balanced(HTMLParser):
    """Collects tags and attributes, and fails on one that is not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def read(page: str) -> Balanced:
    parser = Balanced()
    parser.feed(page)
    assert not parser.open
    return parser


def nasty_run() -> dict[str, Any]:
    wrong = result(
        question(NASTY, NASTY, expect=(), kind=NASTY), Outcome.ANSWER, [NASTY], [checked(NASTY + "[S1]")]
    )
    gap = {
        "label": [NASTY],
        "count": 2,
        "answerable": 0,
        "reasons": {},
        "nearest": [NASTY],
        "questions": [NASTY] * 2,
    }
    run = run_of([*asked(3, 6), wrong])
    return {**run, "file": NASTY, "gaps": [gap], "models": {NASTY: NASTY}, "kb_version": NASTY}


def test_no_text_from_outside_is_markup() -> None:
    """A question that is a script stays a question, wherever it is shown: tables, plots, titles."""
    page = html_report(nasty_run(), compare(run_of(asked(3)), run_of(asked(2))), NASTY)
    seen = read(page)
    assert "script" not in seen.seen
    assert page.count("&lt;script&gt;") >= 8 and NASTY not in page


def test_the_page_loads_nothing() -> None:
    """No address, no link, no image, no font: it opens on a machine without a network, and its policy says so."""
    seen = read(html_report(nasty_run()))
    assert not {"link", "img", "iframe", "script", "object", "use"} & set(seen.seen)
    assert not [name for name, _ in seen.attributes if name in ("src", "href", "srcset", "data")]
    page = html_report(nasty_run())
    assert "default-src &#x27;none&#x27;" in page
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", page)


def test_dark_and_light_follow_the_reader() -> None:
    """Every colour is named once, with its light and its dark value, and the reader's setting chooses."""
    (palette,) = re.findall(r":root \{([^}]*)\}", html_report(run_of(asked(3))))
    assert "color-scheme: light dark" in palette
    colours = re.findall(r"--\w+:([^;]+);", palette)
    assert len(colours) > 8 and all(colour.startswith("light-dark(") for colour in colours)


def test_an_empty_evaluation_is_still_a_page() -> None:
    """No answerable question, no answer, no rows: sections are left out and nothing breaks."""
    seen = read(html_report(run_of([result(question("1", expect=()), Outcome.REFUSE, [])])))
    assert "h1" in seen.seen


def test_plots_put_values_where_they_belong() -> None:
    """0 is at the lower left, the ends of the axes at the upper right; a bar's length is its share."""
    axes = Axes("x", "y", x_max=2.0, y_max=4.0)
    assert axes.at_x(0.0) < axes.at_x(1.0) < axes.at_x(2.0) == axes.at_x(9.0)
    assert axes.at_y(0.0) > axes.at_y(4.0)
    half = bars("t", [Bar("one", (0.5,), "0.5"), Bar("two", (1.0,), "1")], ("a",), 1.0)
    widths = [float(width) for width in re.findall(r'width="([\d.]+)" height="16"', half)]
    assert widths[0] * 2 == widths[1]
    assert lines("t", axes, [Line("one", ((0.0, 0.0), (2.0, 4.0)))]).count("polyline") == 1
    assert histogram("t", axes, [("a", [0, 3, 1])]).count("<title>") == 3
