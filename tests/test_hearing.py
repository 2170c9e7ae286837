"""Nobody speaks and no turn; a short word and a turn: the suites of the benches, a few fast and all of them slow."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from hearing.chain import Ear, on_a_line  # noqa: E402
from hearing.ear import shipped_ear  # noqa: E402
from hearing.noise import KINDS, Clip, clips, over_the_telephone  # noqa: E402
from hearing.sentences import SENTENCES, in_one_script  # noqa: E402
from hearing.suites import silence_suite, speech_suite  # noqa: E402
from hearing.utterances import VOICES, WORDS, Utterance, levelled, recorded, spoken  # noqa: E402

from audio.pcm import dbfs  # noqa: E402
from audio.types import CALL_RATE_HZ, Samples  # noqa: E402
from audio.wav import read_wav  # noqa: E402
from tests.fakes import RULES, Dialogue, LevelDetector, Scripted, ScriptedAnswers, ScriptedRecognizer  # noqa: E402
from voice_agent.call.recorded import Clip as CallerClip  # noqa: E402

SPEECH = ROOT.parent / "shared" / "data" / "speech"
HARD = (
    "hiss-steps-35",
    "breath1.6-35",
    "music-chords-25",
    "tones-ringing-15",
    "bumps-cough-15",
    "keyboard9-15",
)
"""Noises that the detector lets through: what keeps them from being a turn is what comes after it."""

TEN_MINUTES = 600.0


@pytest.fixture(scope="module")
def noises() -> list[Clip]:
    return clips()


@pytest.fixture(scope="module")
def ear() -> Ear:
    return shipped_ear()


def test_the_silence_suite_is_large_and_always_the_same(noises: list[Clip]) -> None:
    """At least 60 clips, every kind among them, none louder than full scale, the same sounds from the same seed."""
    assert len(noises) >= 60 and len({clip.name for clip in noises}) == len(noises)
    assert {clip.kind for clip in noises} == set(KINDS)
    assert all(np.abs(clip.samples).max() <= 1 for clip in noises)
    once, again, other = clips(1.0), clips(1.0), clips(1.0, seed=1)
    assert all(np.array_equal(a.samples, b.samples) for a, b in zip(once, again, strict=True))
    assert sum(np.array_equal(a.samples, b.samples) for a, b in zip(once, other, strict=True)) < 12


def test_noises_are_as_loud_as_they_say(noises: list[Clip]) -> None:
    """Room noise named -15 is 20 dB louder than the one named -35, with or without the telephone."""
    levels = {clip.name.removesuffix("-phone"): dbfs(clip.samples) for clip in noises}
    assert levels["room-pink-15"] - levels["room-pink-35"] == pytest.approx(20, abs=2.5)
    assert all(abs(levels[f"hiss-band-{level}"] + level) < 2 for level in (15, 25, 35, 45))


def test_the_telephone_takes_what_it_takes() -> None:
    """Nothing above 4 kHz comes through, and speech below it does."""
    t = np.arange(CALL_RATE_HZ) / CALL_RATE_HZ
    low, high = (
        over_the_telephone((0.3 * np.sin(2 * np.pi * hz * t)).astype(np.float32)) for hz in (1000, 5000)
    )
    assert dbfs(low) > -15 and dbfs(high) < -40


def test_the_word_suite_is_large_and_every_word_has_two_voices() -> None:
    """At least 60 readings; no word is read twice by one voice."""
    pairs = [(word, VOICES[(n + turn * 2) % len(VOICES)]) for turn in (0, 1) for n, word in enumerate(WORDS)]
    assert len(set(pairs)) == len(pairs) >= 60


def test_words_are_levelled_and_laid_on_a_line() -> None:
    """One level for every voice; the line before and after is its hiss."""
    loud = levelled(np.sin(np.arange(8000) / 3).astype(np.float32) * 0.9)
    assert dbfs(loud) == pytest.approx(-26, abs=0.2)
    line = on_a_line(loud, -60, seed=1)
    assert len(line) == len(loud) + int(3.2 * CALL_RATE_HZ)
    assert dbfs(line[:CALL_RATE_HZ]) == pytest.approx(-60, abs=0.5)


@pytest.mark.parametrize(
    ("heard", "keywords", "numbers"),
    [
        ("宽带提示代码691,怎么办。", 2, 1),
        ("宽带提示代码六九一怎么办", 2, 1),
        ("款待提示代码619", 1, 0),
        ("", 0, 0),
    ],
)
def test_numbers_are_heard_in_any_notation(heard: str, keywords: int, numbers: int) -> None:
    """691 is 六九一; a neighbour is not."""
    (sentence,) = [each for each in SENTENCES if "六九一" in each.numbers]
    assert (sentence.keywords_in(heard), sentence.numbers_in(heard)) == (keywords, numbers)


def test_every_sentence_holds_its_own_keywords() -> None:
    """What is looked for was said; the texts are Simplified."""
    for sentence in SENTENCES:
        assert sentence.keywords_in(sentence.text) == len(sentence.keywords) > 0
        assert sentence.numbers_in(sentence.text) == len(sentence.numbers)
        assert in_one_script(sentence.text) and not in_one_script("退款後怎麼辦")


def _scripted(text: str, dropped: str | None = None) -> Ear:
    recognizer = ScriptedRecognizer({4: text}, dropped=dropped or "no_speech")  # type: ignore[arg-type]
    return Ear(LevelDetector, recognizer, RULES, 0.3)


TONE = np.full(CALL_RATE_HZ, 0.4, dtype=np.float32)
QUIET = np.zeros(2 * CALL_RATE_HZ, dtype=np.float32)


@pytest.mark.parametrize(
    ("text", "dropped", "turns"), [("退款", None, 1), ("", "no_speech", 0), ("", "not_chinese", 1)]
)
def test_the_suites_can_fail(text: str, dropped: str | None, turns: int) -> None:
    """Text is a turn, and so is being asked to repeat; what is dropped in silence is none."""
    clip = Clip("tone", "tones", np.concatenate([TONE, QUIET]))
    report = silence_suite([clip], _scripted(text, dropped))
    assert (report["turns"], report["clips"], report["taken_for_voice"]) == (turns, 1, 1)
    assert [false["clip"] for false in report["false_turns"]] == ["tone"] * turns


def test_words_that_are_lost_are_named() -> None:
    """A word that raised nothing is counted and told; accuracy is told apart."""
    word = Utterance("退款。", "nobody", TONE)
    lost, heard = speech_suite([word], _scripted("", "boilerplate")), speech_suite([word], _scripted("退宽"))
    assert (lost["raised"], [miss["said"] for miss in lost["missed"]]) == (0, ["退款。"])
    assert (heard["raised"], heard["answered"], heard["asked_again"], heard["cer"]) == (1, 1, 0, 0.5)


@pytest.mark.models
def test_hard_noises_raise_no_turn(ear: Ear, noises: list[Clip]) -> None:
    """Noises that pass the detector are dropped after it, and nobody is asked to repeat them."""
    some = [clip for clip in noises if clip.name.removesuffix("-phone").split("-snr")[0] in HARD]
    assert len(some) == len(HARD)
    report = silence_suite([Clip(c.name, c.kind, c.samples[: 4 * CALL_RATE_HZ]) for c in some], ear)
    assert report["false_turns"] == []
    assert report["taken_for_voice"] >= 3, "none of them is hard any more"


@pytest.mark.models
def test_short_words_raise_a_turn(ear: Ear) -> None:
    """好的好的 and 转人工, as the calls recorded them."""
    said = [
        Utterance(text, wav, read_wav(ROOT / "data" / "calls" / f"{wav}.wav").samples)
        for text, wav in (("好的好的。", "murmur_2"), ("给我转人工客服。", "person"))
    ]
    report = speech_suite(said, ear)
    assert (report["raised"], report["answered"]) == (2, 2)


@pytest.mark.models
@pytest.mark.slow
def test_no_noise_raises_a_turn(ear: Ear, noises: list[Clip]) -> None:
    """The whole silence suite: 0 turns."""
    assert silence_suite(noises, ear)["false_turns"] == []


@pytest.mark.models
@pytest.mark.slow
def test_all_short_words_but_one_raise_a_turn(ear: Ear) -> None:
    """The whole suite of words, and the human recordings where they are at hand: at most one is lost of each."""
    report = speech_suite(spoken(), ear)
    print({key: report[key] for key in ("utterances", "raised", "answered", "exact", "cer")})
    assert report["utterances"] >= 60 and report["raised"] >= report["utterances"] - 1, report["missed"]
    people = speech_suite(recorded(SPEECH), ear) if SPEECH.is_dir() else None
    assert people is None or people["raised"] >= people["utterances"] - 1, people


class _AnyQuestion(dict[str, Scripted]):
    """Every question has the same answer."""

    def __missing__(self, question: str) -> Scripted:
        return Scripted(sentences=(("退款三天到账。", None),))


def _call(ear: Ear, sound: Samples, max_utterance_s: float = 30.0) -> Dialogue:
    """One call over the real detector and recogniser, in a replay's time; everything after them is scripted."""
    rules = replace(RULES, max_call_s=1800.0, max_utterance_s=max_utterance_s)
    dialogue = Dialogue(ear.recognizer, ScriptedAnswers(_AnyQuestion()), rules=rules, limit_s=1500.0)
    dialogue.detector = ear.detector
    dialogue.run(CallerClip(sound))
    return dialogue


def _long(kind: str) -> Samples:
    """Ten minutes: nothing at all, room noise with events, or all kinds of music after one another."""
    if kind == "silence":
        return np.zeros(int(TEN_MINUTES * CALL_RATE_HZ), dtype=np.float32)
    wanted = ("music",) if kind == "music" else ("room", "hiss", "keyboard", "breath", "bumps")
    made = [clip.samples for clip in clips(20.0, seed=5) if clip.kind in wanted]
    whole = np.concatenate(made * (int(TEN_MINUTES / 20 / len(made)) + 1))
    return whole[: int(TEN_MINUTES * CALL_RATE_HZ)]


@pytest.mark.models
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["silence", "noise", "music"])
def test_ten_minutes_without_a_word_are_no_turn(ear: Ear, kind: str) -> None:
    """Through the whole session: nothing is answered, no fault is recorded, and the call ends as a call does. Asked to
    repeat once, and not a second time: then a person has it.
    """
    dialogue = _call(ear, _long(kind))
    (ended,) = dialogue.journal.of("call_ended")
    assert dialogue.journal.of("error") == [] and dialogue.answers.asked == []
    assert ended["turns"] <= 1 or ended["reason"] != "hung_up", ended
    heard = [event for event in dialogue.journal.of("transcript") if event["text"]]
    print(
        kind, "spans", len(dialogue.journal.of("transcript")), "heard", len(heard), "ended", ended["reason"]
    )
    assert heard == []


@pytest.mark.models
@pytest.mark.slow
def test_a_monologue_of_three_minutes_is_answered(ear: Ear) -> None:
    """Nobody pauses for three minutes: the turn is cut at its longest and ends in speech or with a person."""
    words = []
    for wav in ("demo", "plain", "refusal", "phone_line", "person", "must_handoff"):
        sound = read_wav(ROOT / "data" / "calls" / f"{wav}.wav").samples
        loud = np.flatnonzero(np.abs(sound) > 0.02)
        words.append(sound[loud[0] : loud[-1]])
    talk = np.concatenate(words)
    dialogue = _call(ear, np.tile(talk, int(180 * CALL_RATE_HZ / len(talk)) + 1)[: 180 * CALL_RATE_HZ])
    (ended,) = dialogue.journal.of("call_ended")
    assert dialogue.journal.of("error") == []
    assert dialogue.spoken() != [] or dialogue.sink.packets
    print(
        "monologue",
        ended["reason"],
        ended["turns"],
        [len(asked.question) for asked in dialogue.answers.asked],
    )
