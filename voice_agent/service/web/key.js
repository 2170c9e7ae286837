// The API key: in this tab's session alone, never in a URL, and gone when the tab is closed.

const NAME = "voice-agent.key";

/** The key, or an empty text. */
export const key = () => sessionStorage.getItem(NAME) ?? "";

/** Keeps a key, without what no key holds and no header may: spaces and signs that came along when it was copied. */
export function keep(text) {
  const bare = text.replace(/[^\w.~-]/g, "");
  if (bare) sessionStorage.setItem(NAME, bare);
  else sessionStorage.removeItem(NAME);
}
