// The page: the filter and the matrix, kept in step with the address bar, and the dialog over them.

const dialog = el("dialog");
const said = el("output", { id: "count", "aria-live": "polite", role: "status" });
const holder = el("div", { id: "matrix" });
let state = read(location.hash);
let filter = compile(state);
let latest;
let EVIDENCE;

/** Puts a state into the address bar; what is opened gets a step of its own in the history. */
function go(next, step = false) {
  state = { ...state, ...next };
  const hash = written(state);
  if (hash === "#" ? location.hash : hash !== location.hash) history[step ? "pushState" : "replaceState"](null, "", hash === "#" ? location.pathname + location.search : hash);
}

function draw() {
  filter = compile(state);
  const { table, shown } = matrix(filter);
  holder.replaceChildren(table);
  fit();
  holder.hidden = shown.rows === 0 && !table.querySelector("tbody");
  said.textContent = table.querySelector("tbody")
    ? `${count(shown.rows, "requirement")} × ${count(shown.columns, "target")}, ${count(shown.cells, "cell")}`
    : "Nothing matches this filter.";
}

/** A change in the form; typing waits for a breath. */
function changed(next) {
  const typed = next.q !== state.q;
  go(next);
  fill(filters, state);
  clearTimeout(latest);
  latest = setTimeout(draw, typed ? 120 : 0);
}

/** Opens what the state says is open, where there is such a thing. */
async function open() {
  if (state.open) EVIDENCE = await evidenceParts();
  const { name, words = [] } = state.open ?? {};
  const target = TARGETS.findIndex((one) => one.name === words[name === "cell" ? 1 : 0]);
  const row = ROWS.findIndex((one) => one.id === words[name === "cell" ? 0 : 3]);
  if (target < 0 || row < 0) return dialog.close();
  const wanted = name === "check" ? { test: words[1], check: words[2] } : undefined;
  const test = showCell(dialog, row, target, wanted ? () => true : filter.test, wanted);
  if (!dialog.open) dialog.showModal();
  const check = wanted && test?.querySelector(`[data-check="${CSS.escape(wanted.check)}"]`);
  check?.classList.add("wanted");
  check ? check.scrollIntoView({ block: "center" }) : dialog.scrollTo(0, 0);
}

/** From a cell of the grid. */
function openCell(cell) {
  const number = Number(cell.dataset.cell);
  const [row, target] = [Math.floor(number / TARGETS.length), number % TARGETS.length];
  go({ open: { name: "cell", words: [ROWS[row].id, TARGETS[target].name] } }, true);
  open();
}

/** The cell whose evidence was open gets the focus back, also where the dialog was opened by an address. */
function closed() {
  const { name, words } = state.open ?? {};
  go({ open: undefined });
  if (!name) return;
  const [row, target] = name === "cell" ? words : [words[3], words[0]];
  const cell = ROWS.findIndex((one) => one.id === row) * TARGETS.length + TARGETS.findIndex((one) => one.name === target);
  holder.querySelector(`td[data-cell="${cell}"]`)?.focus();
}

function arrived() {
  state = read(location.hash);
  fill(filters, state);
  draw();
  open();
}

const filters = form(changed);
dialog.addEventListener("close", closed);
dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
window.addEventListener("hashchange", arrived);
window.addEventListener("popstate", arrived);
operate(holder, openCell);
const fit = keepFitting(holder);
document.querySelector("main").append(
  el("section", { "aria-label": "Matrix" }, filters, said, holder),
  el("ul", { class: "legend", "aria-label": "Marks" }, SHOWN.map((name) => el("li", {}, glyph(name), labelOf(name), MEANINGS[name] && `: ${MEANINGS[name]}`))),
  dialog,
);
fill(filters, state);
draw();
performance.mark("drawn");
await open();
document.documentElement.dataset.ready = "";
