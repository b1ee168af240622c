// The opening picture: capabilities and targets. The table is part of the page; here its cells become buttons, which open
// the evidence of an answer.

const CAPABILITIES = (REPORT.capabilities ?? []).flatMap((group) => group.capabilities.map((row) => ({ ...row, group: group.title })));

/** An answer in words, with the numbers of a partial one. */
function answerOf(row, target) {
  const { answer, held, decided } = row.answers[target];
  if (answer === "right") return row.right;
  if (answer === "wrong") return row.right === "yes" ? "no" : "yes";
  return answer === "partly" ? `partly (${held} of ${decided})` : answer;
}

/** The mark and the class of each answer; an option that is not taken is no fault. */
const ANSWERS = {
  right: { glyph: "✓", title: "As expected" },
  partly: { glyph: "◐", title: "In part" },
  wrong: { glyph: "✗", title: "Not as expected" },
  "left to the author": { glyph: "✎", title: "Left to the author", class: "author" },
  "cannot be expressed": { glyph: "–", title: "Cannot be expressed by the SDK's public interface", class: "inexpressible" },
  "not asked": { glyph: "·", title: "Not asked", class: "unasked" },
};

const isOption = ({ answer, is_fault }) => (answer === "partly" || answer === "wrong") && !is_fault;

/** The same, and whether all that does not hold is optional. */
const answerWords = (row, target) => answerOf(row, target) + (isOption(row.answers[target]) ? ", optional" : "");

function answerGlyph(cell) {
  const { answer } = cell;
  return el("span", { class: `mark ${isOption(cell) ? "optional" : (ANSWERS[answer].class ?? answer)}`, "aria-hidden": "true" }, ANSWERS[answer].glyph);
}

/** Text in which backticks enclose code. */
const prose = (text) => text.split("`").map((part, at) => (at % 2 ? el("code", {}, part) : part));
const unticked = (text) => plain(text.replaceAll("`", ""));

/** The address of an answer, or of all answers to a question. */
const answerAddress = (...words) => written({ ...read(location.hash), open: { name: "capability", words } });

/** Turns the cells into buttons, and the heads into links. Calls `open` with the id of a capability and a target. */
function enliven(open) {
  const table = document.getElementById("capabilities");
  if (!table) return;
  table.setAttribute("role", "grid");
  const heads = [...table.tHead.rows[0].cells];
  const columns = heads.map((head) => (head.dataset.column ? Number(head.dataset.column) : undefined));
  for (const head of document.querySelectorAll(".overview [data-column]")) headLink(head.cells ? head.cells[0] : head, Number(head.dataset.column));
  for (const line of table.querySelectorAll("[data-capability]")) {
    const row = CAPABILITIES.find(({ id }) => id === line.dataset.capability);
    const question = el("button", { type: "button", tabindex: -1, "aria-label": `${unticked(row.question)} Answers of all targets` });
    question.append(...line.cells[0].childNodes);
    line.cells[0].append(question);
    for (const cell of [...line.cells].slice(1)) {
      const target = columns[cell.cellIndex];
      const label = `${unticked(row.question)} ${plain(TARGETS[target].name)}: ${answerWords(row, target)}`;
      const button = el("button", { type: "button", tabindex: -1, "aria-label": label, "data-answer": `${row.id} ${target}` });
      button.append(...cell.childNodes);
      cell.append(button);
    }
  }
  table.querySelector("td button")?.setAttribute("tabindex", "0");
  table.addEventListener("click", (event) => {
    const cell = event.target.closest("td, tbody th[scope=row]");
    const line = cell?.closest("[data-capability]");
    if (line) open(line.dataset.capability, columns[cell.cellIndex]);
  });
  table.addEventListener("focusin", ({ target }) => {
    if (target.localName !== "button") return;
    for (const one of table.querySelectorAll('button[tabindex="0"]')) one.tabIndex = -1;
    target.tabIndex = 0;
  });
  table.addEventListener("keydown", (event) => step(event, table));
  picker(table, heads);
}

function headLink(head, target) {
  const address = written({ ...read(""), target: [TARGETS[target].name] });
  const made = el("a", { href: address, title: `${plain(TARGETS[target].name)}: what it can and cannot do` });
  const name = head.querySelector("span");
  name.replaceWith(made);
  made.append(name);
}

/** Arrows, Home and End move through the cells that are shown. */
function step(event, table) {
  const cell = event.target.closest("td, th");
  if (event.target.localName !== "button" || event.ctrlKey || event.metaKey || event.altKey) return;
  const isShown = (one) => one.offsetParent !== null && one.querySelector("button");
  const across = [...cell.parentElement.cells].filter(isShown);
  const down = [...table.querySelectorAll("[data-capability]")].map((line) => line.cells[cell.cellIndex]).filter(isShown);
  const at = (list, distance) => list[Math.min(Math.max(list.indexOf(cell) + distance, 0), list.length - 1)];
  const [vertical, horizontal] = STEPS[event.key] ?? [];
  const next = event.key === "Home" ? across[0] : event.key === "End" ? across.at(-1) : vertical ? at(down, vertical) : horizontal ? at(across, horizontal) : undefined;
  if (!next) return;
  event.preventDefault();
  next.querySelector("button").focus();
}

/** A choice of one column, for narrow screens. */
function picker(table, heads) {
  if (heads.length < 4) return;
  const choices = heads.slice(1).map((head) => el("option", { value: head.cellIndex }, plain(TARGETS[Number(head.dataset.column)].name)));
  const select = el("select", {}, el("option", { value: "" }, "all targets"), choices);
  select.addEventListener("change", () => {
    const chosen = Number(select.value);
    table.classList.toggle("one", chosen > 0);
    for (const line of table.rows) {
      for (const cell of [...line.cells].slice(1)) cell.hidden = chosen > 0 && cell.cellIndex !== chosen;
    }
  });
  const section = table.closest(".overview");
  if (!section.querySelector(".controls")) section.querySelector(".scroll").before(el("p", { class: "controls" }));
  section.querySelector(".controls").append(el("label", { class: "toggle" }, "Show", select));
}

/** The results that decide a capability for a target, those that do not hold first, by requirement. */
function decidingResults(row, target) {
  const deciders = new Map();
  for (const one of row.decided_by) deciders.set(one.requirement, [...(deciders.get(one.requirement) ?? []), one.tests ?? []]);
  const decides = (check, path) => {
    const lists = deciders.get(ROWS[check.requirement].id);
    return lists?.some((tests) => !tests.length || tests.some((one) => path === one || path.startsWith(`${one}/`)));
  };
  const found = new Map();
  for (const result of RESULTS[target]) {
    if (result.role && result.role !== row.role) continue;
    const { path } = TESTS[result.place];
    const checks = result.checks.map((check, index) => ({ ...check, index })).filter((check) => decides(check, path));
    for (const requirement of new Set(checks.map((check) => check.requirement))) {
      const own = checks.filter((check) => check.requirement === requirement);
      const rank = Math.max(...own.map(({ kind }) => KINDS[kind].rank));
      const fails = isFinding(rank) || own.some(({ kind }) => kind === "not-taken");
      found.set(requirement, [...(found.get(requirement) ?? []), { ...result, checks: own, rank, fails }]);
    }
  }
  const parts = [...found].map(([requirement, results]) => {
    results.sort((a, b) => b.fails - a.fails || b.rank - a.rank || a.place - b.place);
    return { requirement, results, fails: results.filter((one) => one.fails).length };
  });
  const isViolated = ({ results }) => results.some((one) => isViolation(one.rank));
  return parts.sort((a, b) => isViolated(b) - isViolated(a) || !!b.fails - !!a.fails || gravity(a.requirement) - gravity(b.requirement));
}

/** Fills the dialog with the evidence of one answer. */
function showAnswer(dialog, row, target) {
  const cell = row.answers[target];
  const one = TARGETS[target];
  const parts = decidingResults(row, target);
  const first = parts[0]?.results[0];
  const expected = `${cell.held} of ${count(cell.decided, "check")} hold. The expected answer is “${row.right}”.`;
  const others = [cell.author > 0 && `${cell.author} left to the author`, cell.cannot > 0 && `${cell.cannot} cannot be expressed`].filter(Boolean);
  const all = el("p", { class: "harm" }, el("a", { href: answerAddress(row.id) }, "Answers of all targets"), " · ", el("a", { href: written({ ...read(""), target: [one.name] }) }, "All of this target"));
  const numbers = el("p", {}, cell.decided ? expected : "", others.length ? ` ${others.join(", ")}.` : "");
  const body = el("div", { class: "evidence" }, numbers, parts.length === 0 && unaskedReasons(one), all, parts.map((part) => decidingPart(part, first)));
  const whose = el("p", { class: "whose" }, el("bdi", {}, one.id), one.version && [" · ", el("bdi", {}, one.version)], " · ", el("b", {}, answerWords(row, target)));
  dialog.replaceChildren(dialogHead(answerGlyph(cell), prose(row.question), whose), body);
  return dialog.querySelector("details[open]");
}

/** The reasons why a target was not asked. */
function unaskedReasons({ skipped }) {
  const reasons = skipped.map(({ text, tests }) => el("li", {}, `${text} (${count(tests, "test")})`));
  return [el("p", {}, "No test of this question was run on this target."), reasons.length > 0 && [el("p", { class: "note" }, "Tests of other questions, and perhaps of this one, were skipped:"), el("ul", {}, reasons)]];
}

function decidingPart({ requirement, results, fails }, first) {
  const loud = results.filter((one) => one.fails);
  const calm = results.filter((one) => !one.fails);
  const name = el("h3", { class: "sentence-name" }, el("bdi", {}, ROWS[requirement].id), fails ? `: ${fails} of ${count(results.length, "test")} do not hold` : "");
  return el("section", { class: "deciding" }, name, about(requirement), loud.length ? [listed(loud, first), folded(calm)] : folded(calm));
}

/** Fills the dialog with the answers of all targets to one question. */
function showQuestion(dialog, row) {
  const answers = TARGETS.map((one, target) => {
    if (row.answers[target].answer === "not asked") return null;
    const label = [answerGlyph(row.answers[target]), el("bdi", {}, one.name), el("b", {}, answerWords(row, target))];
    return el("li", {}, label[0], " ", el("a", { href: answerAddress(row.id, one.name) }, label[1]), " ", label[2]);
  });
  const silent = TARGETS.filter((_, target) => row.answers[target].answer === "not asked").map((one) => one.name);
  const sentences = [...new Set(row.requirements)].map((id) => ROWS.findIndex((one) => one.id === id)).filter((at) => at >= 0);
  const body = el(
    "div",
    { class: "evidence" },
    el("p", {}, `The expected answer is “${row.right}”.`),
    el("ul", { class: "answers" }, answers),
    silent.length > 0 && el("p", { class: "note" }, `Not asked: ${silent.join(", ")}.`),
    sentences.length > 0 && el("h3", {}, "The sentences that decide it"),
    sentences.sort((a, b) => gravity(a) - gravity(b)).map(about),
  );
  const whose = el("p", { class: "whose" }, `${row.group} · asked of ${row.role}s`);
  dialog.replaceChildren(dialogHead(null, prose(row.question), whose), body);
}
