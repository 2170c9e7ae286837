// The page's own settings: the access key, the colours and the language.

import { one } from "./dom.js";
import { keep, key } from "./key.js";
import { speak, spoken } from "./words.js";

const COLOURS = "voice-agent.colours";

export function openKeyBox() {
  if (one("key-box").open) return;
  one("key-text").value = key();
  one("key-box").showModal();
  one("key-text").focus();
}

/** Makes the buttons of the head work; `changed` is called when the language has changed. */
export function setUpTools(changed) {
  const box = one("key-box");
  one("key").addEventListener("click", openKeyBox);
  one("key-drop").addEventListener("click", () => {
    keep("");
    box.close();
  });
  box.addEventListener("submit", () => keep(one("key-text").value.trim()));
  box.addEventListener("close", () => {
    one("key-text").value = "";
    one("key").classList.toggle("kept", Boolean(key()));
  });
  one("key").classList.toggle("kept", Boolean(key()));

  paint(localStorage.getItem(COLOURS));
  one("colours").addEventListener("click", () => {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
    const preferred = matchMedia("(prefers-color-scheme: dark)").matches;
    const nowDark = document.documentElement.dataset.theme ? dark : preferred;
    paint(nowDark ? "light" : "dark");
    localStorage.setItem(COLOURS, nowDark ? "light" : "dark");
  });

  name();
  one("language").addEventListener("click", () => {
    speak(spoken() === "zh" ? "en" : "zh");
    name();
    changed();
  });
}

function paint(theme) {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
}

// The button is named in the language that it leads to.
function name() {
  const other = spoken() === "zh" ? { lang: "en", text: "EN", label: "English" } : { lang: "zh", text: "中", label: "中文" };
  one("language").lang = other.lang;
  one("language").textContent = other.text;
  one("language").setAttribute("aria-label", other.label);
  one("language").title = other.label;
}
