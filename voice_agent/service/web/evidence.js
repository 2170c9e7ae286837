// The passages an answer rests on, with the stretches marked that carry what was said.

import { make } from "./dom.js";
import { joined, stretch } from "./support.js";
import { say } from "./words.js";

/** Shows what the sentences of a turn rest on in `place`; the one that is being said has its stretch marked stronger. */
export function showEvidence(place, turn) {
  const found = new Map();
  for (const sentence of (turn?.sentences ?? []).filter(Boolean)) {
    for (const passage of cited(sentence)) {
      found.set(passage.id, [...(found.get(passage.id) ?? []), { sentence, passage }]);
    }
  }
  if (!found.size) {
    const word = turn?.outcome ? "evidence_none" : "evidence_empty";
    place.replaceChildren(make("p", { class: "empty", text: say(word) }));
    return;
  }
  place.replaceChildren(...[...found.values()].map(passageOf));
}

const cited = (sentence) => sentence.evidence.filter((passage) => sentence.cited.includes(passage.id));

/** One passage: where it comes from, and its text with the stretches marked that carry sentences: [{sentence, passage}]. */
export function passageOf(carried) {
  const { passage } = carried[0];
  const head = make("figcaption", {}, make("b", { text: passage.citation_id }));
  if (passage.title) head.append(make("span", { class: "title", text: passage.title }));
  head.append(make("cite", { text: passage.source }));
  return make("figure", { class: "passage" }, head, make("blockquote", {}, ...marked(passage.text, carried)));
}

function marked(text, carried) {
  const stretches = carried.map(({ sentence, passage }) => stretch(sentence.text, passage));
  const now = stretches.filter((_, at) => carried[at].sentence.state === "sounding");
  const pieces = [];
  let at = 0;
  for (const [from, to] of joined(stretches)) {
    const sounding = now.some(([start, end]) => start < to && end > from);
    pieces.push(text.slice(at, from), make("mark", { class: sounding && "now", text: text.slice(from, to) }));
    at = to;
  }
  return [...pieces, text.slice(at)].filter((piece) => piece !== "");
}

/** The passage that is shown beside a mark while it is pointed at, focused or tapped. */
export class Peek {
  constructor(box) {
    this.box = box;
    this.mark = null;
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
    document.addEventListener("pointerdown", (event) => {
      if (this.mark && !this.box.contains(event.target) && !this.mark.contains(event.target)) this.close();
    });
    addEventListener("resize", () => this.close());
  }

  open(mark, passage, sentence) {
    if (!passage || this.mark === mark) return;
    this.close();
    this.mark = mark;
    mark.setAttribute("aria-expanded", "true");
    this.box.replaceChildren(passageOf([{ sentence, passage }]));
    this.box.showPopover();
    const near = mark.getBoundingClientRect();
    const size = this.box.getBoundingClientRect();
    const below = near.bottom + 8 + size.height <= innerHeight;
    this.box.style.left = `${Math.max(8, Math.min(near.left - 20, innerWidth - size.width - 8))}px`;
    this.box.style.top = `${Math.max(8, below ? near.bottom + 8 : near.top - size.height - 8)}px`;
  }

  close() {
    if (!this.mark) return;
    this.mark.setAttribute("aria-expanded", "false");
    this.mark = null;
    this.box.hidePopover();
  }
}
