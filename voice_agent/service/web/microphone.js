// The caller's microphone: frames of 20 ms, 16-bit, mono, at the rate of the call.

const WANTED = { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 };

const FAULTS = {
  NotAllowedError: "mic_denied",
  SecurityError: "mic_denied",
  NotFoundError: "mic_none",
  OverconstrainedError: "mic_none",
  NotReadableError: "mic_busy",
  AbortError: "mic_busy",
};

/** Why there is no microphone: `kind` is a word of the page. */
export class MicrophoneError extends Error {
  constructor(kind) {
    super(kind);
    this.kind = kind;
  }
}

export class Microphone {
  /** `onframe` takes each frame's bytes, `onlevel` its loudness from 0 to 1, `onlost` that the device has gone. */
  constructor({ onframe, onlevel, onlost }) {
    Object.assign(this, { onframe, onlevel, onlost });
  }

  /** Asks for the microphone and begins. Throws MicrophoneError. */
  async open(rate) {
    if (!navigator.mediaDevices?.getUserMedia) throw new MicrophoneError("mic_insecure");
    try {
      this.stream = await navigator.mediaDevices.getUserMedia({ audio: WANTED });
    } catch (fault) {
      throw new MicrophoneError(FAULTS[fault.name] ?? "mic_none");
    }
    this.stream.getAudioTracks()[0].onended = () => this.onlost();
    this.context = new AudioContext({ latencyHint: "interactive" });
    await this.context.audioWorklet.addModule("/web/capture.js");
    await this.context.resume();
    const node = new AudioWorkletNode(this.context, "capture", {
      channelCount: 1,
      channelCountMode: "explicit",
      numberOfOutputs: 0,
      processorOptions: { rate },
    });
    node.port.onmessage = ({ data }) => {
      this.onframe(data.frame);
      this.onlevel(data.level);
    };
    this.context.createMediaStreamSource(this.stream).connect(node);
  }

  /** Silence is sent instead of sound; the call's clock goes on. */
  mute(muted) {
    for (const track of this.stream?.getAudioTracks() ?? []) track.enabled = !muted;
  }

  close() {
    for (const track of this.stream?.getTracks() ?? []) {
      track.onended = null;
      track.stop();
    }
    if (this.context && this.context.state !== "closed") this.context.close();
    this.stream = this.context = null;
  }
}
