// ColorBrewer's BrBG, as in the figure: told apart with any colour vision, and free of the run's vermillion.
const SCALE = ["#543005", "#8c510a", "#bf812d", "#dfc27d", "#f6e8c3", "#f5f5f5", "#c7eae5", "#80cdc1", "#35978f", "#01665e", "#003c30"]
  .map((shade, at) => [at / 10, shade]);
const methods = data.methods;
const map = $("#map");
let chosen = Math.max(0, methods.findIndex((method) => method.isNew));

const percent = (rate) => `${rate.toFixed(rate % 1 && (rate < 1 || rate > 99) ? 1 : 0)}%`;

function tick(method, words) {
  const text = plain(words);
  return method.isNew ? `<b><span style="color:${colour("new")}">${text}</span></b>` : text;
}

function hoverText(row, column) {
  const rate = data.rates[row][column];
  const fold = narrow() ? 26 : 44;
  const [one, two] = [folded(methods[row].label, fold), folded(methods[column].label, fold)];
  if (rate === null) return row === column ? one : `${one}<br>and ${two}: no common result`;
  return `<b>${one}</b><br>beats ${two}<br>on <b>${percent(rate)}</b> of splits`;
}

function outline(at, stroke, width) {
  return { type: "rect", x0: -0.5, x1: methods.length - 0.5, y0: at - 0.5, y1: at + 0.5, line: { color: stroke, width }, fillcolor: "rgba(0,0,0,0)" };
}

function drawMap() {
  const small = narrow();
  const count = methods.length;
  const name = (method) => method.names[small ? 1 : 0];
  const fontSize = small ? 11 : 12;
  const rowNames = methods.map((method, at) => `${at + 1}  ${name(method)}`);
  const left = Math.ceil(Math.max(...rowNames.map((text) => textWidth(text, `bold ${fontSize}px ${FONT}`)))) + 8;
  const cell = Math.max(small ? 18 : 11, Math.min(80, (map.parentElement.clientWidth - left - 12) / count));
  const height = Math.max(16, Math.min(44, cell));
  // Columns carry the row's number, since names on end cannot be read; narrow columns every fifth.
  const numbered = (at) => cell >= 20 || at === 0 || at % 5 === 4;
  const numbers = count <= 14 && cell >= 29;
  const indices = methods.map((_, at) => at);
  const axis = { showgrid: false, zeroline: false, ticks: "", tickvals: indices, fixedrange: true };
  Plotly.react(map, [{
    type: "heatmap", z: data.rates, x: indices, y: indices, zmin: 0, zmax: 100, colorscale: SCALE, xgap: 2, ygap: 2,
    hoverinfo: "text", hovertext: indices.map((row) => indices.map((column) => hoverText(row, column))), hoverongaps: false,
    text: data.rates.map((row) => row.map((rate) => (rate === null ? "" : rate.toFixed(0)))), texttemplate: numbers ? "%{text}" : "",
    colorbar: { orientation: "h", x: 0, xref: "paper", xanchor: "left", y: 0, yanchor: "top", ypad: 8, len: 1, thickness: 10, tickvals: [0, 25, 50, 75, 100], ticktext: ["0%", "25%", "50%", "75%", "100%"], outlinewidth: 0 },
  }], {
    width: Math.round(left + cell * count + 12), height: Math.round(28 + height * count + 48), margin: { l: left, r: 12, t: 28, b: 48 },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: FONT, size: fontSize, color: colour("text") },
    hoverlabel: { bgcolor: colour("card"), bordercolor: colour("quiet"), font: { color: colour("text"), size: 12 }, align: "left" },
    xaxis: { ...axis, side: "top", ticktext: methods.map((method, at) => (numbered(at) ? tick(method, String(at + 1)) : "")), tickangle: 0, range: [-0.5, count - 0.5] },
    yaxis: { ...axis, ticktext: methods.map((method, at) => tick(method, rowNames[at])), range: [count - 0.5, -0.5] },
    shapes: [
      ...methods.flatMap((method, at) => (method.isNew && at !== chosen ? [outline(at, colour("new-mark"), 2)] : [])),
      outline(chosen, methods[chosen].isNew ? colour("new-mark") : colour("text"), 2.5),
    ],
  }, { displayModeBar: false, displaylogo: false });
}

function duel(opponent, rate) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  const add = (tag, name, text) => {
    const element = document.createElement(tag);
    element.className = name;
    element.textContent = text;
    button.append(element);
    return element;
  };
  button.type = "button";
  button.className = opponent.isNew ? "duel new" : "duel";
  button.title = `${methods[chosen].label} beats ${opponent.label} on ${rate === null ? "an unknown share" : percent(rate)} of splits`;
  add("span", "name", opponent.label);
  const track = add("span", "track", "");
  add("span", "rate", rate === null ? "none" : percent(rate));
  if (rate !== null) {
    const bar = document.createElement("i");
    const dot = document.createElement("b");
    const shade = rate >= 50 ? "#35978f" : "#bf812d";
    Object.assign(bar.style, { left: `${Math.min(rate, 50)}%`, width: `${Math.abs(rate - 50)}%`, background: shade });
    Object.assign(dot.style, { left: `${rate}%`, background: opponent.colour });
    track.append(bar, dot);
  }
  button.addEventListener("click", () => choose(methods.indexOf(opponent)));
  item.append(button);
  return item;
}

function drawDuels() {
  const rates = data.rates[chosen];
  const others = methods.filter((_, at) => at !== chosen);
  const rate = (method) => rates[methods.indexOf(method)];
  others.sort((one, two) => (rate(two) ?? -1) - (rate(one) ?? -1));
  const beaten = others.filter((method) => rate(method) > 50).length;
  const mean = methods[chosen].mean;
  $("#status").textContent = `${methods[chosen].label} wins more than half of the splits against ${beaten} of ${counted(others.length, "method")}` +
    (mean === null ? "." : `; its mean win rate is ${percent(mean)}.`);
  $("#duels").replaceChildren(...others.map((method) => duel(method, rate(method))));
}

function choose(at) {
  chosen = at;
  $("#method").value = String(at);
  drawDuels();
  drawMap();
}

if (methods.length > 1) {
  choose(chosen);
  redrawWith(drawMap);
  map.on("plotly_click", (event) => choose(event.points[0].y));
  $("#method").addEventListener("change", (event) => choose(Number(event.target.value)));
}
