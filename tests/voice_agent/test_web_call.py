"""A call from the page to the real service: Chromium's fake microphone plays a recorded caller, and what the page plays
is recorded and heard again by the agent's own recogniser.
"""

from __future__ import annotations

import base64
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import av
import httpx
import numpy as np
import pytest

from audio.asr import Listening, WhisperRecognizer
from audio.cer import character_error_rate
from audio.types import CALL_RATE_HZ, Samples
from audio.wav import read_wav, write_wav
from tests.voice_agent.browser import chromium
from tests.voice_agent.page_visit import FAKE_MICROPHONE, Visit
from tests.voice_agent.serving import ROOT
from tests.voice_agent.test_serve_process import free_port, reached
from voice_agent.weights.store import require

pytestmark = [pytest.mark.models, pytest.mark.browser]

CALLS = ROOT / "data" / "calls"

BEFORE_S = 1.0
"""The caller waits so long: the microphone is open a little before the call is."""

PATIENCE_S = 240.0
"""For a reply, on a machine that is busy with other work."""

NEAR = 0.5
"""Character error rate at which it is plainly the same answer; another has over 0.8."""

RECORD = """
const connect = AudioNode.prototype.connect;
window.recorded = [];
AudioNode.prototype.connect = function (to, ...rest) {
  if (to instanceof AudioDestinationNode) {
    const tap = new MediaStreamAudioDestinationNode(this.context, { channelCount: 1 });
    const recorder = new MediaRecorder(tap.stream);
    recorder.ondataavailable = ({ data }) => recorded.push(data);
    recorder.start(100);
    connect.call(this, tap);
  }
  return connect.call(this, to, ...rest);
};
"""

RECORDED = """async () => {
  const url = await new Promise((done) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.readAsDataURL(new Blob(recorded));
  });
  return url.slice(url.indexOf(",") + 1);
}"""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The command itself in a process of its own, over the demo's documents."""
    folder, port = tmp_path_factory.mktemp("served"), free_port()
    settings = (f"paths.logs={folder / 'logs'}", "duties.greeting=false")
    options = [part for setting in settings for part in ("--set", setting)]
    env = {**os.environ, "VOICE_AGENT__SERVICE__PORT": str(port)}
    command = [sys.executable, "-m", "voice_agent", "serve", *options]
    base = f"http://127.0.0.1:{port}"
    with subprocess.Popen(command, cwd=ROOT, env=env, stderr=subprocess.PIPE, text=True) as running:
        try:
            with httpx.Client(base_url=base, timeout=60, trust_env=False) as client:
                reached(client, running, ready=True)
            yield f"{base}/"
        finally:
            running.kill()


@contextmanager
def calling(url: str, call: str, folder: Path) -> Iterator[Visit]:
    """The page with a caller at its microphone who says what is in the file, once."""
    said = read_wav(CALLS / f"{call}.wav").samples
    silence = np.zeros(int(BEFORE_S * CALL_RATE_HZ), np.float32)
    write_wav(folder / "caller.wav", np.concatenate([silence, said]), CALL_RATE_HZ)
    voice = f"--use-file-for-fake-audio-capture={folder / 'caller.wav'}%noloop"
    with chromium(*FAKE_MICROPHONE, voice) as browser:
        visit = Visit(browser, url, before=RECORD)
        visit.page.locator("#call").click()
        yield visit


def heard(visit: Visit) -> Samples:
    """What the page has played, at the rate of a call."""
    data = base64.b64decode(visit.page.evaluate(RECORDED))
    resampler = av.AudioResampler("s16", "mono", CALL_RATE_HZ)
    with av.open(io.BytesIO(data)) as container:
        frames = [one for frame in container.decode(audio=0) for one in resampler.resample(frame)]
    joined = np.concatenate([frame.to_ndarray()[0] for frame in frames]).astype(np.float32) / 32_768
    return np.trim_zeros(np.where(np.abs(joined) < 1e-3, 0, joined))


def error_rate(visit: Visit, spoken: str) -> float:
    """Of what was heard against what was said."""
    sound = heard(visit)
    listening = Listening(5, 3.0)
    recognizer = WhisperRecognizer(require("whisper-base"), threads=2, hot_words=(), listening=listening)
    raw = recognizer.transcribe(sound, len(sound) / CALL_RATE_HZ).raw
    rate = character_error_rate(spoken, raw)
    print(f"\nsaid {spoken}, heard {raw}: {rate:.2f}")
    return rate


def test_a_question_is_answered_aloud_with_its_evidence(url: str, tmp_path: Path) -> None:
    """What the recorded caller asks is understood; the right answer sounds from the page, its passage is shown with the
    stretch that carries it, and how long everything took.
    """
    with calling(url, "demo", tmp_path) as visit:
        visit.until_shown(".outcome", "已回答", PATIENCE_S)
        assert "保修期" in visit.texts(".heard p")[0]
        said = visit.texts(".sentence.said .said")
        assert "12个月" in said[0] and visit.page.locator(".sentence .mark").count() >= 1
        assert any("12个月" in stretch for stretch in visit.texts("#evidence mark"))
        stages = dict(zip(visit.texts("#waterfall .name"), visit.texts("#waterfall b"), strict=True))
        assert "第一声" in stages and stages["门控"] == "回答"
        visit.page.locator("#call").click()
        visit.state("ended", PATIENCE_S)
        assert error_rate(visit, "手机主机保修期为十二个月。手机保修期从签收次日起计算。") < NEAR
        assert visit.trouble == []


def test_what_the_documents_do_not_hold_goes_to_a_person(url: str, tmp_path: Path) -> None:
    """No answer, the set phrase aloud, the hand-off with the caller's words, and the call ends by itself."""
    with calling(url, "refusal", tmp_path) as visit:
        visit.until("!document.querySelector('#handoff').hidden", PATIENCE_S)
        visit.state("ended", PATIENCE_S)
        assert "已送到" in visit.texts("#handoff dd") and "黄金" in "".join(visit.texts("#handoff dd"))
        assert visit.page.locator(".sentence").count() == 0
        spoken = "".join(visit.texts(".phrase p span"))
        assert "人工" in spoken
        visit.until("recorded.length && document.querySelector('.phrase')")
        assert error_rate(visit, spoken) < NEAR
        assert visit.trouble == []
