"use strict";
const body = document.querySelector("#table tbody"), rows = [...body.rows];
const search = document.getElementById("search"), status = document.getElementById("status");
const shown = document.getElementById("shown"), buttons = [...document.querySelectorAll("[data-rule]")];
const texts = rows.map((row) => row.textContent.toLowerCase());
const more = document.getElementById("more"), FEW = 200;
let order = rows.map((_, at) => at), rule = "", all = false;
function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  order.forEach((at) => {
    const row = rows[at];
    const fits = (!status.value || row.dataset.s === status.value)
      && (!rule || (row.dataset.r || "").split(" ").includes(rule))
      && words.every((word) => texts[at].includes(word));
    count += fits;
    row.hidden = !fits || (!all && count > FEW); // a browser takes long to lay out thousands of rows
  });
  more.hidden = all || count <= FEW;
  shown.value = count + " / " + rows.length;
  buttons.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.rule === rule)));
}
const heads = [...document.querySelectorAll("#table thead th")];
heads.forEach((head, column) => head.querySelector("button")?.addEventListener("click", () => {
  const down = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  heads.forEach((other) => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", down > 0 ? "ascending" : "descending");
  const numbers = head.classList.contains("number");
  const compare = new Intl.Collator(undefined, { numeric: true }).compare;
  const keyed = rows.map((row, at) => [row.cells[column].textContent, at]);
  keyed.sort(([a], [b]) => {
    if (!a || !b) return (a ? 0 : 1) - (b ? 0 : 1);
    return down * (numbers ? a - b : compare(a, b));
  });
  order = keyed.map(([, at]) => at);
  rows.forEach((row) => { row.hidden = true; });
  body.append(...order.map((at) => rows[at]));
  filter();
}));
more.addEventListener("click", () => { all = true; filter(); });
search.addEventListener("input", filter);
status.addEventListener("change", filter);
buttons.forEach((button) => button.addEventListener("click", () => {
  rule = rule === button.dataset.rule ? "" : button.dataset.rule;
  filter();
  document.getElementById("students").scrollIntoView();
}));
document.getElementById("clear").addEventListener("click", () => {
  search.value = status.value = rule = "";
  filter();
});
filter();
