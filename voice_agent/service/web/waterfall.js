// A turn's time: from the end of the caller's speech to the first sound of the answer, stage by stage.

import { make } from "./dom.js";
import { say } from "./words.js";

/**
 * The stages of a turn, in order, in ms from its zero: [name, from, to, took]. `took` is what the stage itself needed
 * where that is known: what was done ahead, while the caller was still being waited for, needs time but costs none.
 */
export function stages(turn) {
  return (turn.mode === "voice" ? spokenStages : typedStages)(turn).filter(([, from, to]) => to >= from);
}

function spokenStages({ times, stages_ms }) {
  if (times.ended === undefined) return [];
  const at = (t) => Math.round(1000 * (t - times.ended));
  const found = [["pause", 0, at(times.known), null]];
  const asr_ms = Math.round(1000 * (times.asr ?? 0));
  found.push(["asr", Math.max(0, at(times.heard) - asr_ms), at(times.heard), stages_ms.asr ?? asr_ms]);
  if (times.gate !== undefined) {
    found.push(["search", at(times.heard), at(times.gate), stages_ms.search ?? null]);
    found.push(["gate", at(times.gate), at(times.gate), null]);
  }
  if (times.checked !== undefined) {
    const check_ms = Math.round(1000 * (times.check ?? 0));
    found.push(["check", Math.max(0, at(times.checked) - check_ms), at(times.checked), check_ms]);
  }
  if (times.sounded !== undefined) {
    const ready = times.checked ?? times.gate ?? times.heard;
    found.push(["voice", at(ready), at(times.sounded), null], ["sound", at(times.sounded), at(times.sounded), null]);
  }
  return found;
}

function typedStages({ stages_ms }) {
  if (stages_ms.total === undefined) return [];
  const search = stages_ms.look ?? stages_ms.search ?? 0;
  const check = stages_ms.check ?? 0;
  const total = stages_ms.total;
  const found = [["search", 0, search, stages_ms.search ?? search], ["gate", search, search, null]];
  if (check) found.push(["check", Math.max(search, total - check), total, check]);
  return [...found, ["shown", total, total, null]];
}

/** Shows the stages of a turn in `place`. */
export function showWaterfall(place, turn) {
  const found = turn ? stages(turn) : [];
  if (!found.length) {
    place.replaceChildren(make("p", { class: "empty", text: say("waterfall_empty") }));
    return;
  }
  const end = Math.max(40, ...found.map(([, , to]) => to)) * 1.02;
  const zero = make("p", { class: "zero" }, make("span", { text: say(`zero_${turn.mode}`) }), make("span", { text: `${seconds(end)}` }));
  place.replaceChildren(make("ol", { class: "fall" }, ...found.map((stage) => row(stage, end, turn))), zero);
}

function row([name, from, to, took], end, turn) {
  const moment = from === to && took === null;
  const bar = make("i", { class: moment ? "moment" : "bar" });
  bar.style.left = `${(100 * from) / end}%`;
  if (!moment) bar.style.width = `${(100 * (to - from)) / end}%`;
  const value = name === "gate" && turn.gate ? say(`gate_${turn.gate.outcome}`) : moment ? seconds(to) : ms(took ?? to - from);
  const ahead = to === from && took !== null && took > 0;
  return make(
    "li",
    { class: `stage ${name}`, title: say(`stage_${name}_why`) },
    make("span", { class: "name", text: say(`stage_${name}`) }),
    make("span", { class: "track", "aria-hidden": "true" }, bar),
    make("b", { text: ahead ? `${value} ${say("ahead")}` : value }),
  );
}

const ms = (value) => `${value < 10 ? value.toFixed(1).replace(/\.0$/, "") : Math.round(value)} ms`;
const seconds = (value) => (value < 1000 ? ms(value) : `${(value / 1000).toFixed(2)} s`);
