// The conversation as its events tell it: turns, what was heard, each sentence and what became of it. Facts only; the
// views read them. Times `t` are seconds of the call; what they are on the page's own clock, `Story.offset_s` tells.

import { unmarked } from "./support.js";

/** One question and what came of it. `mode` is "voice" or "typed". */
function newTurn(number, mode) {
  return {
    id: `${mode}-${number}`,
    number,
    mode,
    heard: "",
    settled: "",
    final: mode === "typed",
    sentences: [],
    phrases: [],
    gate: null,
    outcome: null,
    reason: null,
    handoff: null,
    times: {},
    stages_ms: {},
  };
}

export class Story {
  constructor() {
    this.turns = [];
    this.typed = 0;
    this.call = 0; // which call of this page the turn numbers belong to
    this.offset_s = null;
    this.floor = "off";
    this.speechEnded = null;
  }

  get latest() {
    return this.turns.at(-1) ?? null;
  }

  /** What a question typed now may refer to: the last exchanges that were answered. */
  history(most = 6) {
    const answered = this.turns.filter((turn) => turn.outcome === "answered" && turn.heard);
    return answered.slice(-most).map((turn) => ({
      question: turn.heard.slice(0, 500),
      answer: answerOf(turn).slice(0, 2000),
    }));
  }

  begin() {
    this.call += 1;
    this.offset_s = null;
    this.speechEnded = null;
  }

  /** A turn of the call now on, made when it is first told of. */
  turn(number) {
    const id = `voice-${this.call}.${number}`;
    let found = this.turns.find((turn) => turn.id === id);
    if (!found) {
      found = { ...newTurn(number, "voice"), id };
      this.turns.push(found);
    }
    return found;
  }

  ask(question) {
    const turn = { ...newTurn(++this.typed, "typed"), heard: question };
    this.turns.push(turn);
    return turn;
  }

  /** Takes one event of the call, as docs/call.md tells them; `now_s` is the page's clock. Gives the turn it changed. */
  apply({ kind, t, turn, data = {} }, now_s) {
    if (typeof t === "number") this.offset_s = Math.min(this.offset_s ?? Infinity, now_s - t);
    const reader = READERS[kind];
    return reader ? reader(this, { t, turn, data }) : null;
  }

  /** What whoever takes over is given, as far as the page knows it. */
  packet(turn) {
    const withheld = turn.sentences.find((one) => one?.state === "withheld") ?? null;
    const history = this.history().map(({ question, answer }) => [question, answer]);
    const passages = turn.sentences.flatMap((one) => one?.evidence ?? []).map(({ id, text }) => [id, text]);
    return { question: turn.heard, withheld, history, detail: turn.gate?.reason ?? "", evidence: passages, added: [] };
  }

  /** The first sound of the reply was heard now. */
  sounded(now_s) {
    const turn = this.latest;
    if (!turn || turn.mode !== "voice" || this.offset_s === null || turn.times.sounded !== undefined) return null;
    if (!turn.final) return null;
    turn.times.sounded = now_s - this.offset_s;
    return turn;
  }

  /** Who holds the floor. While the agent speaks, the first sentence that has not been said is the one that sounds. */
  setFloor(floor) {
    this.floor = floor;
    const turn = this.latest;
    if (!turn) return null;
    for (const one of turn.sentences) if (one?.state === "sounding") one.state = "checked";
    const next = turn.sentences.find((one) => one?.state === "checked");
    if (next && (floor === "speaking" || floor === "paused")) next.state = "sounding";
    return turn;
  }
}

const READERS = {
  partial(story, { turn, data }) {
    const found = story.turn(turn);
    if (!found.final) Object.assign(found, { heard: data.text, settled: data.settled ?? "" });
    return found;
  },
  speech_ended(story, { t, data }) {
    story.speechEnded = { ended: data.ended_s ?? t, known: t };
    return null;
  },
  transcript(story, { t, turn, data }) {
    const found = story.turn(turn);
    if (data.dropped || !data.text) return found.final ? null : Object.assign(found, { heard: "", settled: "" });
    Object.assign(found, { heard: data.text, settled: data.text, final: true });
    const ended = story.speechEnded ?? { ended: data.end_s ?? t, known: t };
    Object.assign(found.times, ended, { heard: t, asr: data.seconds });
    return found;
  },
  gate(story, { t, turn, data }) {
    const found = story.turn(turn);
    found.gate = { outcome: data.outcome, reason: data.reason };
    found.times.gate = t;
    return found;
  },
  sentence(story, { t, turn, data }) {
    const found = story.turn(turn);
    const state = data.passed ? "checked" : "withheld";
    found.sentences[data.index] = { ...sentence(data), state };
    if (data.index === 0) Object.assign(found.times, { checked: t, check: data.ms / 1000 });
    return story.floor === "speaking" ? story.setFloor("speaking") : found;
  },
  spoken(story, { turn, data }) {
    const found = story.turn(turn);
    const said = data.source === "phrase" ? null : found.sentences[data.index];
    const greeting = turn === 0 && found.phrases.find((phrase) => phrase.text === data.text);
    if (said) said.state = data.complete ? "said" : "cut";
    else if (greeting) greeting.complete = data.complete;
    else found.phrases.push({ text: data.text, complete: data.complete });
    if (found.times.sounded === undefined && data.start_s >= (found.times.heard ?? 0)) found.times.sounded = data.start_s;
    if (story.floor === "speaking") story.setFloor("speaking");
    return found;
  },
  handoff(story, { turn, data }) {
    const found = story.turn(turn);
    found.handoff = { reason: data.reason, delivery: data.delivery, packet: packet(data.packet) ?? story.packet(found) };
    return found;
  },
  timing(story, { turn, data }) {
    const found = story.turn(turn);
    Object.assign(found.stages_ms, data.stages_ms);
    return found;
  },
  reply_ended(story, { turn, data }) {
    const found = story.turn(turn);
    found.outcome = data.outcome;
    found.reason = found.gate?.reason ?? null;
    for (const one of found.sentences) if (["checked", "sounding"].includes(one?.state)) one.state = "dropped";
    return found;
  },
};

function sentence(data) {
  const evidence = data.evidence ?? [];
  return { text: data.text, reason: data.reason ?? null, detail: data.detail ?? "", cited: data.cited ?? [], evidence };
}

const answerOf = (turn) => turn.sentences.filter((one) => one?.state === "said").map((one) => unmarked(one.text)).join("");

const packet = (told) => (told && typeof told === "object" ? told : null);

/** A checked sentence of a typed answer, while the rest is still on its way. */
export function typedSentence(turn, data) {
  turn.sentences[data.index] = { ...sentence({ ...data, text: data.marked }), state: "said" };
}

/** The whole of a typed answer. Unless it was answered, what was shown of it is taken back: half of one misleads. */
export function typedAnswer(turn, answer) {
  const { status, reason, evidence, citation_check: check, timings_ms: times } = answer;
  Object.assign(turn, { outcome: status, reason, stages_ms: times });
  const byId = new Map(evidence.map((passage) => [passage.id, passage]));
  turn.sentences = check.sentences.map((told) => ({
    ...sentence({ ...told, evidence: told.cited.map((id) => byId.get(id)).filter(Boolean) }),
    state: !told.passed ? "withheld" : status === "answered" ? "said" : "dropped",
  }));
  if (status !== "answered") turn.phrases = [{ text: answer.answer, complete: true }];
}
