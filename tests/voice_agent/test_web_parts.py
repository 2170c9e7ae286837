"""Laws of the page's parts, each called by itself in a real browser: sound, words, stretches, stages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import voice_agent.service
from retrieval.types import GateReason, VerdictReason
from tests.voice_agent.browser import chromium
from tests.voice_agent.page_standin import StandIn, standing_in
from tests.voice_agent.page_visit import Visit
from tests.voice_agent.serving import ROOT
from voice_agent.record.report_sentences import supporting
from voice_agent.record.report_words import HANDOFF, OUTCOME
from voice_agent.service.problem import KINDS

pytestmark = pytest.mark.browser

WEB = Path(voice_agent.service.__file__).parent / "web"

RESAMPLE = """async ([rate, tones]) => {
  const context = new OfflineAudioContext(1, rate, rate);
  await context.audioWorklet.addModule("/web/capture.js");
  const node = new AudioWorkletNode(context, "capture", { numberOfOutputs: 1, processorOptions: { rate: 16000 } });
  const heard = [];
  node.port.onmessage = ({ data }) => heard.push(...new Int16Array(data.frame));
  for (const frequency of tones) {
    const tone = new OscillatorNode(context, { frequency });
    tone.connect(new GainNode(context, { gain: 0.4 })).connect(node);
    tone.start();
  }
  node.connect(context.destination);
  await context.startRendering();
  await new Promise((done) => setTimeout(done, 200));
  return heard;
}"""


@pytest.fixture(scope="module")
def visit() -> Iterator[Visit]:
    with chromium() as browser, standing_in(StandIn()) as there:
        yield Visit(browser, there.url)


@pytest.mark.parametrize("rate", [48_000, 44_100, 16_000])
def test_what_a_telephone_hears_is_kept_and_nothing_folds(visit: Visit, rate: int) -> None:
    """1 kHz arrives as loud as it was; 11 kHz, which would come back as 5 kHz, is gone."""
    heard = np.array(visit.page.evaluate(RESAMPLE, [rate, [1000] if rate == 16_000 else [1000, 11_000]]))
    assert len(heard) % 320 == 0 and len(heard) >= 15_000
    steady = heard[2000:14_000] / 32_768
    levels = 2 * np.abs(np.fft.rfft(steady * np.hanning(len(steady)))) / np.hanning(len(steady)).sum()
    hz = np.fft.rfftfreq(len(steady), 1 / 16_000)
    assert abs(levels[np.abs(hz - 1000) < 3].max() - 0.4) < 0.02
    assert levels[np.abs(hz - 1000) > 20].max() < 0.001


def test_it_marks_what_the_report_marks(visit: Visit) -> None:
    """Where the service names no stretch, as of a typed answer, the page finds the sentence that the report would."""
    lines = (ROOT / "data" / "kb" / "products.jsonl").read_text("utf-8").splitlines()[:60]
    passages = [json.loads(line)["text"] for line in lines]
    cases = [(sentence, text) for text in passages for sentence in re.findall(r"[^。]+。", text)]
    find = 'async (cases) => { const { supporting } = await import("/web/support.js"); ' + (
        "return cases.map(([said, text]) => supporting(said, text)) }"
    )
    found = [tuple(stretch) for stretch in visit.page.evaluate(find, [[f"{s}[S1]", t] for s, t in cases])]
    agreed = sum(supporting(s, t) == f for (s, t), f in zip(cases, found, strict=True))
    assert len(cases) > 60 and agreed == len(cases)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_code_and_every_label_has_words(visit: Visit, language: str) -> None:
    """In both languages; a code that were shown as it is would be no answer to anybody."""
    html = (WEB / "index.html").read_text("utf-8")
    labels = set(re.findall(r'data-(?:say|label|hint)="(\w+)"', html))
    sources = "".join(file.read_text("utf-8") for file in sorted(WEB.glob("*.js")))
    called = set(re.findall(r'\bsay\("([\w-]+)"', sources))
    states = ("off", "connecting", "listening", "thinking", "speaking", "paused", "handing_off", "ended")
    codes = {
        *map(str, VerdictReason),
        *map(str, GateReason),
        *HANDOFF,
        *(f"outcome_{one}" for one in OUTCOME),
    }
    names = sorted(labels | called | codes | {f"state_{one}" for one in (*states, "reconnecting")})
    names += sorted(
        KINDS.keys() - {"not-found", "no-such-call", "method-not-allowed", "reloading", "reload-failed"}
    )
    say = 'async ([language, names]) => { const { trouble, speak } = await import("/web/words.js"); ' + (
        "speak(language); return names.filter((name) => trouble(name) === name) }"
    )
    assert visit.page.evaluate(say, [language, names]) == []


def test_what_was_done_ahead_costs_nothing(visit: Visit) -> None:
    """Stages lie where they were on the call's clock; a search that was over before it was wanted has no length."""
    times = {
        "ended": 2.4,
        "known": 3.02,
        "heard": 3.02,
        "asr": 0.59,
        "gate": 3.02,
        "checked": 3.1,
        "check": 0.01,
    }
    turn = {"mode": "voice", "times": {**times, "sounded": 3.4}, "stages_ms": {"search": 26.3}}
    stages = 'async (turn) => (await import("/web/waterfall.js")).stages(turn)'
    assert visit.page.evaluate(stages, turn) == [
        ["pause", 0, 620, None],
        ["asr", 30, 620, 590],
        ["search", 620, 620, 26.3],
        ["gate", 620, 620, None],
        ["check", 690, 700, 10],
        ["voice", 700, 1000, None],
        ["sound", 1000, 1000, None],
    ]


def test_no_part_reads_a_text_as_code() -> None:
    """Nothing on the page can turn a text into elements or script, and nothing names another place."""
    forbidden = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\b|new Function|srcdoc"
    )
    for file in sorted(WEB.iterdir()):
        text = file.read_text("utf-8")
        assert not re.search(forbidden, text), file
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text), file
        inline = r"\bon\w+=|\sstyle=|<script(?! type=\"module\" src=)"
        assert file.suffix != ".html" or not re.search(inline, text), file
