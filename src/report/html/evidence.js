// The evidence of a cell: a dialog with the requirement, and for each of its tests the expectation, the observation, the
// verdict and the command that runs it again.

/** Fills the dialog with a cell. `wanted` is a check to be shown: its test, and which of its checks. */
function showCell(dialog, row, target, passes, wanted) {
  const results = resultsOf(row, target, passes);
  const found = wanted && results.find((result) => result.test === wanted.test);
  const first = found ?? results.find((result) => isFinding(result.rank)) ?? results[0];
  const loud = results.filter((result) => isFinding(result.rank) || result === found);
  const calm = results.filter((result) => !loud.includes(result));
  const body = el("div", { class: "evidence" }, about(row), listed(loud, first), loud.length ? folded(calm) : listed(calm, first));
  dialog.replaceChildren(title(row, target, results), body);
  dialog.setAttribute("aria-labelledby", "evidence-title");
  return dialog.querySelector("details[open]");
}

function title(row, target, results) {
  const one = TARGETS[target];
  const worst = results.length ? STATUSES[results[0].rank] : "none";
  const name = ROWS[row].unjudged ? `${ROWS[row].folder}: observed, not judged` : ROWS[row].id;
  const whose = el("p", { class: "whose" }, one.title ?? one.id, " · ", el("bdi", {}, one.id), one.version && [" · ", el("bdi", {}, one.version)], ` · ${labelOf(worst)}`);
  return dialogHead(glyph(worst), name, whose);
}

/** The head of the dialog: a mark with a title, and a line below. */
function dialogHead(mark, name, whose) {
  const heading = el("h2", { id: "evidence-title" }, mark, el("span", {}, name));
  const close = el("button", { type: "button", class: "close", "aria-label": "Close the evidence", click: (event) => event.target.closest("dialog").close() }, "✕");
  return el("header", {}, el("div", {}, heading, whose), close);
}

/** The requirement with its link, and the harm of a violation. */
function about(row) {
  const one = ROWS[row];
  if (one.unjudged) return el("p", { class: "harm" }, "No requirement judges these tests. Their observations are recorded and compared from run to run.");
  const source = el("cite", {}, el("span", { class: "level" }, one.level), " · ", one.roles, " · ", link(one.url));
  return el("section", { class: "sentence" }, el("blockquote", {}, one.quote), source, one.why && el("p", { class: "harm" }, one.why));
}

const PAGE = 50;

/** Tests as a list; a long one grows when asked to. */
function listed(results, first) {
  const list = el("div", { class: "tests" });
  const more = (from) => {
    list.append(...results.slice(from, from + PAGE).map((result) => test(result, result === first)));
    const left = results.length - from - PAGE;
    if (left <= 0) return;
    const button = el("button", { type: "button" }, `${count(left, "test")} more`);
    button.addEventListener("click", () => {
      button.remove();
      more(from + PAGE);
    });
    list.append(button);
  };
  more(0);
  const at = results.indexOf(first);
  if (at >= PAGE) list.prepend(test(first, true));
  return list;
}

/** The tests without a finding, which are drawn when they are opened. */
function folded(results) {
  if (!results.length) return null;
  const made = el("details", { class: "calm" }, el("summary", {}, `${count(results.length, "test")} without a finding`));
  made.addEventListener("toggle", () => made.open && !made.querySelector(".tests") && made.append(listed(results)));
  return made;
}

/** One test, which is drawn when it is opened. */
function test(result, open) {
  const status = result.rank === PASSED && result.checks.some(({ kind }) => kind === "not-taken") ? "not-taken" : STATUSES[result.rank];
  const { path, how, title } = TESTS[result.place];
  const summary = el(
    "summary",
    {},
    el("span", { class: `mark ${classOf(status)}`, role: "img", "aria-label": labelOf(status) }, GLYPHS[status]),
    el("span", { class: "test-name" }, el("bdi", {}, path), el("small", {}, how)),
    el("small", { class: "time" }, duration(result.micros)),
  );
  const made = el("details", { class: "test", "data-test": result.test }, summary);
  const draw = () => {
    if (!made.open || made.childElementCount > 1) return;
    made.append(el("p", { class: "title" }, title), ...result.checks.map((check) => checkOf(check, result)), ...proof(result), drawer("Run this test again", command(result)));
  };
  made.addEventListener("toggle", draw);
  made.open = open;
  if (open) draw();
  return made;
}

/** The command that runs one test of a target. */
function command({ target, test }) {
  const quoted = (text) => (/^[\w./:@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  return `casebook run ${quoted(TARGETS[target].id)} --only ${quoted(test)}`;
}

/** Labels of verdicts that are more precise than their status. */
const WORDS = {
  allowed: "passed: a MAY allows it",
  taken: "option taken",
  "not-taken": "option not taken",
  adopted: "does what the proposal demands",
  stale: "passes, but is listed as a known failure",
};

/** One check with its verdict and its reasons; it has an address of its own. */
function checkOf(check, result) {
  const { kind, excuses } = check;
  const { status } = KINDS[kind];
  const words = [TARGETS[result.target].name, result.test, check.index, ROWS[check.requirement].id];
  const where = el("small", {}, `${result.file}:${check.line} · step ${check.step + 1}`);
  const anchor = el("a", { href: written({ ...read(location.hash), open: { name: "check", words: words.map(String) } }), class: "anchor", "aria-label": "Link to this check" }, "#");
  const said = WORDS[kind] ?? status;
  return el(
    "section",
    { class: `check ${classOf(status)}`, "data-check": check.index },
    el("p", { class: "verdict" }, glyph(Object.hasOwn(GLYPHS, kind) ? kind : status), el("b", {}, said), excuses && el("small", {}, `without the entry in target.toml: ${excuses}`), where, anchor),
    (check.detail ?? []).map(detail),
    check.reason && el("p", { class: "reason" }, check.url ? "Left to the author: " : CONFORMANCE ? "Reason in target.toml: " : "Known failure: ", check.reason, [check.issue, check.url].filter(Boolean).map((address) => [" · ", link(address)])),
  );
}

/** One reason of a verdict: the expected and the observed value, where it has both. */
function detail({ text, alternative, finding }) {
  if (!finding.mismatch) return el("p", { class: "detail" }, text);
  const { place, expected, observed } = finding.mismatch;
  const row = (name, value) => [el("dt", {}, name), el("dd", {}, value)];
  const heading = el("dt", { class: "what" }, alternative && `${alternative}: `, place);
  return el("dl", { class: "detail" }, heading, row("expected", expected), row("observed", observed));
}

/** The evidence of a test: fixture, observation, messages and standard error. */
function proof(result) {
  const kept = EVIDENCE.tests.get(`${result.target} ${result.test}`);
  if (!kept) return [el("p", { class: "absent" }, absent())];
  const { opening = [], steps, served, stderr } = kept.transcript;
  const parts = steps.map((step, at) => ({ title: `Step ${at + 1}`, messages: step.messages, notes: notes(step) }));
  if (opening.length) parts.unshift({ title: "Handshake", messages: opening, notes: [] });
  const refusal = sentence(SERVED, served);
  return [
    kept.is_cut && el("p", { class: "absent" }, "Long texts are cut here; the file .wire.jsonl beside the run log has more of them."),
    refusal && el("p", { class: "detail" }, refusal),
    ...parts.map((part) => el("section", { class: "step" }, el("h3", {}, part.title), el("ol", { class: "wire" }, part.messages.map(message)), part.notes.map((note) => el("p", { class: "note" }, note)))),
    drawer("Observation", kept.observation && layout(kept.observation)),
    drawer("Fixture", kept.fixture && layout(kept.fixture)),
    drawer("Standard error", stderr, true),
  ].filter(Boolean);
}

/** The reasons why a fixture is not served. */
const SERVED = {
  refused: ({ type, message }) => `The SDK refused to build the fixture: ${type}: ${message}`,
  cannot: ({ reason }) => `The adapter cannot express the fixture: ${reason}`,
  failed: ({ detail }) => `The target failed while it built the fixture: ${detail}`,
  broken: ({ reason }) => `casebook failed: ${reason}`,
  unavailable: ({ reason }) => `The target was given up: ${reason}`,
};

/** The ends of a step that no message shows. */
const ENDS = {
  unanswered: () => "The server sent more elicitation requests than the case answers.",
  empty: () => "The reply ended without a JSON-RPC response.",
  http: ({ status }) => `HTTP ${status}, without a JSON-RPC message.`,
  invalid: ({ reason }) => `Not a valid message: ${reason}`,
  oversized: () => "The reply is longer than casebook reads.",
  timeout: () => "No response came within the time limit.",
  crash: ({ how }) => `The process ended or the connection was closed: ${how}`,
};
const PHASES = { serve: "while the fixture was built", connect: "while the connection was made", step: "during a step" };

/** The sentence for a word of a transcript, or for an object with that word as its only member. */
function sentence(sentences, value) {
  const [word, data] = typeof value === "string" ? [value] : Object.entries(value)[0];
  return Object.hasOwn(sentences, word) ? sentences[word](data) : undefined;
}

/** The end of a step, the addresses that the target fetched, and the result that a client returned to its user. */
function notes({ end, canary, handed }) {
  const fetched = canary.slice(0, 20).map(({ url, phase }) => `Fetched ${PHASES[phase]}: ${url}`);
  return [sentence(ENDS, end), ...fetched, handed && `The client returned to its user: ${handed}`].filter(Boolean);
}

/** The reason why the page has no evidence of a test. */
function absent() {
  const others = EVIDENCE.leftOut ? `, and of ${EVIDENCE.leftOut.toLocaleString("en")} others, for which it has no room` : "";
  return `This page leaves out the messages of passed tests${others}. They are in the file .wire.jsonl beside the run log; \`casebook explain\` describes the test.`;
}

/** A part that can be opened; `null` without a text. */
function drawer(label, text, open = false) {
  return text ? el("details", { class: "drawer", open }, el("summary", {}, label), block(label, text)) : null;
}

/** One message: its sender, time, status, headers and text. */
function message({ from, at, text, status, headers = [], cut_from: whole }) {
  const who = from === "harness" ? "casebook" : "target";
  const line = el("p", { class: "by" }, el("b", {}, who === "target" ? "← target" : "→ casebook"), status && el("span", {}, `HTTP ${status}`), el("time", {}, duration(at)));
  const lines = headers.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]);
  const folded = lines.length > 0 && el("details", { class: "headers" }, el("summary", {}, count(headers.length, "header")), el("dl", {}, lines));
  const body = text ? block(`Message of the ${who}`, layout(text)) : el("p", { class: "absent" }, "without a body");
  const cut = whole && el("p", { class: "absent" }, `The first ${text.length.toLocaleString("en")} of ${whole.toLocaleString("en")} bytes.`);
  return el("li", { class: who }, line, folded, body, cut);
}
