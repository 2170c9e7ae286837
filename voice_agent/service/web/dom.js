// Elements made of texts. Nothing here or elsewhere on the page reads a text as HTML: what a caller, a document or a
// server says can only ever become text.

const UNSHOWN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;
// Also what turns the writing direction, as in the agent's report.

/** The element with this id. */
export const one = (id) => document.getElementById(id);

/** A text from outside, fit to be shown. */
export const plain = (text) => String(text ?? "").replace(UNSHOWN, "\ufffd");

/**
 * A new element. `given` holds attributes; `class` and `text` among them, and functions, which listen to the event of
 * their name. Children are elements or texts.
 */
export function make(tag, given = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name === "text") element.textContent = plain(value);
    else if (value !== undefined && value !== null && value !== false) element.setAttribute(name, plain(value));
  }
  element.append(...children.map((child) => (child instanceof Node ? child : plain(child))));
  return element;
}

/** Writes a text only where it differs, so that a reader who selects or listens is not disturbed. */
export function write(element, text) {
  const shown = plain(text);
  if (element.textContent !== shown) element.textContent = shown;
}
