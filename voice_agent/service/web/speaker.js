// The agent's voice: plays what comes, and tells how many samples of it have been heard.

export class Speaker {
  /** `onplayed` takes the samples heard so far, `onsounding` whether there is sound now. */
  constructor({ onplayed, onsounding }) {
    Object.assign(this, { onplayed, onsounding });
  }

  /** Made within the caller's own click, or the browser would not let it sound. */
  async open(rate) {
    this.context = new AudioContext({ sampleRate: rate, latencyHint: "interactive" });
    await this.context.audioWorklet.addModule("/web/playback.js");
    await this.context.resume();
    this.node = new AudioWorkletNode(this.context, "playback", { numberOfInputs: 0, outputChannelCount: [1] });
    this.node.port.onmessage = ({ data }) => this.heard(data);
    this.node.connect(this.context.destination);
  }

  /** Samples to be played after those that came before: an ArrayBuffer of 16 bits each. */
  push(pcm) {
    this.node?.port.postMessage({ pcm }, [pcm]);
  }

  /** Drops all that has not sounded yet; what comes next is at this sample of the call. */
  flush(samples) {
    this.node?.port.postMessage({ flush: samples });
  }

  close() {
    if (this.context && this.context.state !== "closed") this.context.close();
    this.context = this.node = null;
  }

  // What leaves the sound thread is audible only after the device's own delay.
  heard(news) {
    const delay_ms = 1000 * (this.context?.outputLatency || this.context?.baseLatency || 0);
    setTimeout(() => {
      if (!this.context) return;
      this.onplayed(news.played);
      if (news.sounding !== undefined) this.onsounding(news.sounding);
    }, delay_ms);
  }
}
