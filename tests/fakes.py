"""Scripted stand-ins for the models of a call. Sound is a constant level, and the level is the script.

A clip of level n/10 is "heard" as line n of the recogniser's script; a synthesised character lasts 50 ms at 0.5.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

import numpy as np

from audio.segments import SegmentRules
from audio.types import CALL_RATE_HZ, AudioFrame, DropReason, Recognizer, Samples, Synthesizer, Transcript
from retrieval.types import (
    Evidence,
    Found,
    Gate,
    GateReason,
    Outcome,
    Passage,
    PassageId,
    Query,
    Verdict,
    VerdictReason,
)
from voice_agent import phrases
from voice_agent.call.clock import ReplayClock, WallClock
from voice_agent.call.line import Line, Records
from voice_agent.call.listen import VoiceActivity
from voice_agent.call.parts import Caller, Parts, Workers
from voice_agent.call.recorded import Clip, RecordedCaller
from voice_agent.call.session import Session
from voice_agent.call.threads import Worker
from voice_agent.floor.duties import Duties
from voice_agent.floor.echo import EchoRules
from voice_agent.floor.state import Rules
from voice_agent.record.journal import MemoryJournal
from voice_agent.reply.answer import Asked, Checked, Looked, Staged
from voice_agent.reply.generator import Tell, silent
from voice_agent.reply.handoff import Delivery, HandoffPacket

RULES = Rules(
    end_pause_s=0.8,
    rejoin_voice_s=0.2,
    barge_in_pause_s=0.3,
    barge_in_cut_s=1.5,
    max_utterance_s=30.0,
    reply_limit_s=20.0,
    max_call_s=120.0,
)
LIVELY = replace(RULES, early_asr=True, speculation=True, partial_every_s=0.6)
"""With everything begun ahead, as it is shipped."""

BUDGETS = {"asr": 0.4, "search": 0.1, "generate": 0.1, "check": 0.02, "speech": 0.3}
BUDGETS |= {"partial": 0.1, "0.9 s": 0.9, "2 s": 2.0, "8 s": 8.0}


def voice(line: int, seconds: float = 1.0) -> Samples:
    """Sound that the scripted recogniser hears as its line `line`."""
    return np.full(int(seconds * CALL_RATE_HZ), line / 10, dtype=np.float32)


def pause(seconds: float) -> Samples:
    return np.zeros(int(seconds * CALL_RATE_HZ), dtype=np.float32)


class LevelDetector:
    """Voiced is whatever is not silent."""

    def is_voiced(self, frame: AudioFrame) -> bool:
        return bool(np.abs(frame.samples).mean() > 0.05)


@dataclass
class ScriptedRecognizer:
    """Hears the loudest line of its script. A line that is an exception is raised; an empty one is dropped.

    Lines of `unsure` are heard with little confidence.
    """

    script: Mapping[int, str | Exception]
    unsure: Sequence[int] = ()
    dropped: DropReason = "no_speech"
    spans: list[float] = field(default_factory=list)

    def transcribe(self, samples: Samples, voiced_s: float) -> Transcript:
        self.spans.append(len(samples) / CALL_RATE_HZ)
        line = round(float(np.abs(samples).max()) * 10)
        text = self.script[line]
        if isinstance(text, Exception):
            raise text
        confidence = 0.5 if line in self.unsure else 0.9
        return Transcript(text, text, confidence, voiced_s, 0.0, None if text else self.dropped)


class ScriptedSynthesizer:
    """50 ms a character at level 0.5; a text in `fails` raises."""

    engine = "scripted"
    voice = "flat"

    def __init__(self, fails: Sequence[str] = ()) -> None:
        self.fails = fails
        self.asked: list[str] = []

    def synthesize(self, text: str) -> Iterator[Samples]:
        self.asked.append(text)
        if text in self.fails:
            raise RuntimeError("no voice today")
        yield np.full(int(len(text) * 0.05 * CALL_RATE_HZ), 0.5, dtype=np.float32)


@dataclass(frozen=True)
class Scripted:
    """How one question goes: the gate's outcome and the sentences, each with the reason it may not be spoken.

    `thinks` names stages of BUDGETS that pass before the first sentence; `repeats` gives every sentence out twice.
    """

    outcome: Outcome = Outcome.ANSWER
    reason: GateReason | None = None
    sentences: tuple[tuple[str, VerdictReason | None], ...] = ()
    stalls: bool = False
    thinks: tuple[str, ...] = ()
    repeats: bool = False


PASSAGE = Passage(PassageId("p1"), "退款三天到账。", source="手册")


class ScriptedAnswers:
    """Looks the question up in the script. Remembers what it was asked, with the history."""

    def __init__(self, script: Mapping[str, Scripted]) -> None:
        self.script = script
        self.asked: list[Asked] = []
        self.closed = 0

    def begin(self, asked: Asked, job: Staged, tell: Tell = silent) -> ScriptedWalk:
        self.asked.append(asked)
        return ScriptedWalk(self, self.script[asked.question], asked, job)


class ScriptedWalk:
    def __init__(self, owner: ScriptedAnswers, plan: Scripted, asked: Asked, job: Staged) -> None:
        self._owner, self._plan, self._asked, self._job = owner, plan, asked, job
        self._left = sorted(list(enumerate(plan.sentences)) * (2 if plan.repeats else 1), key=lambda s: s[0])
        self._thinks = list(plan.thinks)

    async def look(self) -> Looked:
        async with self._job.stage("search"):
            pass
        evidence = (Evidence(PASSAGE),)
        gate = Gate(self._plan.outcome, self._plan.reason, {}, {})
        found = Found(Query(self._asked.question, self._asked.question), {}, [], evidence)
        return Looked(self._asked.question, (), found, gate, {"S1": evidence[0]}, 1.0)

    async def next_sentence(self) -> Checked | None:
        if self._plan.stalls:
            await asyncio.Event().wait()
        while self._thinks:
            async with self._job.stage(self._thinks.pop(0)):
                pass
        if not self._left:
            return None
        index, (text, reason) = self._left.pop(0)
        async with self._job.stage("check"):
            pass
        verdict = Verdict(reason is None, reason, (PASSAGE.id,))
        return Checked(index, text, verdict, (("S1", PASSAGE),), 0.5)

    async def aclose(self) -> None:
        self._owner.closed += 1


@dataclass
class MemorySink:
    """Keeps packets; `fails` raises instead, `spools` says that nobody has taken them yet."""

    packets: list[HandoffPacket] = field(default_factory=list)
    fails: bool = False
    spools: bool = False

    def deliver(self, packet: HandoffPacket) -> Delivery:
        if self.fails:
            raise OSError("nobody there")
        self.packets.append(packet)
        return Delivery(not self.spools, "memory", "refused" if self.spools else "")


@dataclass
class EchoingLine:
    """A loudspeaker beside the caller's microphone, and nothing that cancels it. Louder of the two is what is heard."""

    caller: Caller
    agent_side: list[Samples]
    share: float
    late: int = 5

    async def read(self) -> AudioFrame | None:
        frame = await self.caller.read()
        if frame is None or len(self.agent_side) < self.late:
            return frame
        echo = self.agent_side[-self.late] * self.share
        return AudioFrame(frame.start, np.where(frame.samples != 0, frame.samples, echo))

    @property
    def exhausted(self) -> bool:
        return self.caller.exhausted

    def agent_started(self, at_s: float) -> None:
        self.caller.agent_started(at_s)

    def agent_finished(self, at_s: float) -> None:
        self.caller.agent_finished(at_s)


@dataclass
class Dialogue:
    """A call over fakes in a replay's time: what it was made of and what came out.

    `stays_s` is how long the caller stays on the line in silence; `echoed` is the share of the agent's
    sound that comes back on their side, a tenth of a second late.
    """

    recognizer: Recognizer
    answers: ScriptedAnswers
    synthesizer: Synthesizer = field(default_factory=ScriptedSynthesizer)
    sink: MemorySink = field(default_factory=MemorySink)
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    rules: Rules = RULES
    speed: float = 0.0
    phrase_s: float = 0.5
    duties: Duties = Duties()
    echo: EchoRules = EchoRules()
    stays_s: float = 0.0
    echoed: float = 0.0
    detector: Callable[[], VoiceActivity] = LevelDetector
    foresee_chars: int = 0
    limit_s: float = 30.0
    spares: tuple[Synthesizer, ...] = ()
    caller_side: list[Samples] = field(default_factory=list)
    agent_side: list[Samples] = field(default_factory=list)

    def run(self, *clips: Clip) -> Session:
        """Plays the clips to the end of the call."""
        return asyncio.run(self._run(clips))

    async def _run(self, clips: Sequence[Clip]) -> Session:
        workers = Workers(Worker("hearing"), Worker("speaking"), Worker("delivering"))
        sounds = {
            phrase: np.full(int(self.phrase_s * CALL_RATE_HZ), 0.25, dtype=np.float32)
            for phrase in phrases.ALL
        }
        parts = Parts(
            recognizer=self.recognizer,
            answerer=self.answers,
            synthesizer=self.synthesizer,
            phrases=sounds,
            workers=workers,
            rules=self.rules,
            segment_rules=SegmentRules(),
            preroll_s=0.3,
            detector=self.detector,
            echo=self.echo,
            foresee_chars=self.foresee_chars,
            spares=self.spares,
        )
        caller: Caller = RecordedCaller(clips, self.stays_s)
        if self.echoed:
            caller = EchoingLine(caller, self.agent_side, self.echoed)
        line = Line(caller, WallClock(self.speed) if self.speed else ReplayClock(BUDGETS), self._keep)
        records = Records("c1", date(2026, 11, 30), self.journal, self.sink)
        session = Session(parts, line, records, self.duties)
        try:
            async with asyncio.timeout(self.limit_s):
                await session.run()
        finally:
            for worker in (workers.hearing, workers.speaking, workers.delivering):
                worker.close()
        await asyncio.sleep(0.01)  # the loop itself closes the generators that libraries left in the middle
        assert len(asyncio.all_tasks()) == 1, "a task outlived its call"
        return session

    def _keep(self, caller: Samples, agent: Samples) -> None:
        self.caller_side.append(caller)
        self.agent_side.append(agent)

    def spoken(self) -> list[str]:
        """The texts that were played, in order, those that were cut included."""
        return [str(event["text"]) for event in self.journal.of("spoken")]

    def heard_of_agent(self) -> Samples:
        """The agent's side of the line with silence taken out."""
        side = np.concatenate(self.agent_side)
        return side[side != 0]
