// The page put together: what comes from the call or a typed answer goes into the story, and from there to the views.

import { asked, Refused } from "./ask.js";
import { Conversation } from "./conversation.js";
import { one, write } from "./dom.js";
import { Peek, showEvidence } from "./evidence.js";
import { showHandoff } from "./handoff.js";
import { Line } from "./line.js";
import { showService } from "./service.js";
import { openKeyBox, setUpTools } from "./settings.js";
import { Story, typedAnswer, typedSentence } from "./story.js";
import { showWaterfall } from "./waterfall.js";
import { say, translate, trouble } from "./words.js";

const story = new Story();
const peek = new Peek(one("peek"));
const conversation = new Conversation(one("turns"), one("turns").firstElementChild, { peek, chosen: choose });
const line = new Line({ story, changed: show, noticed: notice, refused });

let chosen = null; // the turn whose proof is shown; null is the latest

function show(turn) {
  if (!turn) return;
  one("welcome").hidden = true;
  const last = chosen;
  if (turn === story.latest && turn !== last && isNew(turn)) chosen = null;
  for (const each of new Set([turn, last, story.latest])) {
    if (each) conversation.show(each, each === current());
  }
  showProof();
}

const begun = new Set();

function isNew(turn) {
  if (begun.has(turn.id)) return false;
  begun.add(turn.id);
  return true;
}

const current = () => chosen ?? story.latest;

function choose(turn) {
  chosen = turn;
  conversation.redrawChosen(turn);
  showProof();
  one("evidence").scrollIntoView({ block: "nearest", behavior: "smooth" });
}

function showProof() {
  showHandoff(one("handoff"), current());
  showEvidence(one("evidence"), current());
  showWaterfall(one("waterfall"), current());
}

function notice(kind, again_s = null) {
  write(one("notice"), kind ? trouble(kind) + (again_s ? say("retry", again_s) : "") : "");
}

function refused(kind, again_s = null) {
  notice(kind, again_s);
  if (kind === "no-key") openKeyBox();
}

async function ask(question) {
  notice(null);
  const history = story.history();
  const turn = story.ask(question);
  show(turn);
  try {
    for await (const [kind, data] of asked(question, history)) {
      if (kind === "sentence") typedSentence(turn, data);
      else if (kind === "answer") typedAnswer(turn, data);
      else if (kind === "problem") throw new Refused(String(data.type).split(":").at(-1));
      show(turn);
    }
  } catch (fault) {
    if (!(fault instanceof Refused)) throw fault;
    turn.outcome = "failed";
    for (const sentence of turn.sentences) sentence.state = "dropped";
    show(turn);
    refused(fault.kind, fault.again_s);
  }
}

one("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const question = one("question").value.trim();
  if (!question) return;
  one("question").value = "";
  ask(question);
});

setUpTools(() => {
  translate();
  conversation.redraw(story.turns, current());
  showProof();
  line.showState();
  showService();
});
translate();
showProof();
line.showState();
showService();
