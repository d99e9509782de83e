const rows = $$("#board tbody tr");

function filter() {
  const verdicts = checked("verdict");
  const text = wanted();
  const shown = new Set();
  for (const { dataset } of rows) {
    if (verdicts.has(dataset.verdict) && (text === "" || found(dataset.label, text))) shown.add(dataset.eval);
  }
  for (const element of $$("[data-eval]")) element.hidden = !shown.has(element.dataset.eval);
  $("#status").textContent = shown.size === rows.length ? counted(shown.size, "eval") : `${shown.size} of ${counted(rows.length, "eval")}`;
  $("#nothing").hidden = shown.size > 0;
}

function opened(details) {
  const place = details.querySelector(".heat");
  if (place === null || !details.open || place.dataset.drawn) return;
  place.dataset.drawn = "yes";
  drawHeat(place);
}

function openLinked() {
  const linked = document.getElementById(location.hash.slice(1));
  if (linked?.tagName !== "DETAILS") return;
  linked.open = true;
  linked.scrollIntoView();
}

for (const table of $$("table.sorts")) sortable(table);
for (const details of $$("#details > details")) {
  details.addEventListener("toggle", () => opened(details));
  opened(details);
}
if (rows.length) {
  for (const input of $$("#evals form input")) input.addEventListener("input", filter);
  filter();
}
window.addEventListener("hashchange", openLinked);
openLinked();
