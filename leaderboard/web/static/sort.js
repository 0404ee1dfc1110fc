// Tables of the class `sortable`: a click on a heading sorts by its column, another one the other way round. Long ones
// and those with `data-filter` have a field that leaves only the rows with its words.
"use strict";

function keyOf(row, column) {
  const text = row.cells[column].textContent.trim();
  const number = Number.parseFloat(text.replace("+", ""));
  return text !== "" && !Number.isNaN(number) && /^[+-]?[\d.]/.test(text) ? number : text.toLowerCase();
}

function compare(one, other) {
  if (typeof one === "number" && typeof other === "number") return one - other;
  if (typeof one === typeof other) return one < other ? -1 : one > other ? 1 : 0;
  return typeof one === "number" ? -1 : 1;
}

function sortBy(table, column) {
  const heads = [...table.tHead.rows[0].cells];
  const direction = heads[column].getAttribute("aria-sort") === "ascending" ? -1 : 1;
  heads.forEach((head) => head.removeAttribute("aria-sort"));
  heads[column].setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
  const body = table.tBodies[0];
  const keyed = [...body.rows].map((row) => [keyOf(row, column), row]);
  keyed.sort((one, other) => direction * compare(one[0], other[0]));
  body.append(...keyed.map(([, row]) => row));
}

const LONG = 12;

function addFilter(table) {
  const label = document.createElement("label");
  label.className = "filter";
  const field = document.createElement("input");
  field.type = "search";
  label.append("Filter ", field);
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(" ");
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
  (table.closest(".scroll") ?? table).before(label);
}

function makeSortable() {
  for (const table of document.querySelectorAll("table.sortable:not([data-ready])")) {
    table.dataset.ready = "yes";
    if (table.tBodies[0].rows.length >= LONG || "filter" in table.dataset) addFilter(table);
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sortBy(table, column));
      head.append(button);
    });
  }
}

makeSortable();
document.addEventListener("renewed", makeSortable);
