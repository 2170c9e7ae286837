// Runs on the sound thread: plays 16-bit samples in order from a small buffer, tells how far in the call's sound it has
// come, and drops the rest on demand. Only samples that came are counted, never the silence between them.

const LEAD_S = 0.08; // gathered before a stretch begins, or waited for: what the network may come late
const REPORT_S = 0.1;
const FADE = 96; // samples in which a flushed sentence sinks instead of clicking
const MOST_S = 120; // more than any answer lasts; beyond it a server is broken

class Playback extends AudioWorkletProcessor {
  constructor() {
    super();
    this.queue = [];
    this.buffered = 0;
    this.played = 0;
    this.told = 0;
    this.waited = 0;
    this.sounding = false;
    this.port.onmessage = ({ data }) => (data.pcm ? this.add(new Int16Array(data.pcm)) : this.flush(data.flush));
  }

  add(samples) {
    if (this.buffered + samples.length > MOST_S * sampleRate) return;
    this.queue.push(Float32Array.from(samples, (sample) => sample / 32768));
    this.buffered += samples.length;
  }

  flush(samples) {
    const last = new Float32Array(Math.min(FADE, this.sounding ? this.buffered : 0));
    this.take(last);
    this.queue = last.length ? [last.map((sample, at) => sample * (1 - at / last.length))] : [];
    this.buffered = last.length;
    this.played = samples - last.length; // they are counted when they sound
    this.tell({});
  }

  process(_inputs, outputs) {
    const out = outputs[0][0];
    if (!this.sounding && !this.begins(out.length)) return true;
    if (this.take(out) < out.length) this.turn(false);
    else if (this.played - this.told >= REPORT_S * sampleRate) this.tell({});
    return true;
  }

  begins(length) {
    if (!this.buffered) return false;
    this.waited += length;
    if (Math.max(this.buffered, this.waited) < LEAD_S * sampleRate) return false;
    this.turn(true);
    return true;
  }

  turn(sounding) {
    this.sounding = sounding;
    this.waited = 0;
    this.tell({ sounding });
  }

  tell(more) {
    this.told = this.played;
    this.port.postMessage({ played: this.played, ...more });
  }

  take(out) {
    let filled = 0;
    while (filled < out.length && this.queue.length) {
      const head = this.queue[0];
      const part = head.subarray(0, out.length - filled);
      out.set(part, filled);
      filled += part.length;
      if (part.length === head.length) this.queue.shift();
      else this.queue[0] = head.subarray(part.length);
    }
    this.buffered -= filled;
    this.played += filled;
    return filled;
  }
}

registerProcessor("playback", Playback);
