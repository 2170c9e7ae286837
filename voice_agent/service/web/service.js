// Whether the service is ready, in the page's head.

import { one, write } from "./dom.js";
import { say } from "./words.js";

/** Asks GET /ready and shows the answer. */
export async function showService() {
  const pill = one("service");
  let told = null;
  try {
    told = await (await fetch("/ready", { cache: "no-store" })).json();
  } catch {
    told = null;
  }
  pill.dataset.ready = told ? String(Boolean(told.ready)) : "false";
  const words = !told ? say("unreachable_short") : told.ready ? say("ready", String(told.passages)) : say("not_ready");
  write(pill.lastElementChild, words);
}
