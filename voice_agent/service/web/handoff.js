// What the person who takes over is given, as the page shows it.

import { make } from "./dom.js";
import { say } from "./words.js";

/** Shows the hand-off of a turn in `card`, or hides it. */
export function showHandoff(card, turn) {
  card.hidden = !turn?.handoff;
  if (!turn?.handoff) return;
  const { reason, delivery, packet } = turn.handoff;
  const rows = [["handoff_reason", [say(reason)]]];
  if (packet) rows.push(...packetRows(packet));
  if (delivery) rows.push(["handoff_delivery", [say(delivery)]]);
  const shown = rows.filter(([, texts]) => texts.length).map(([name, texts]) =>
    make("div", {}, make("dt", { text: say(name) }), ...texts.map((text) => make("dd", { text }))),
  );
  card.lastElementChild.replaceChildren(make("dl", {}, ...shown));
}

function packetRows({ question, detail, withheld, history, evidence, added }) {
  const list = (value) => (Array.isArray(value) ? value : []);
  return [
    ["handoff_question", question ? [question] : []],
    ["handoff_withheld", withheld ? [`${withheld.text}（${say(withheld.reason)}）`] : []],
    ["handoff_detail", detail ? [say(detail)] : []],
    ["handoff_added", list(added)],
    ["handoff_history", list(history).map((exchange) => list(exchange).join(" → "))],
    ["handoff_evidence", list(evidence).map((passage) => list(passage).join("：")).slice(0, 5)],
  ];
}
