// One call over a WebSocket, as docs/call.md tells it: opened, kept over short disconnects, ended. Knows nothing of
// what is shown.

import { refusal } from "./ask.js";
import { key } from "./key.js";

const PROTOCOL = "voice-agent.v1";
const OPEN_MS = 8000; // for one attempt to connect
const LAST_WORDS_MS = 3000; // from hanging up to giving the service up
const RESUME_FOR_MS = 15_000; // the service keeps a call for ten seconds by default and says so when it is gone
const PAUSES_MS = [0, 300, 600, 1000, 2000];
const STALLED_BYTES = 2 * 16_000 * 2; // two seconds of sound that the network does not take: the line is dead

export const RATE = 16_000;

/** Not closed by 1000 or 1001, which would hang up: the line broke, and the call is to go on. */
const BROKEN = 4000;

export class Call {
  /**
   * `told` takes each message, `sound` each stretch of the agent's voice, `lines` how the line is: "open", "resumed",
   * "broken"; `ended` why it all ended: `kind` of a problem, or null for an ordinary end.
   */
  constructor({ told, sound, lines, ended }) {
    Object.assign(this, { told, sound, lines, onended: ended });
    this.received = 0;
    this.token = null;
    this.over = false;
    this.brokenAt = null;
    this.attempt = 0;
    this.offline = () => this.socket?.close(BROKEN);
  }

  /** Connects and begins. */
  begin() {
    addEventListener("offline", this.offline);
    this.connect();
  }

  /** A frame of the microphone. What cannot be sent now is lost, as on any line. */
  send(frame) {
    if (this.socket?.readyState !== WebSocket.OPEN || !this.live) return;
    if (this.socket.bufferedAmount > STALLED_BYTES) this.socket.close(BROKEN);
    else this.socket.send(frame);
  }

  /** How far in the sound of the call the caller has heard. */
  played(samples) {
    this.heard = samples;
    this.say({ type: "played", samples });
  }

  hangUp() {
    if (this.over) return;
    this.leaving = true;
    this.say({ type: "hang_up" });
    if (this.live) setTimeout(() => this.end(null), LAST_WORDS_MS);
    else this.end(null);
  }

  say(message) {
    if (this.socket?.readyState === WebSocket.OPEN && this.live) this.socket.send(JSON.stringify(message));
  }

  connect() {
    const offered = [PROTOCOL];
    if (key()) offered.push(`bearer.${key()}`);
    if (this.token) offered.push(`resume.${this.token}`);
    const url = new URL("/call", location.href);
    url.protocol = url.protocol.replace("http", "ws");
    this.live = false;
    const socket = new WebSocket(url, offered);
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    const patience = setTimeout(() => socket.close(BROKEN), OPEN_MS);
    socket.onopen = () => socket.send(JSON.stringify(this.first()));
    socket.onmessage = ({ data }) => socket === this.socket && this.take(data, patience);
    socket.onclose = ({ code }) => {
      clearTimeout(patience);
      if (socket === this.socket && !this.over) this.closed(code);
    };
  }

  first() {
    if (this.token) return { type: "resume", received: this.received };
    return { type: "start", codec: "pcm16", rate: RATE, record: false, language: "zh" };
  }

  take(data, patience) {
    if (typeof data !== "string") {
      this.received += 1;
      this.sound(data);
      return;
    }
    const message = JSON.parse(data);
    if (message.type !== "resumed") this.received += 1;
    if (message.type === "ready" || message.type === "resumed") {
      clearTimeout(patience);
      this.opened(message);
    }
    if (message.type === "error") this.problem = String(message.kind ?? "internal");
    if (message.type === "ended") this.finished = true;
    this.told(message);
  }

  opened({ type, resume }) {
    this.live = true;
    this.token = resume ?? this.token;
    this.brokenAt = null;
    this.attempt = 0;
    if (this.heard) this.played(this.heard);
    this.lines(type === "resumed" ? "resumed" : "open");
  }

  async closed(code) {
    this.live = false;
    if (this.finished || this.leaving || code === 1000) return this.end(null);
    if (this.problem) return this.end(this.problem);
    if (code === 1012) return this.end("draining");
    if (!this.token) return this.end(await whyRefused());
    this.brokenAt ??= performance.now();
    if (performance.now() - this.brokenAt > RESUME_FOR_MS) return this.end("lost");
    this.lines("broken");
    setTimeout(() => !this.over && this.connect(), PAUSES_MS[Math.min(this.attempt++, PAUSES_MS.length - 1)]);
  }

  end(why) {
    if (this.over) return;
    this.over = true;
    removeEventListener("offline", this.offline);
    this.socket?.close(1000);
    this.onended(why);
  }
}

/** A browser is told nothing of a refused connection: the same refusals are asked for by ordinary requests. */
async function whyRefused() {
  try {
    const headers = key() ? { Authorization: `Bearer ${key()}` } : {};
    const response = await fetch("/call", { headers, cache: "no-store" });
    if ([401, 403, 429].includes(response.status)) return (await refusal(response)).kind;
    const ready = await (await fetch("/ready", { cache: "no-store" })).json();
    if (ready.draining) return "draining";
    if (response.status === 404) return "no-calls";
    return ready.calls_free === 0 ? "calls-full" : "unavailable";
  } catch {
    return "unreachable";
  }
}
