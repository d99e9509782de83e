// A line for each result: days from left to right, rank 1 at the top, and a strip below for days without a view.

const SVG = "http://www.w3.org/2000/svg";
const STRIP = 34;

function add(parent, name, attributes, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  parent.append(made);
  return made;
}

function dayOf(ordinal) {
  return new Date((ordinal - 719163) * 86400000).toISOString().slice(0, 10);
}

// Names at the ends of lines, moved apart where they would lie on each other; null where there is no room for all.
function spread(ends, height) {
  const places = [...ends].sort((one, two) => one.y - two.y);
  if (places.length * 14 > height) return null;
  let least = 4;
  for (const place of places) least = (place.at = Math.max(place.y, least)) + 14;
  let most = height;
  for (const place of places.reverse()) most = (place.at = Math.min(place.at, most)) - 14;
  return ends;
}

function fitting(text, width) {
  const font = `12px ${FONT}`;
  if (textWidth(text, font) <= width) return text;
  let letters = [...text];
  while (letters.length > 1 && textWidth(`${letters.join("")}…`, font) > width) letters = letters.slice(0, -1);
  return `${letters.join("")}…`;
}

function scales(lines, width, height, right) {
  const days = lines.flatMap(([, , points]) => points.map(([day]) => day));
  const [first, last] = [Math.min(...days), Math.max(...days)];
  const [left, top, bottom] = [34, 12, height - 24 - STRIP];
  const inner = width - left - right;
  const x = (day) => (first === last ? left + inner / 2 : left + 8 + ((day - first) / (last - first)) * (inner - 16));
  const y = (rank) => (rank === null ? bottom + STRIP / 2 : top + ((rank - 1) / (data.shown - 1)) * (bottom - top));
  return { x, y, first, last, left, top, bottom, end: width - right };
}

function drawFrame(svg, { x, y, first, last, left, bottom, end }, height) {
  for (const rank of [1, 10, 20, 30, 40, data.shown]) {
    add(svg, "path", { class: rank === data.shown ? "grid edge" : "grid", d: `M${left} ${y(rank)}H${end}` });
    add(svg, "text", { x: left - 8, y: y(rank) + 4, "text-anchor": "end" }, String(rank));
  }
  add(svg, "rect", { class: "below", x: left, y: bottom + 1, width: Math.max(0, end - left), height: STRIP - 1 });
  add(svg, "text", { x: left - 8, y: bottom + STRIP / 2 + 4, "text-anchor": "end" }, "none");
  const days = first === last ? [first] : [first, last];
  const anchors = days.length === 1 ? ["middle"] : ["start", "end"];
  days.forEach((day, at) => add(svg, "text", { x: x(day), y: height - 6, "text-anchor": anchors[at] }, dayOf(day)));
}

function drawLine(svg, [, style, points], { x, y }, number) {
  const made = add(svg, "g", { class: `line style-${style % data.styles}`, "data-line": number });
  const places = points.map(([day, rank]) => `${x(day)} ${y(rank)}`);
  add(made, "path", { class: `rank-line${style >= data.styles ? " dashed" : ""}`, d: `M${places.join("L")}` });
  points.forEach(([day, rank, , moved], at) => {
    if (rank === null) add(made, "path", { class: "cross", d: `M${x(day) - 4} ${y(null) - 4}l8 8m0-8l-8 8` });
    else add(made, "circle", { class: moved ? "ring" : "dot", cx: x(day), cy: y(rank), r: moved ? 4.5 : at === points.length - 1 ? 4 : 3 });
  });
  return made;
}

function drawEnds(svg, lines, scale, right, height) {
  const ends = lines.map(([model, style, points], number) => ({ model, style, number, y: scale.y(points.at(-1)[1]) }));
  for (const { model, style, number, at } of spread(ends, height - 10) ?? []) {
    const place = { class: `end style-${style % data.styles}`, "data-line": number, x: scale.end + 8, y: at + 4 };
    add(svg, "text", place, fitting(model, right - 12));
  }
}

function choose(place, number, says) {
  place.classList.toggle("told", number !== null);
  const section = place.closest("section");
  for (const one of section.querySelectorAll("[data-line]")) one.classList.toggle("chosen", one.dataset.line === String(number));
  const said = section.querySelector(".said");
  said.hidden = false;
  said.textContent = says ?? "\u00a0";
}

function nearest(lines, scale, at) {
  let [best, least] = [null, 30];
  lines.forEach(([, , points], number) => {
    for (const [day, rank, says] of points) {
      const distance = Math.hypot(scale.x(day) - at.x, scale.y(rank) - at.y);
      if (distance < least) [best, least] = [{ number, says }, distance];
    }
  });
  return best;
}

function drawBoard(place) {
  const lines = data.lines[place.dataset.board];
  const width = place.clientWidth;
  const height = narrow() ? 260 : 320;
  const right = narrow() ? 10 : Math.min(240, width / 3);
  const scale = scales(lines, width, height, right);
  const svg = add(place, "svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": "Ranks by day; the table has the newest" });
  place.replaceChildren(svg);
  drawFrame(svg, scale, height);
  lines.forEach((line, number) => drawLine(svg, line, scale, number));
  if (!narrow()) drawEnds(svg, lines, scale, right, height);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const found = nearest(lines, scale, { x: event.clientX - box.left, y: event.clientY - box.top });
    choose(place, found?.number ?? null, found?.says);
  });
  svg.addEventListener("pointerleave", () => choose(place, null));
}

for (const place of $$(".ranks")) {
  for (const row of place.closest("section").querySelectorAll("tbody tr")) {
    const points = data.lines[place.dataset.board][Number(row.dataset.line)][2];
    for (const kind of ["pointerenter", "focusin"]) row.addEventListener(kind, () => choose(place, row.dataset.line, points.at(-1)[2]));
    for (const kind of ["pointerleave", "focusout"]) row.addEventListener(kind, () => choose(place, null));
  }
}
for (const table of $$("table.sorts")) sortable(table);
redrawWith(() => $$(".ranks").forEach(drawBoard));
