// The page: the section of targets, the filter and the matrix, which follow the address bar, and the dialog with evidence.

const dialog = el("dialog");
const said = el("output", { id: "count", "aria-live": "polite", role: "status" });
const holder = el("div", { id: "matrix" });
const chosen = el("div");
let state = read(location.hash);
let filter = compile(state);
let latest;
let EVIDENCE;
/** The link that opened the dialog, if it is in the page. */
let opener;

/** Puts a state into the address bar. With `step`, the browser's history gets an entry. */
function go(next, step = false) {
  state = { ...state, ...next };
  const hash = written(state);
  if (hash === "#" ? location.hash : hash !== location.hash) history[step ? "pushState" : "replaceState"](null, "", hash === "#" ? location.pathname + location.search : hash);
}

function draw() {
  filter = compile(state);
  drawTargets();
  showVariants();
  const { table, shown } = matrix(filter);
  holder.replaceChildren(table);
  fit();
  holder.hidden = shown.rows === 0 && !table.querySelector("tbody");
  said.textContent = table.querySelector("tbody")
    ? `${count(shown.rows, "requirement")} × ${count(shown.columns, "target")}, ${count(shown.cells, "cell")}`
    : "Nothing matches this filter.";
}

/** Shows all variants, or one of each target, as the state has it. */
function showVariants() {
  const box = document.getElementById("variants");
  if (box) box.checked = state.variants;
}

/** Draws the section of the chosen targets, if they are others than before. */
function drawTargets() {
  const names = state.target.join();
  if (chosen.dataset.names === names) return;
  chosen.dataset.names = names;
  chosen.replaceChildren(targetSection(state.target) ?? "");
}

/** Takes a change in the form; while the user types, drawing waits for a pause. */
function changed(next) {
  const typed = next.q !== state.q;
  go(next);
  fill(filters, state);
  clearTimeout(latest);
  latest = setTimeout(draw, typed ? 120 : 0);
}

/** Opens the cell or check that the state names, if there is one. */
async function open() {
  if (state.open) EVIDENCE = await evidenceParts();
  const { name, words = [] } = state.open ?? {};
  if (name === "capability") return openAnswer(...words);
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

/** Opens the answer to a question: that of one target, or all. */
function openAnswer(id, name) {
  const row = CAPABILITIES.find((one) => one.id === id);
  const target = TARGETS.findIndex((one) => one.name === name);
  if (!row || (name !== undefined && target < 0)) return dialog.close();
  if (name === undefined) showQuestion(dialog, row);
  else showAnswer(dialog, row, target);
  if (!dialog.open) dialog.showModal();
  dialog.scrollTo(0, 0);
}

/** Opens the evidence of a cell. */
function openCell(cell) {
  const number = Number(cell.dataset.cell);
  const [row, target] = [Math.floor(number / TARGETS.length), number % TARGETS.length];
  opener = cell;
  go({ open: { name: "cell", words: [ROWS[row].id, TARGETS[target].name] } }, true);
  open();
}

/** Returns the focus to the cell of the evidence, also where an address opened the dialog. */
function closed() {
  const { name, words } = state.open ?? {};
  go({ open: undefined });
  if (!name) return;
  if (opener?.isConnected) return opener.focus();
  if (name === "capability") {
    const target = TARGETS.findIndex((one) => one.name === words[1]);
    return document.querySelector(`#capabilities [data-answer="${CSS.escape(`${words[0]} ${target}`)}"]`)?.focus();
  }
  const [row, target] = name === "cell" ? words : [words[3], words[0]];
  const cell = ROWS.findIndex((one) => one.id === row) * TARGETS.length + TARGETS.findIndex((one) => one.name === target);
  holder.querySelector(`td[data-cell="${cell}"]`)?.focus();
}

/** Follows an address. One that names other targets leads to their section. */
function arrived() {
  const before = state;
  state = read(location.hash);
  if (state.open && !before.open) opener = document.activeElement?.closest("a, button, td");
  fill(filters, state);
  if (written({ ...before, open: undefined }) !== written({ ...state, open: undefined })) draw();
  if (!state.open && before.target.join() !== state.target.join()) toTargets();
  open();
}

function toTargets() {
  const heading = document.getElementById("target-title");
  if (dialog.open) dialog.close();
  heading?.scrollIntoView();
  heading?.focus({ preventScroll: true });
}

const filters = form(changed);
dialog.addEventListener("close", closed);
dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
window.addEventListener("hashchange", arrived);
window.addEventListener("popstate", arrived);
operate(holder, openCell);
document.getElementById("variants")?.addEventListener("change", ({ target }) => {
  go({ variants: target.checked });
  draw();
});
enliven((id, target) => {
  opener = document.activeElement;
  go({ open: { name: "capability", words: target === undefined ? [id] : [id, TARGETS[target].name] } }, true);
  open();
});
const fit = keepFitting(holder);
document.querySelector("main").append(
  chosen,
  el("section", { "aria-labelledby": "requirements" }, el("h2", { id: "requirements" }, "Requirements of the specification"), filters, said, holder),
  el("ul", { class: "legend", "aria-label": "Marks" }, SHOWN.map((name) => el("li", {}, glyph(name), labelOf(name), MEANINGS[name] && `: ${MEANINGS[name]}`))),
  dialog,
);
fill(filters, state);
draw();
performance.mark("drawn");
await open();
if (!state.open && state.target.length) document.getElementById("target-title")?.scrollIntoView();
document.documentElement.dataset.ready = "";
