// The filter: what the address bar says, what the form shows, and what that lets through.

/** The facets: each a set of chosen values, and none chosen means all. */
const FACETS = {
  target: { label: "Targets", values: TARGETS.map((one) => one.name) },
  area: { label: "SEPs and areas", values: FOLDERS },
  level: { label: "Levels", values: LEVELS },
  revision: { label: "Revisions", values: REVISIONS },
  verdict: { label: "Verdicts", values: SHOWN, show: labelOf },
};
/** The targets that are shown on demand only, as the page's tables mark them. */
const VARIANTS = new Set([...document.querySelectorAll("tr.variant[data-column]")].map((line) => Number(line.dataset.column)));
const HISTORY = TARGETS.some((_, target) => earlier(target) !== undefined);

/** Text for the address bar, in which names stay readable. */
const escaped = (text) => encodeURIComponent(text).replace(/%(2F|3A|40|2B)/g, decodeURIComponent);

function unescaped(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The filter and what is open, as the address bar has them. */
function read(hash) {
  const state = { q: "", changed: false, variants: false, open: undefined };
  for (const name of Object.keys(FACETS)) state[name] = [];
  for (const part of hash.replace(/^#/, "").split("&")) {
    const [name, value = ""] = [part.split("=")[0], part.slice(part.indexOf("=") + 1)];
    const words = value.split(",").map(unescaped);
    if (Object.hasOwn(FACETS, name)) state[name] = words.filter((word) => FACETS[name].values.includes(word));
    else if (name === "q") state.q = unescaped(value);
    else if (name === "changed") state.changed = HISTORY;
    else if (name === "variants") state.variants = VARIANTS.size > 0;
    else if (name === "cell" || name === "check" || name === "capability") state.open = { name, words };
  }
  return state;
}

/** The same as a hash; the other way round than `read`. */
function written(state) {
  const parts = Object.keys(FACETS)
    .filter((name) => state[name].length)
    .map((name) => `${name}=${state[name].map(escaped).join(",")}`);
  if (state.q) parts.push(`q=${escaped(state.q)}`);
  if (state.changed) parts.push("changed=1");
  if (state.variants) parts.push("variants=1");
  if (state.open) parts.push(`${state.open.name}=${state.open.words.map(escaped).join(",")}`);
  return `#${parts.join("&")}`;
}

/** Which tests, rows, columns and marks a filter lets through. */
function compile(state) {
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (text) => words.every((word) => text.includes(word));
  const rows = ROWS.map((row) => has(`${row.id} ${row.quote} ${row.why ?? ""}`.toLowerCase()));
  const spoken = TESTS.map(({ revision }) => !state.revision.length || state.revision.includes(revision));
  const tests = words.length && TESTS.map(({ test, title }) => has(`${test} ${title}`.toLowerCase()));
  const chosen = (name, value) => !state[name].length || state[name].includes(value);
  return {
    test: (test, row) => spoken[test] && (!words.length || rows[row] || tests[test]),
    spoken: (test) => spoken[test],
    row: (row) => chosen("area", ROWS[row].folder) && (ROWS[row].unjudged ? !state.level.length : chosen("level", ROWS[row].level)),
    columns: [...TARGETS.keys()].filter((target) => (state.target.length ? chosen("target", TARGETS[target].name) : state.variants || !VARIANTS.has(target))),
    mark: (mark) => chosen("verdict", mark),
    any: state.verdict.length > 0,
    changed: state.changed,
    text: words.length > 0,
    // What is looked for is never folded.
    folds: !words.length && !state.changed && !state.verdict.length && !state.area.length,
  };
}

/** The form: a facet is a list that opens, with a box a value. Calls back with the new state. */
function form(changed) {
  const made = el("form", { id: "filters", role: "search", "aria-label": "Filter the matrix" });
  const search = el("input", { type: "search", name: "q", placeholder: "Text in a quote, a requirement or a test", "aria-label": "Text" });
  const facets = Object.entries(FACETS).filter(([, facet]) => facet.values.length > 1).map(facetList);
  const toggle = HISTORY && el("label", { class: "toggle" }, el("input", { type: "checkbox", name: "changed" }), "Changed between versions");
  made.append(search, ...facets, toggle || "", el("button", { type: "reset" }, "Clear"));
  const state = () => {
    const data = new FormData(made);
    const chosen = Object.fromEntries(Object.keys(FACETS).map((name) => [name, data.getAll(name)]));
    return { ...chosen, q: data.get("q").trim(), changed: data.has("changed") };
  };
  made.addEventListener("input", () => changed(state()));
  made.addEventListener("submit", (event) => event.preventDefault());
  made.addEventListener("reset", () => setTimeout(() => changed(state())));
  made.addEventListener("keydown", (event) => {
    const open = made.querySelector("details[open]");
    if (event.key !== "Escape" || !open) return;
    open.open = false;
    open.querySelector("summary").focus();
  });
  document.addEventListener("click", (event) => {
    for (const open of made.querySelectorAll("details[open]")) if (!open.contains(event.target)) open.open = false;
  });
  return made;
}

function facetList([name, { label, values, show = String }]) {
  const boxes = values.map((value) =>
    el("label", {}, el("input", { type: "checkbox", name, value }), name === "verdict" && glyph(value), show(value)),
  );
  const legend = el("legend", { class: "spoken" }, label);
  return el("details", { class: "facet", name: "facet" }, el("summary", {}, label, el("b", {})), el("fieldset", {}, legend, boxes));
}

/** Puts a state into the form, and says on each facet how much of it is chosen. */
function fill(made, state) {
  made.q.value !== state.q && (made.q.value = state.q);
  if (made.changed) made.changed.checked = state.changed;
  for (const facet of made.querySelectorAll(".facet")) {
    const boxes = [...facet.querySelectorAll("input")];
    for (const box of boxes) box.checked = state[box.name].includes(box.value);
    const chosen = boxes.filter((box) => box.checked);
    const said = chosen.length === 1 ? plain(FACETS[boxes[0].name].show?.(chosen[0].value) ?? chosen[0].value) : chosen.length || "";
    facet.querySelector("b").textContent = said;
    facet.classList.toggle("chosen", chosen.length > 0);
  }
}
