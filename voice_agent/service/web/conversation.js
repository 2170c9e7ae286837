// The conversation: what was asked, and each sentence of the answer with its verdict. Elements are kept and changed
// where a turn changes, so that neither the reader's place nor the keyboard's is lost.

import { make, write } from "./dom.js";
import { unmarked } from "./support.js";
import { say } from "./words.js";

const NEAR = 120; // pixels from the end that still count as reading there
const SIGNS = { checked: "✓", sounding: "✓", said: "✓", cut: "✓", dropped: "✓", withheld: "✕" };

const isPending = (turn) => Boolean(turn.heard) && turn.final && !(turn.outcome || turn.sentences.length || turn.phrases.length);

export class Conversation {
  /**
   * `box` scrolls, `list` is in it. `peek` shows a passage beside the mark it was asked for at; `chosen` takes the turn
   * whose proof is wanted.
   */
  constructor(box, list, { peek, chosen }) {
    Object.assign(this, { box, list, peek, chosen, shown: new Map() });
  }

  /** Brings one turn up to date. */
  show(turn, isChosen) {
    let item = this.shown.get(turn.id);
    if (!item) {
      item = this.newItem(turn);
      this.shown.set(turn.id, item);
      this.list.append(item.element);
    }
    const follow = this.isAtEnd();
    item.element.classList.toggle("chosen", isChosen);
    item.element.classList.toggle("pending", isPending(turn));
    this.showHeard(item, turn);
    this.showSentences(item, turn);
    this.showPhrases(item, turn);
    this.showOutcome(item, turn);
    if (follow) this.follow(item.element);
  }

  /** Everything anew: the language has changed. */
  redraw(turns, chosen) {
    this.shown.clear();
    this.list.replaceChildren();
    for (const turn of turns) this.show(turn, turn === chosen);
  }

  /** Another turn's proof is shown. */
  redrawChosen(turn) {
    for (const [id, { element }] of this.shown) element.classList.toggle("chosen", id === turn.id);
  }

  /** Whether the newest is in sight, so that it may stay so. */
  isAtEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.box;
    return scrollHeight - scrollTop - clientHeight < NEAR;
  }

  // On a wide screen the box scrolls, on a phone the page does.
  follow(element) {
    this.box.scrollTop = this.box.scrollHeight;
    if (element === this.list.lastElementChild) element.scrollIntoView({ block: "nearest" });
  }

  newItem(turn) {
    const you = say(turn.mode === "typed" ? "you_typed" : "you");
    const settled = make("span");
    const open = make("span", { class: "open" });
    const outcome = make("button", { type: "button", class: "outcome", click: () => this.chosen(turn), hidden: "" });
    const heard = make("div", { class: "heard" }, make("span", { class: "who", text: you }), make("p", {}, settled, open));
    const answer = make("ol", { class: "answer", "aria-label": say("agent") });
    const element = make("li", { class: "turn", "data-turn": turn.id }, heard, answer, outcome);
    return { element, heard, settled, open, answer, outcome, sentences: [], phrases: [] };
  }

  showHeard({ heard, settled, open }, turn) {
    const firm = turn.final ? turn.heard : turn.settled;
    write(settled, firm);
    write(open, turn.final || !turn.heard.startsWith(firm) ? "" : turn.heard.slice(firm.length));
    if (!turn.final && !turn.heard.startsWith(firm)) write(settled, turn.heard);
    heard.classList.toggle("listening", !turn.final);
    heard.hidden = !turn.heard;
  }

  showSentences(item, turn) {
    turn.sentences.forEach((sentence, index) => {
      item.sentences[index] ??= this.newSentence(item, index);
      const { element, verdict, words, marks, why } = item.sentences[index];
      element.className = `sentence ${sentence.state}`;
      write(verdict, SIGNS[sentence.state]);
      verdict.setAttribute("aria-label", say(`said_${sentence.state}`));
      verdict.title = say(`said_${sentence.state}`);
      write(words, unmarked(sentence.text));
      this.showMarks(marks, sentence);
      write(why, sentence.state === "withheld" ? [say(sentence.reason), sentence.detail].filter(Boolean).join(" · ") : "");
    });
    for (const extra of item.sentences.splice(turn.sentences.length)) extra.element.remove();
  }

  newSentence(item, index) {
    const verdict = make("span", { class: "verdict", role: "img" });
    const words = make("span", { class: "said" });
    const marks = make("span", { class: "marks" });
    const why = make("span", { class: "why" });
    const element = make("li", {}, verdict, make("p", {}, words, " ", marks, why));
    if (index) item.sentences[index - 1].element.after(element);
    else item.answer.prepend(element);
    return { element, verdict, words, marks, why };
  }

  showMarks(marks, sentence) {
    const wanted = sentence.evidence.filter((passage) => sentence.cited.includes(passage.id));
    const names = wanted.map((passage) => passage.citation_id).join(" ");
    marks.peeked = wanted;
    marks.sentence = sentence;
    if (marks.dataset.names === names) return;
    marks.dataset.names = names;
    marks.replaceChildren(...wanted.map((passage, at) => this.newMark(marks, passage.citation_id, at)));
  }

  newMark(marks, name, at) {
    const open = (event) => this.peek.open(event.currentTarget, marks.peeked[at], marks.sentence);
    const close = () => this.peek.close();
    return make("button", {
      type: "button", class: "mark", "aria-expanded": "false", "aria-controls": "peek", text: `[${name}]`,
      pointerenter: (event) => event.pointerType === "mouse" && open(event),
      pointerleave: (event) => event.pointerType === "mouse" && close(),
      click: open, blur: close,
    });
  }

  showPhrases(item, turn) {
    turn.phrases.forEach((phrase, index) => {
      item.phrases[index] ??= item.answer.appendChild(make("li", { class: "phrase" }, make("p", {}, make("span"), make("small"))));
      const [words, note] = item.phrases[index].firstChild.children;
      write(words, phrase.text);
      write(note, say("own_phrase"));
      item.phrases[index].classList.toggle("cut", !phrase.complete);
    });
  }

  showOutcome({ outcome }, turn) {
    outcome.hidden = !turn.outcome;
    if (!turn.outcome) return;
    const why = turn.reason && turn.outcome !== "answered" ? ` · ${say(turn.reason)}` : "";
    write(outcome, `${say(`outcome_${turn.outcome}`)}${why}`);
    outcome.dataset.outcome = turn.outcome;
  }
}
