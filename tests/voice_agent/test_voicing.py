"""A checked sentence is spoken by some voice, or the caller is handed over: whole calls and the rule by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from audio.edge import EdgeSynthesizer
from audio.edge_answer import EdgePatience
from audio.errors import ModelError, SpeechError, SpeechFault
from audio.playback import Playback
from audio.types import CALL_RATE_HZ, Samples, Synthesizer
from retrieval.types import Outcome
from tests.audio.edge_service import END, HANG, SLAM, Step, mp3, pieces, serving
from tests.fakes import Dialogue, Scripted, ScriptedAnswers, ScriptedRecognizer, pause, voice
from voice_agent import phrases
from voice_agent.call.recorded import Clip
from voice_agent.call.speech import Line, Speech
from voice_agent.call.voicing import Fallback, voiced
from voice_agent.record.journal import MemoryJournal
from voice_agent.resting import RestingSynthesizer

SHORT = EdgePatience(connect_s=1, first_audio_s=0.6, stall_s=0.4)
TONE = pieces(mp3(2.0))
SENTENCE = "退款三天到账。"


class Says:
    """Gives one block for each number of its level, and raises where the script says so. One script a call."""

    voice = "v"

    def __init__(self, engine: str, *scripts: Sequence[float | ModelError]) -> None:
        self.engine, self._scripts, self.asked = engine, scripts, 0

    def synthesize(self, text: str) -> Iterator[Samples]:
        script = self._scripts[min(self.asked, len(self._scripts) - 1)]
        self.asked += 1
        for step in script:
            if isinstance(step, ModelError):
                raise step
            yield np.full(CALL_RATE_HZ // 2, step, dtype=np.float32)


def broken(fault: SpeechFault) -> SpeechError:
    return SpeechError(fault, "told")


def heard(*voices: Synthesizer) -> list[float | str]:
    """Levels of what was heard, and between them each change as from>to:reason."""
    return [
        f"{piece.engine}>{piece.to}:{piece.reason}" if isinstance(piece, Fallback) else float(piece[0])
        for piece in voiced(SENTENCE, voices)
    ]


@pytest.mark.parametrize("fault", [SpeechFault.NO_AUDIO, SpeechFault.CUT, SpeechFault.UNREACHABLE])
def test_one_retry_where_it_may_help(fault: SpeechFault) -> None:
    """What is known at once is tried once more, then another voice speaks."""
    mended = Says("edge", [broken(fault)], [0.25])
    assert heard(mended, Says("kokoro", [0.5])) == [f"edge>edge:{fault}", 0.25]
    down = Says("edge", [broken(fault)])
    assert heard(down, Says("kokoro", [0.5])) == [f"edge>edge:{fault}", f"edge>kokoro:{fault}", 0.5]
    assert down.asked == 2


@pytest.mark.parametrize(
    "fault", [SpeechFault.FORBIDDEN, SpeechFault.SLOW, SpeechFault.GARBLED, SpeechFault.RESTING]
)
def test_no_retry_where_the_caller_would_only_wait(fault: SpeechFault) -> None:
    """The other voice speaks at once."""
    down = Says("edge", [broken(fault)])
    assert heard(down, Says("kokoro", [0.5])) == [f"edge>kokoro:{fault}", 0.5]
    assert down.asked == 1


def test_a_sentence_that_broke_off_is_spoken_whole_by_the_other() -> None:
    """Nothing of it is lost; the part heard before is told."""
    pieces_heard = list(
        voiced(SENTENCE, [Says("edge", [0.25, broken(SpeechFault.SLOW)]), Says("kokoro", [0.5])])
    )
    fallback = pieces_heard[1]
    assert isinstance(fallback, Fallback) and fallback.heard and len(pieces_heard) == 3


def test_no_voice_at_all_is_a_fault() -> None:
    """The last voice's fault is raised, never an empty utterance."""
    with pytest.raises(ModelError, match="kokoro is gone"):
        heard(Says("edge", [broken(SpeechFault.SLOW)]), Says("kokoro", [ModelError("kokoro is gone")]))


def test_a_service_that_is_down_is_left_alone() -> None:
    """After three faults in a row it is not asked for a while, then tried once."""
    clock = [0.0]
    down = Says("edge", [broken(SpeechFault.SLOW)])
    resting = RestingSynthesizer(down, now=lambda: clock[0])
    kinds = [heard(resting, Says("kokoro", [0.5]))[0] for _ in range(5)]
    assert down.asked == 3 and kinds[-1] == "edge>kokoro:TTS_RESTING"
    clock[0] = 31.0
    heard(resting, Says("kokoro", [0.5]))
    assert down.asked == 4


def call(first: Synthesizer, *spares: Synthesizer) -> Dialogue:
    """One question and its answer of two sentences, with these voices."""
    plan = Scripted(Outcome.ANSWER, None, ((SENTENCE + "[S1]", None), ("运费由买家承担。[S1]", None)))
    answers = ScriptedAnswers({"多久到账": plan})
    dialogue = Dialogue(ScriptedRecognizer({1: "多久到账"}), answers, first, spares=spares)
    dialogue.run(Clip(np.concatenate([pause(0.5), voice(1), pause(1.0)])))
    return dialogue


EDGE_FAULTS: dict[str, tuple[list[Step], int, str]] = {
    "403": ([], 403, "TTS_FORBIDDEN"),
    "no audio": ([END], 101, "TTS_NO_AUDIO"),
    "cut": ([*TONE[:8], SLAM], 101, "TTS_CUT"),
    "slow": ([HANG], 101, "TTS_SLOW"),
    "slow chunks": ([step for piece in TONE for step in (piece, 0.3)], 101, "TTS_SLOW"),
    "garbage": ([b"no sound at all" * 300, END], 101, "TTS_"),
}


@pytest.mark.parametrize("fault", EDGE_FAULTS)
def test_a_call_goes_on_whatever_the_service_does(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    """Both sentences are heard to their end in the other voice, and the journal says why (A7 35, 36)."""
    script, status, reason = EDGE_FAULTS[fault]
    with serving(monkeypatch, script, status=status):
        dialogue = call(EdgeSynthesizer(patience=SHORT), Says("kokoro", [0.5]))
    assert dialogue.spoken() == [SENTENCE, "运费由买家承担。"]
    assert all(event["complete"] for event in dialogue.journal.of("spoken"))
    fallbacks = dialogue.journal.of("fallback")
    assert fallbacks and all(str(event["reason"]).startswith(reason) for event in fallbacks)
    assert 0.5 in dialogue.heard_of_agent()


def test_a_sound_service_speaks_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: no fallback, both sentences heard."""
    with serving(monkeypatch, [*TONE, END]):
        dialogue = call(EdgeSynthesizer(), Says("kokoro", [0.5]))
    assert dialogue.spoken() == [SENTENCE, "运费由买家承担。"] and not dialogue.journal.of("fallback")


@pytest.mark.parametrize("script", [[], [0.5]], ids=["before a word", "in mid sentence"])
def test_no_voice_ends_in_hand_off(script: list[float]) -> None:
    """TTS raising: the recorded phrase is heard, the packet goes out, and nothing is recorded as said that was not."""
    dialogue = call(Says("kokoro", [*script, ModelError("kokoro is gone")]))
    assert dialogue.spoken() == [phrases.HANDOFF]
    assert dialogue.sink.packets[0].reason == "FAULT"
    assert any("kokoro is gone" in str(event["message"]) for event in dialogue.journal.of("error"))


def test_what_is_made_block_by_block_is_heard_block_by_block() -> None:
    """All blocks of a sentence come one after another without a gap, in order."""
    dialogue = call(Says("kokoro", [0.25, 0.5, 0.75]))
    levels = dialogue.heard_of_agent()
    changes = levels[np.flatnonzero(np.diff(levels, prepend=0.0))].tolist()
    assert changes == [0.25, 0.5, 0.75] * 2


def test_a_line_that_could_not_be_made_to_its_end_was_not_said() -> None:
    """Its beginning was heard: it is recorded as cut, later turns do not lean on it, and what comes next is heard."""
    journal = MemoryJournal()
    speech = Speech(Playback(CALL_RATE_HZ), journal)
    for index, whole in enumerate((False, True)):
        item = speech.begin(Line(1, 1, index, SENTENCE, "p1", SENTENCE))
        speech.add(item, np.full(1600, 0.5, dtype=np.float32))
        (speech.complete if whole else speech.break_off)(item)
    speech.take(4800, 0.0)
    assert [event["complete"] for event in journal.of("spoken")] == [False, True]
    assert len(speech.heard(1)) == 1 and speech.idle
