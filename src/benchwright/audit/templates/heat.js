// Rewards by task and attempt: a row of cells for each task, made when its eval is opened.

const STATES = { u: ["unscored", "∅"], c: ["corrupt", "✕"], m: ["missing", "·"] };
const STOPS = [[246, 232, 195], [199, 234, 229], [128, 205, 193], [53, 151, 143], [1, 102, 94]];
const AT_ONCE = 400;

// Light for 0 and dark for 1, so that the order can be seen without any colour.
function shade(reward) {
  const at = 4 * Math.min(1, Math.max(0, reward));
  const low = Math.min(3, Math.floor(at));
  const mixed = STOPS[low].map((part, band) => Math.round(part + (at - low) * (STOPS[low + 1][band] - part)));
  return [`rgb(${mixed.join(",")})`, at > 3.2 ? "#fff" : "#1f2328"];
}

function brief(reward) {
  if (Number.isInteger(reward)) return String(reward);
  return Math.abs(reward) < 1 ? reward.toFixed(2).replace(/^(-?)0\./, "$1.") : String(Number(reward.toPrecision(2)));
}

// Cut in the middle, since beginnings and ends tell names apart.
function shortened(name) {
  const letters = [...name];
  return letters.length <= 44 ? name : `${letters.slice(0, 20).join("")}…${letters.slice(-23).join("")}`;
}

function cellOf(map, task, prefix, entry, attempt) {
  const made = document.createElement(entry && entry[1] !== null && map.base !== null ? "a" : "span");
  made.className = "cell";
  if (entry === null) {
    made.classList.add("none");
    return made;
  }
  const [value, rest, why] = entry;
  const reason = why === undefined ? "" : `: ${data.texts[why]}`;
  const folder = rest === null ? "" : prefix + rest;
  const state = STATES[value];
  if (state) {
    made.classList.add(state[0]);
    made.textContent = state[1];
  } else {
    [made.style.background, made.style.color] = shade(value);
    made.textContent = brief(value);
    made.classList.toggle("told", reason !== "");
  }
  made.dataset.says = `${task}, attempt ${attempt}: ${state ? state[0] : `reward ${value}`}${reason}${folder && ` (${folder})`}`;
  made.setAttribute("aria-label", made.dataset.says);
  if (made.tagName === "A") made.href = `${map.base}/${folder}/`;
  return made;
}

function taskOf(map, [title, prefix, entries]) {
  const row = document.createElement("div");
  const name = document.createElement("span");
  const cells = document.createElement("span");
  row.className = "task";
  cells.className = "cells";
  name.title = data.texts[title];
  name.textContent = shortened(name.title);
  cells.append(...entries.map((entry, at) => cellOf(map, data.texts[title], prefix, entry, at + 1)));
  row.append(name, cells);
  return row;
}

const ORDERS = {
  name: () => 0,
  lost: ([, , entries]) => -entries.filter((entry) => entry && STATES[entry[0]]).length,
  reward: ([, , entries]) => {
    const rewards = entries.filter((entry) => entry && !STATES[entry[0]]).map(([reward]) => reward);
    return rewards.length ? rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length : -Infinity;
  },
};

function drawHeat(place) {
  const map = data.evals[place.dataset.heat];
  const [tasks, told, order] = [".tasks", ".told-of", "select"].map((selector) => place.querySelector(selector));
  const more = document.createElement("button");
  more.type = "button";
  more.className = "more";
  let rows = [];
  const grow = () => {
    tasks.append(...rows.splice(0, AT_ONCE).map((row) => taskOf(map, row)));
    more.hidden = rows.length === 0;
    more.textContent = `Show ${Math.min(AT_ONCE, rows.length)} more of ${counted(rows.length, "task")}`;
  };
  const start = () => {
    const key = new Map(map.rows.map((row) => [row, ORDERS[order.value](row)]));
    rows = [...map.rows].sort((one, two) => (key.get(one) < key.get(two) ? -1 : Number(key.get(one) > key.get(two))));
    tasks.replaceChildren();
    grow();
  };
  const tell = (event) => {
    const says = event.target.dataset.says;
    if (says) told.textContent = says;
  };
  tasks.after(more);
  more.addEventListener("click", grow);
  order.addEventListener("change", start);
  for (const kind of ["pointerover", "focusin"]) tasks.addEventListener(kind, tell);
  start();
}
