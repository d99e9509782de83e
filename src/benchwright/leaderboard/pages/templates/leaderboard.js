const rows = $$("#board tbody tr");

function filter() {
  const families = checked("family");
  const text = wanted();
  let shown = 0;
  for (const row of rows) {
    row.hidden = !families.has(row.dataset.family) || (text !== "" && !found(row.dataset.label, text));
    shown += row.hidden ? 0 : 1;
  }
  $("#status").textContent = shown === rows.length ? counted(shown, "row") : `${shown} of ${counted(rows.length, "row")}`;
  $("#nothing").hidden = shown > 0;
}

if (rows.length) {
  sortable($("#board"));
  for (const input of $$("form input")) input.addEventListener("input", filter);
  filter();
}
