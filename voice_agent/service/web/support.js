// Which stretch of a passage carries a sentence: that of its sentences which shares the most pairs of characters with
// it, the earlier on a tie, as in the agent's report. Pure.

const MARKS = /[\[［【(（]\s*[SsＳｓ][\d０-９]+(?:\s*[-–,、，]\s*[SsＳｓ]?[\d０-９]+)*\s*[\]］】)）]/gu;
const SENTENCE = /[^。！？!?；;\n]*[。！？!?；;\n]+["”’』」）)]*|[^。！？!?；;\n]+$/gu;

/** The sentence without its citation marks. */
export const unmarked = (text) => String(text ?? "").replace(MARKS, "").trim();

/** From where to where the passage carries what was said: the stretch the service names, else the likeliest. */
export function stretch(said, passage) {
  const from = passage.span ? passage.text.indexOf(passage.span) : -1;
  return from < 0 ? supporting(said, passage.text) : [from, from + passage.span.length];
}

/** From where to where the passage speaks most of what was said; [0, 0] where it shares nothing. */
export function supporting(said, passage) {
  const asked = pairs(unmarked(said));
  let best = [0, 0];
  let most = 0;
  for (const found of String(passage ?? "").matchAll(SENTENCE)) {
    const shared = [...pairs(found[0])].filter((pair) => asked.has(pair)).length;
    if (shared > most) {
      most = shared;
      best = [found.index, found.index + found[0].trimEnd().length];
    }
  }
  return best;
}

/** Stretches in order, those that overlap joined. */
export function joined(stretches) {
  const found = [];
  for (const [from, to] of [...stretches].sort((a, b) => a[0] - b[0])) {
    if (to <= from) continue;
    const last = found.at(-1);
    if (last && from < last[1]) last[1] = Math.max(last[1], to);
    else found.push([from, to]);
  }
  return found;
}

function pairs(text) {
  const bare = text.normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  return new Set(Array.from({ length: Math.max(bare.length - 1, 0) }, (_, at) => bare.slice(at, at + 2)));
}
