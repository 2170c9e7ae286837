// The voice side of the page: microphone, call and speaker, from the caller's click to the last word, and the button
// and the words that tell where it stands.

import { Call, RATE } from "./call.js";
import { one, write } from "./dom.js";
import { Microphone, MicrophoneError } from "./microphone.js";
import { Speaker } from "./speaker.js";
import { unmarked } from "./support.js";
import { say } from "./words.js";

const LAST_WORDS_MS = 15_000; // at most, for what was sent to be played after the call has ended

const now_s = () => performance.now() / 1000;

export class Line {
  /** `changed` takes a turn that is to be shown anew, `noticed` a trouble, `refused` one that a key may mend. */
  constructor({ story, changed, noticed, refused }) {
    Object.assign(this, { story, changed, noticed, refused });
    this.state = "off";
    this.level = 0;
    this.button = one("call");
    this.button.addEventListener("click", () => (this.call ? this.call.hangUp() : this.begin()));
    one("mute").addEventListener("click", () => this.setMuted(!this.muted));
    addEventListener("pagehide", () => this.call?.hangUp());
  }

  async begin() {
    if (this.opening) return;
    this.opening = true;
    this.noticed(null);
    this.setState("connecting");
    try {
      await this.open();
    } catch (fault) {
      this.close();
      this.setState("off");
      this.noticed(fault instanceof MicrophoneError ? fault.kind : "internal");
      if (!(fault instanceof MicrophoneError)) throw fault;
    } finally {
      this.opening = false;
    }
  }

  async open() {
    this.speaker = new Speaker({
      onplayed: (samples) => this.call?.played(samples),
      onsounding: (sounding) => this.sounding(sounding),
    });
    this.microphone = new Microphone({
      onframe: (frame) => this.call?.send(frame),
      onlevel: (level) => this.showLevel(level),
      onlost: () => this.noticed("mic_lost"),
    });
    await this.speaker.open(RATE);
    await this.microphone.open(RATE);
    this.story.begin();
    this.setMuted(false);
    this.call = new Call({
      told: (message) => this.told(message),
      sound: (pcm) => this.speaker?.push(pcm),
      lines: (how) => this.lined(how),
      ended: (why) => this.ended(why),
    });
    this.call.begin();
  }

  told(message) {
    if (message.type === "ready") this.greeted(message);
    else if (message.type === "state") this.floor(message.state);
    else if (message.type === "event") this.event(message);
    else if (message.type === "flush") this.speaker?.flush(message.samples);
  }

  greeted({ greeting }) {
    if (!greeting) return;
    const turn = this.story.turn(0);
    turn.phrases.push({ text: greeting, complete: true });
    this.changed(turn);
  }

  floor(state) {
    this.setState(state);
    this.changed(this.story.setFloor(state));
    this.showState();
    if (state === "handing_off") this.tell("told_handoff");
  }

  event(event) {
    const turn = this.story.apply(event, now_s());
    if (turn) this.changed(turn);
    if (event.kind === "partial" || event.kind === "transcript") this.words = event.data.text ?? "";
    this.showState();
  }

  sounding(sounding) {
    this.isSounding = sounding;
    if (sounding) this.changed(this.story.sounded(now_s()));
    else if (this.closing) this.close();
  }

  lined(how) {
    if (how === "broken") this.setState("reconnecting");
    else this.tell(how === "resumed" ? "told_resumed" : "told_connected");
    if (how === "resumed" && this.state === "reconnecting") this.setState(this.before ?? "listening");
  }

  /** The call has ended; what was sent is still played. */
  ended(why) {
    this.call = null;
    this.microphone?.close();
    this.showLevel(0);
    this.setState("ended");
    this.changed(this.story.setFloor("ended"));
    this.tell("told_ended");
    if (why) this.refused(why);
    this.closing = true;
    if (!this.isSounding || why) this.close();
    else setTimeout(() => this.closing && this.close(), LAST_WORDS_MS);
  }

  close() {
    this.closing = false;
    this.isSounding = false;
    this.speaker?.close();
    this.microphone?.close();
    this.speaker = this.microphone = null;
  }

  setMuted(muted) {
    this.muted = muted;
    this.microphone?.mute(muted);
    one("mute").setAttribute("aria-pressed", String(muted));
    one("mute").dataset.label = muted ? "unmute" : "mute";
    this.showState();
  }

  setState(state) {
    if (this.state !== "reconnecting" && state === "reconnecting") this.before = this.state;
    this.state = state;
    if (state === "listening") this.words = "";
    this.showState();
  }

  // Voice fills the ring at once and leaves it slowly, as on any meter.
  showLevel(level) {
    const loud = Math.min(1, Math.sqrt(level * 6));
    this.level = Math.max(loud, this.level * 0.86);
    this.button.style.setProperty("--level", this.level.toFixed(3));
  }

  showState() {
    const on = !["off", "ended"].includes(this.state);
    document.body.dataset.state = this.state;
    one("turns").setAttribute("aria-live", on ? "off" : "polite");
    this.button.dataset.label = on ? "call_end" : "call_begin";
    this.button.setAttribute("aria-label", say(this.button.dataset.label));
    this.button.title = say(this.button.dataset.label);
    const mute = one("mute");
    mute.hidden = !on;
    mute.setAttribute("aria-label", say(mute.dataset.label));
    mute.title = say(mute.dataset.label);
    write(one("state"), say(`state_${this.state}`));
    const hint = this.muted && on ? "hint_muted" : this.state === "listening" ? "hint_listening" : on ? "" : "hint_off";
    write(one("words"), (on && !this.muted && this.saidNow()) || (hint && say(hint)));
  }

  /** The words of whoever speaks now. */
  saidNow() {
    if (this.state !== "speaking") return this.words;
    return unmarked(this.story.latest?.sentences.find((one) => one?.state === "sounding")?.text);
  }

  // Said to a screen reader. The sentences of a call are not: they are spoken already, and the microphone would hear
  // both.
  tell(name) {
    write(one("told"), say(name));
  }
}
