// A table whose headings' buttons sort it by the cells' data-sort: numbers or texts, and what has none last.

function compared(left, right, direction) {
  if (left === "" || right === "") return (left === "") - (right === "");
  const numbers = [Number(left), Number(right)];
  const order = numbers.some(Number.isNaN) ? left.localeCompare(right, "en", { numeric: true }) : numbers[0] - numbers[1];
  return direction === "ascending" ? order : -order;
}

function sortable(table) {
  const headings = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const sortBy = (heading) => {
    const first = heading.querySelector("button").dataset.first;
    const other = first === "ascending" ? "descending" : "ascending";
    const direction = heading.getAttribute("aria-sort") === first ? other : first;
    for (const one of headings) one.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", direction);
    const key = (row) => row.cells[heading.cellIndex].dataset.sort;
    body.append(...[...body.rows].sort((one, two) => compared(key(one), key(two), direction)));
  };
  for (const heading of headings) heading.querySelector("button").addEventListener("click", () => sortBy(heading));
}
