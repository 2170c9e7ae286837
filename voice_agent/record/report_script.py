"""What moves in the calls' report: filters, search, keys, colours, and the cursor that goes with the sound.

It makes no markup from text and asks for nothing: it shows, hides and copies what the page holds.
"""

from __future__ import annotations

SCRIPT = r"""
"use strict";
const by = id => document.getElementById(id);
const turns = [...document.querySelectorAll(".turn")].map(node => ({
  node, button: node.querySelector("button"), panel: node.querySelector(".panel"), call: node.closest(".call"),
  outcome: node.dataset.outcome, stage: node.dataset.stage, reason: node.dataset.reason, find: node.dataset.find,
}));
const calls = [...document.querySelectorAll(".call")];
const choices = ["outcome", "stage", "reason"];

function filter() {
  const words = by("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = choices.map(name => [name, by(name).value]).filter(([, value]) => value !== "*");
  const seen = new Set();
  let count = 0;
  for (const turn of turns) {
    const fits = wanted.every(([name, value]) => turn[name] === value) && words.every(word => turn.find.includes(word));
    turn.node.hidden = !fits;
    if (fits) { count += 1; seen.add(turn.call); }
  }
  for (const call of calls) call.hidden = !seen.has(call) && turns.length > 0;
  by("none").hidden = count > 0;
  by("count").textContent = `${count} / ${turns.length} 轮`;
}

function fill(turn) {
  if (turn.panel.firstChild) return;
  turn.panel.append(turn.node.querySelector("template").content.cloneNode(true));
  if (!turn.call.querySelector("audio")) return;
  for (const node of turn.panel.querySelectorAll(".listen")) node.hidden = false;
  move(turn.call.querySelector("audio"));
}

function toggle(turn) {
  const open = turn.button.getAttribute("aria-expanded") !== "true";
  if (open) fill(turn);
  turn.panel.hidden = !open;
  turn.button.setAttribute("aria-expanded", String(open));
}

function current() { return turns.find(turn => turn.node.contains(document.activeElement)); }

function step(by_) {
  const visible = turns.filter(turn => !turn.node.hidden);
  const at = visible.indexOf(current());
  const next = visible[at < 0 ? (by_ > 0 ? 0 : visible.length - 1) : at + by_];
  if (!next) return;
  next.button.focus({preventScroll: true});
  next.button.scrollIntoView({block: "nearest"});
}

function move(audio) {
  for (const fall of audio.closest(".call").querySelectorAll(".panel:not([hidden]) .fall")) {
    const from = Number(fall.dataset.from), to = Number(fall.dataset.to), cursor = fall.querySelector(".cursor");
    const share = (audio.currentTime - from) / (to - from);
    cursor.hidden = !(share >= 0 && share <= 1) || (audio.paused && audio.currentTime === 0);
    cursor.style.setProperty("--x", share.toFixed(4));
  }
}

function follow(audio) {
  move(audio);
  if (!audio.paused) requestAnimationFrame(() => follow(audio));
}

function play(call, at) {
  const audio = call.querySelector("audio");
  if (!audio) return;
  for (const other of document.querySelectorAll("audio")) if (other !== audio) other.pause();
  audio.currentTime = at;
  audio.play().catch(() => {});
}

function playTurn(turn) {
  const audio = turn?.call.querySelector("audio");
  const button = turn?.node.querySelector("template").content.querySelector("[data-play]");
  if (!audio || !button) return;
  if (audio.paused) play(turn.call, Number(button.dataset.play)); else audio.pause();
}

const themes = [["", "随系统"], ["light", "浅色"], ["dark", "深色"]];
let theme = 0;
function switchTheme() {
  theme = (theme + 1) % themes.length;
  document.documentElement.dataset.theme = themes[theme][0];
  by("theme").textContent = `配色：${themes[theme][1]}`;
}

function help() { if (by("help").open) by("help").close(); else by("help").showModal(); }

document.addEventListener("click", event => {
  const turn = turns.find(one => one.node.contains(event.target));
  if (!turn) return;
  if (event.target.closest("h3 > button")) return toggle(turn);
  const button = event.target.closest("[data-play]");
  if (button) return play(turn.call, Number(button.dataset.play));
  const fall = event.target.closest(".fall");
  if (!fall) return;
  if (event.target.title) { fall.parentNode.querySelector(".readout").textContent = event.target.title; return; }
  const track = event.target.closest(".track");
  if (!track) return;
  const box = track.getBoundingClientRect(), from = Number(fall.dataset.from), to = Number(fall.dataset.to);
  play(turn.call, from + (to - from) * (event.clientX - box.left) / box.width);
});

const keys = {
  j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
  "/": () => by("find").focus(), "?": help, t: switchTheme, p: () => playTurn(current()),
};
document.addEventListener("keydown", event => {
  const typing = event.target.closest("input, select, audio, .wide");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (typing) { if (event.key === "Escape") event.target.blur(); return; }
  if (by("help").open && event.key !== "?") return;
  const act = keys[event.key];
  if (act) { event.preventDefault(); act(); }
});

by("find").addEventListener("input", filter);
for (const name of choices) by(name).addEventListener("change", filter);
by("theme").addEventListener("click", switchTheme);
by("keys").addEventListener("click", help);
for (const audio of document.querySelectorAll("audio")) {
  audio.addEventListener("play", () => follow(audio));
  audio.addEventListener("seeked", () => move(audio));
}
filter();
"""
