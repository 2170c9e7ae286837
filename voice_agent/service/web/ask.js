// A typed question: POST /ask/stream, whose sentences come one by one, each after its check.

import { key } from "./key.js";

/** A request that was refused: `kind` as docs/service.md lists them, `again_s` the seconds to wait, if told. */
export class Refused extends Error {
  constructor(kind, again_s = null) {
    super(kind);
    Object.assign(this, { kind, again_s });
  }
}

/** The events [kind, data] of one question, as they come. Throws Refused. `history`: exchanges before it. */
export async function* asked(query, history) {
  const headers = { "Content-Type": "application/json" };
  if (key()) headers.Authorization = `Bearer ${key()}`;
  const body = JSON.stringify({ query, history });
  let response;
  try {
    response = await fetch("/ask/stream", { method: "POST", headers, body, cache: "no-store" });
  } catch {
    throw new Refused("unreachable");
  }
  if (!response.ok) throw await refusal(response);
  try {
    yield* events(response.body.pipeThrough(new TextDecoderStream()).getReader());
  } catch (fault) {
    throw fault instanceof Refused ? fault : new Refused("unreachable");
  }
}

/** What kind of problem a response tells. */
export async function refusal(response) {
  const told = await response.json().catch(() => ({}));
  const kind = String(told.type ?? "").split(":").at(-1) || "internal";
  return new Refused(kind, Number(response.headers.get("Retry-After")) || null);
}

async function* events(reader) {
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const blocks = text.split("\n\n");
    text = blocks.pop();
    for (const block of blocks) yield event(block);
  }
}

function event(block) {
  const fields = Object.fromEntries(
    block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
  );
  return [fields.event, JSON.parse(fields.data)];
}
