const MEASURES = {
  elo: { key: "elo", title: "Elo", better: 1 },
  improvability: { key: "improvability", title: "Improvability (%), lower is better", better: -1 },
};
const chart = $("#chart");
const margin = () => (narrow() ? { l: 60, r: 10, t: 14, b: 52 } : { l: 64, r: 20, t: 18, b: 56 });
let drawn = null; // what the chart shows now: points, front, measure
let zoom = null; // the ranges that the reader chose

function front(points, measure) {
  const quality = (point) => measure.better * point[measure.key][0];
  const order = [...points].sort((a, b) => a.time - b.time || quality(b) - quality(a));
  let best = -Infinity;
  return order.filter((point) => quality(point) > best && ((best = quality(point)), true));
}

function padded(low, high, share, least) {
  const room = Math.max((high - low) * share, least);
  return [low - room, high + room];
}

// The ends of a point's interval if it is drawn.
function ends(point, measure) {
  const [value, plus, minus] = point[measure.key];
  return drawn.intervals === "all" || point.isNew ? [value - (minus ?? 0), value + (plus ?? 0)] : [value, value];
}

// Room for intervals, but not for more than the points' own span on each side: of few datasets they run to thousands.
function ranges(points, measure) {
  const times = points.map((point) => Math.log10(point.time));
  const values = points.map((point) => point[measure.key][0]);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const span = Math.max(high - low, measure.key === "elo" ? 50 : 1);
  const lowest = Math.max(low - span / 2, Math.min(...points.map((point) => ends(point, measure)[0])));
  const highest = Math.min(high + span / 2, Math.max(...points.map((point) => ends(point, measure)[1])));
  const x = padded(Math.min(...times), Math.max(...times), 0.1, 0.25);
  const y = padded(lowest, highest, 0.1, span / 6);
  return { x, y: measure.better < 0 ? y.reverse() : y };
}

function hoverText(point) {
  const facts = Object.entries(point.facts).map(([name, fact]) => `${plain(name)}: ${plain(fact)}`);
  return [`<b>${folded(point.label, narrow() ? 26 : 44)}</b>`, ...facts].join("<br>");
}

function pointsTrace(points, measure, text, intervals) {
  const faded = (point) => text !== "" && !point.isNew && !found(point.label, text);
  const strong = (point) => found(point.label, text);
  const column = (at) => points.map((point) => point[measure.key][at] ?? 0);
  return {
    type: "scatter",
    mode: "markers",
    x: points.map((point) => point.time),
    y: column(0),
    hovertext: points.map(hoverText),
    hoverinfo: "text",
    error_y: {
      type: "data", symmetric: false, array: column(1), arrayminus: column(2), thickness: 1.2, width: 0,
      color: colour(intervals === "own" ? "new-mark" : "whisker"), visible: intervals !== "none",
    },
    marker: {
      color: points.map((point) => point.colour),
      symbol: points.map((point) => point.symbol),
      size: points.map((point) => (point.isNew ? 17 : strong(point) ? 14 : 10)),
      opacity: points.map((point) => (faded(point) ? 0.18 : 1)),
      line: {
        color: points.map((point) => (point.isNew || strong(point) ? colour("text") : colour("card"))),
        width: points.map((point) => (point.isNew || strong(point) ? 2 : 1)),
      },
    },
  };
}

// To the right edge: whatever is slower has to beat the last one.
function frontTrace(points, measure, edge) {
  const ends = [...points, { ...points.at(-1), time: 10 ** edge }];
  return {
    type: "scatter", mode: "lines", hoverinfo: "skip", x: ends.map((point) => point.time),
    y: ends.map((point) => point[measure.key][0]),
    line: { shape: "hv", width: 1.5, dash: "dot", color: colour("text") },
  };
}

// The run's own first, then what is searched, then the front, then the rest of a small field.
function labelled(points, onFront, text) {
  const rank = (point) => (point.isNew ? 0 : found(point.label, text) ? 1 : onFront.has(point) ? 2 : 3);
  const most = points.length <= 14 ? 3 : 2;
  return points.map((point) => ({ point, rank: rank(point) })).filter((one) => one.rank <= most).sort((a, b) => a.rank - b.rank);
}

const boxed = (x0, x1, y0, y1, room) => ({
  left: Math.min(x0, x1) - room, right: Math.max(x0, x1) + room, top: Math.min(y0, y1) - room, bottom: Math.max(y0, y1) + room,
});

// Everything in pixels of the plot area: where points are, and what labels should keep off.
function scene(axes, area) {
  const pixel = (value, range, length) => ((value - range[0]) / (range[1] - range[0])) * length;
  const across = (time) => pixel(Math.log10(time), axes.x, area.width);
  const down = (value) => area.height - pixel(value, axes.y, area.height);
  const spot = (point) => ({ x: across(point.time), y: down(point[drawn.measure.key][0]) });
  const corners = [...drawn.front.map(spot), { ...spot(drawn.front.at(-1)), x: area.width }];
  const steps = corners.slice(1).flatMap((to, at) => {
    const from = corners[at];
    return [boxed(from.x, to.x, from.y, from.y, 1), boxed(to.x, to.x, from.y, to.y, 1)];
  });
  const whiskers = drawn.points.map((point) => {
    const x = across(point.time);
    const [low, high] = ends(point, drawn.measure).map(down);
    return boxed(x, x, low, high, 1);
  });
  const dots = drawn.points.map((point) => {
    const { x, y } = spot(point);
    return boxed(x, x, y, y, point.isNew ? 10 : 6);
  });
  return { spot, lines: [...steps, ...whiskers], dots: [...dots, boxed(0, 74, 0, 22, 0)] };
}

function annotations(axes, size) {
  const m = margin();
  const area = { width: size.width - m.l - m.r, height: size.height - m.t - m.b };
  const { spot, lines, dots } = scene(axes, area);
  const inside = (at) => at.x >= 0 && at.x <= area.width && at.y >= 0 && at.y <= area.height;
  const fontSize = narrow() ? 11 : 12;
  const labels = labelled(drawn.points, new Set(drawn.front), drawn.text)
    .map(({ point, rank }) => ({
      ...spot(point), point, must: rank === 0, reaches: rank === 3 ? 3 : 5, text: point.names[narrow() ? 1 : 0],
      font: `${rank < 3 ? "bold " : ""}${fontSize}px ${FONT}`, bold: rank < 3,
    }))
    .filter(inside);
  const names = placed(labels, dots, lines, area).map(({ label, dx, dy }) => annotation(label, dx, dy, fontSize));
  const hint = { xref: "paper", yref: "paper", x: 0, y: 1, xanchor: "left", yanchor: "top", text: "↖ better", showarrow: false };
  return [...names, { ...hint, font: { size: fontSize, color: colour("quiet") }, borderpad: 4 }];
}

function annotation(label, dx, dy, size) {
  const own = label.point.isNew;
  const text = plain(label.text);
  return {
    x: Math.log10(label.point.time), y: label.point[drawn.measure.key][0], ax: dx, ay: dy,
    text: label.bold ? `<b>${text}</b>` : text, font: { size, color: own ? colour("new") : colour("text") },
    showarrow: true, arrowhead: 0, arrowwidth: 1, arrowcolor: own ? colour("new-mark") : colour("quiet"), standoff: own ? 10 : 6,
    bgcolor: own ? colour("new-ground") : colour("veil"), bordercolor: own ? colour("new-mark") : "rgba(0,0,0,0)",
    borderwidth: own ? 1.5 : 0, borderpad: own ? 3 : 1, captureevents: false,
  };
}

function layout(axes, size) {
  const axis = { gridcolor: colour("line"), zeroline: false, linecolor: colour("quiet"), showline: true, ticks: "outside", tickcolor: colour("line") };
  const decades = axes.x[1] - axes.x[0];
  return {
    width: size.width, height: size.height, margin: margin(), showlegend: false, hovermode: "closest", dragmode: narrow() ? false : "zoom",
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: FONT, size: 12, color: colour("text") },
    hoverlabel: { bgcolor: colour("card"), bordercolor: colour("quiet"), font: { color: colour("text"), size: 12 }, align: "left" },
    xaxis: {
      ...axis, type: "log", range: axes.x, dtick: decades < (narrow() ? 1.6 : 3.2) ? "D2" : 1, tickformat: "~g",
      title: { text: narrow() ? data.axis.replace("seconds", "s").replace(", median", "") : data.axis, standoff: 8 },
    },
    yaxis: { ...axis, range: axes.y, title: { text: drawn.measure.title, standoff: 8 } },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("quiet"), activecolor: colour("accent") },
    annotations: annotations(axes, size),
  };
}

function report() {
  const onFront = new Set(drawn.front);
  const shown = new Set(drawn.points);
  const names = drawn.front.map((point) => point.label).join("; ");
  const matches = drawn.points.filter((point) => found(point.label, drawn.text)).length;
  const search = drawn.text === "" ? "" : ` ${counted(matches, "match", "matches")}.`;
  $("#status").textContent = `${drawn.points.length} of ${counted(data.points.length, "point")} shown.${search} On the front, fastest first: ${names || "none"}.`;
  $$("#points tbody tr").forEach((row, at) => {
    const point = data.points[at];
    row.hidden = !shown.has(point);
    row.classList.toggle("match", found(point.label, drawn.text));
    row.cells[1].textContent = onFront.has(point) ? "yes" : "no";
  });
}

function draw() {
  const families = checked("family");
  const variants = checked("variant");
  const measure = MEASURES[$('input[name="measure"]:checked').value];
  const points = data.points.filter((point) => families.has(point.group) && variants.has(point.variant));
  drawn = { points, measure, front: front(points, measure), text: wanted(), intervals: $('input[name="intervals"]:checked').value };
  report();
  $("#nothing").hidden = points.length > 0;
  chart.hidden = points.length === 0;
  if (points.length === 0) return;
  const size = { width: chart.clientWidth, height: narrow() ? 440 : Math.max(480, Math.min(640, window.innerHeight - 200)) };
  const axes = zoom ?? ranges(points, measure);
  const others = points.filter((point) => !point.isNew);
  const own = points.filter((point) => point.isNew);
  const traces = [
    frontTrace(drawn.front, measure, Math.max(axes.x[1], Math.log10(drawn.front.at(-1).time))),
    pointsTrace(others, measure, drawn.text, drawn.intervals === "all" ? "all" : "none"),
    pointsTrace(own, measure, drawn.text, "own"),
  ];
  Plotly.react(chart, traces, layout(axes, size), {
    displaylogo: false, displayModeBar: narrow() ? false : "hover",
    // Named one by one: plotly's own set has a button that sends the chart to a server.
    modeBarButtons: [["toImage", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]],
    toImageButtonOptions: { filename: document.title, scale: 2 },
  });
}

function start() {
  for (const input of $$("form input")) {
    input.addEventListener("input", () => {
      if (input.name === "measure") zoom = null;
      draw();
    });
  }
  redrawWith(draw);
  chart.on("plotly_relayout", (change) => {
    const keys = Object.keys(change);
    if (!keys.some((key) => key.startsWith("xaxis.") || key.startsWith("yaxis."))) return;
    const reset = keys.some((key) => key.endsWith("autorange"));
    zoom = reset ? null : { x: [...chart.layout.xaxis.range], y: [...chart.layout.yaxis.range] };
    draw();
  });
}

if (data.points.length) start();
