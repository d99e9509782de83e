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

function compared(left, right, direction) {
  if (left === "" || right === "") return (left === "") - (right === "");
  const numbers = [Number(left), Number(right)];
  const order = numbers.some(Number.isNaN) ? left.localeCompare(right, "en", { numeric: true }) : numbers[0] - numbers[1];
  return direction === "ascending" ? order : -order;
}

function sortBy(heading) {
  const first = heading.querySelector("button").dataset.first;
  const other = first === "ascending" ? "descending" : "ascending";
  const direction = heading.getAttribute("aria-sort") === first ? other : first;
  for (const one of $$("#board thead th")) one.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", direction);
  const key = (row) => row.cells[heading.cellIndex].dataset.sort;
  rows.sort((one, two) => compared(key(one), key(two), direction));
  $("#board tbody").append(...rows);
}

if (rows.length) {
  for (const heading of $$("#board thead th")) heading.querySelector("button").addEventListener("click", () => sortBy(heading));
  for (const input of $$("form input")) input.addEventListener("input", filter);
  filter();
}
