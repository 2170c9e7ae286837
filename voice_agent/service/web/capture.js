// Runs on the sound thread: the microphone's samples at the device's rate become frames of 20 ms, 16-bit, at the
// call's rate. Silence and an unplugged device are frames too, because the microphone is the clock of the call.

const CROSSINGS = 12; // of the low-pass kernel, each side: 60 dB down where the rates fold
const PHASES = 64;
const PASSED = 0.92; // of the lower rate's half

class Capture extends AudioWorkletProcessor {
  constructor(options) {
    super();
    const { rate } = options.processorOptions;
    this.step = sampleRate / rate;
    this.kernel = new Kernel(Math.min(1, rate / sampleRate) * PASSED);
    this.past = new Float32Array(this.kernel.taps + 4 * 128);
    this.held = this.kernel.taps;
    this.at = this.kernel.half;
    this.frame = new Int16Array(rate / 50);
    this.filled = 0;
    this.power = 0;
  }

  process(inputs) {
    const block = inputs[0]?.[0] ?? new Float32Array(128);
    this.past.set(block, this.held);
    this.held += block.length;
    while (this.at + this.kernel.half < this.held) {
      this.keep(this.kernel.apply(this.past, this.at));
      this.at += this.step;
    }
    const gone = Math.max(0, Math.floor(this.at) - this.kernel.half);
    this.past.copyWithin(0, gone, this.held);
    this.held -= gone;
    this.at -= gone;
    return true;
  }

  keep(sample) {
    const clipped = Math.max(-1, Math.min(1, sample));
    this.power += clipped * clipped;
    this.frame[this.filled++] = Math.round(clipped * 32767);
    if (this.filled < this.frame.length) return;
    const frame = this.frame.slice();
    const level = Math.sqrt(this.power / this.filled);
    this.port.postMessage({ frame: frame.buffer, level }, [frame.buffer]);
    this.filled = 0;
    this.power = 0;
  }
}

class Kernel {
  /** A windowed sinc that passes frequencies up to `share` of the input's half rate, for PHASES places between samples. */
  constructor(share) {
    this.half = Math.ceil(CROSSINGS / share);
    this.taps = 2 * this.half;
    this.rows = Array.from({ length: PHASES + 1 }, (_, phase) => this.row(share, phase / PHASES));
  }

  row(share, between) {
    const row = Float32Array.from({ length: this.taps }, (_, tap) => {
      const x = tap - this.half + 1 - between;
      const window = Math.cos((Math.PI / 2) * Math.min(1, Math.abs(x) / this.half)) ** 2;
      return (x === 0 ? 1 : Math.sin(Math.PI * share * x) / (Math.PI * share * x)) * window;
    });
    const sum = row.reduce((total, weight) => total + weight, 0);
    return row.map((weight) => weight / sum);
  }

  apply(samples, at) {
    const whole = Math.floor(at);
    const row = this.rows[Math.round((at - whole) * PHASES)];
    const first = whole - this.half + 1;
    let sum = 0;
    for (let tap = 0; tap < this.taps; tap++) sum += row[tap] * samples[first + tap];
    return sum;
  }
}

registerProcessor("capture", Capture);
