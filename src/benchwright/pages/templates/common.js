"use strict";
const $ = (selector) => document.querySelector(selector);
const $$ = (selector) => [...document.querySelectorAll(selector)];
const narrow = () => window.innerWidth <= 640;
const checked = (name) => new Set($$(`input[name="${name}"]:checked`).map((box) => box.value));
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const found = (label, wanted) => wanted !== "" && label.toLowerCase().includes(wanted);
const wanted = () => $("#search").value.trim().toLowerCase();
const counted = (number, noun, several = `${noun}s`) => `${number} ${number === 1 ? noun : several}`;

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const pen = document.createElement("canvas").getContext("2d");
function textWidth(text, font) {
  pen.font = font;
  return pen.measureText(text).width;
}

// Plotly reads a few tags in its texts, and formulas between dollar signs.
function plain(text) {
  return text.replace(/[&<>$]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

// A long name on several lines, for hover boxes.
function folded(text, width) {
  const letters = [...text];
  const lines = [];
  for (let at = 0; at < letters.length; at += width) lines.push(plain(letters.slice(at, at + width).join("")));
  return lines.join("<br>");
}

function redrawWith(draw) {
  let waiting = 0;
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(draw);
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
}
