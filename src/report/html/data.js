// The report's data, and the cells of the matrix under a filter. Must not know the page.
//
// REPORT is the published format, which docs/report.schema.json describes.

/** Reads a part of the page's data: JSON, gzipped, in base64. */
async function unpacked(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

const REPORT = await unpacked("report");
const STATUSES = REPORT.legend.statuses.map(({ status }) => status);
/** The meaning of each kind of verdict: its status, `decided`, and `holds`. */
const KINDS = Object.fromEntries(REPORT.legend.kinds.map((one) => [one.kind, { ...one, rank: STATUSES.indexOf(one.status) }]));
const PASSED = STATUSES.indexOf("passed");
const OBSERVED = STATUSES.indexOf("observed");
const NOT_ASKED = STATUSES.indexOf("not asked");
const NOT_ADOPTED = STATUSES.indexOf("not adopted");
const CONFORMANCE = REPORT.view === "conformance";
/** In the conformance view, known failures are failures, and a check that is listed without need holds. */
for (const result of CONFORMANCE ? REPORT.tests : []) {
  for (const check of result.checks) {
    if (check.kind === "known") Object.assign(check, { kind: check.excuses ?? "fail", excuses: undefined });
    else if (check.kind === "stale") check.kind = "pass";
  }
  if (result.checks.length) result.status = STATUSES[Math.max(...result.checks.map(({ kind }) => KINDS[kind].rank))];
}

const TARGETS = REPORT.targets;

/** The tests of all targets, each once. Two tests with one name and different titles are two tests. */
const TESTS = [];
const places = new Map();
for (const result of REPORT.tests) {
  const name = `${result.test} ${result.title}`;
  if (!places.has(name)) {
    const [path, how] = result.test.split("@");
    places.set(name, TESTS.length);
    TESTS.push({ ...result, path, how, revision: how.split("+")[0], folder: path.split("/")[0] });
  }
  result.place = places.get(name);
}
const RESULTS = TARGETS.map(() => []);
for (const result of REPORT.tests) RESULTS[result.target].push(result);

const FOLDERS = [...new Set([...REPORT.requirements, ...TESTS].map(({ folder }) => folder))].sort();
/** A row for each requirement, and one for each folder with tests that judge nothing. */
const ROWS = [
  ...REPORT.requirements.map((one) => ({ ...one, quote: one.quote ?? "", url: one.url ?? "", roles: one.roles.join(" and ") })),
  ...FOLDERS.map((folder) => ({ id: `${folder}/observed`, folder, level: "", quote: "", unjudged: true })),
];
const LEVELS = [...new Set(REPORT.requirements.map((one) => one.level))];
const REVISIONS = [...new Set(TESTS.map(({ revision }) => revision))].sort();

/** The marks of cells: the statuses from the least to the most grave, and between them the results of a MAY. */
const GLYPHS = {
  none: "",
  "not asked": "–",
  observed: "○",
  "not adopted": "◌",
  passed: "✓",
  taken: "◆",
  partly: "◈",
  "not-taken": "◇",
  "left to the author": "✎",
  known: "≈",
  noted: "i",
  warned: "△",
  cannot: "∅",
  flaky: "↻",
  inconclusive: "?",
  failed: "✕",
  error: "!",
};
const LABELS = { none: "not tested", taken: "option taken", partly: "option taken in part", "not-taken": "option not taken" };
const MEANINGS = Object.fromEntries(REPORT.legend.statuses.map(({ status, meaning }) => [status, meaning]));
const SHOWN = Object.keys(GLYPHS).filter((mark) => mark !== "none" && !(CONFORMANCE && mark === "known"));
const labelOf = (mark) => LABELS[mark] ?? mark;

/** The class of a mark: its name without spaces. */
const classOf = (mark) => mark.replaceAll(" ", "-");

/** Returns whether a status, by its place in their order, is not a pass, not a mere observation, and was asked. */
const isFinding = (rank) => ![PASSED, OBSERVED, NOT_ASKED, NOT_ADOPTED].includes(rank);

/** Returns whether a status is that of a check that fails, and that nobody else has to care for. */
const isViolation = (rank) => ["known", "noted", "warned", "flaky", "inconclusive", "failed", "error"].includes(STATUSES[rank]);

/** The harms from the worst to none, the levels after them, and the order of a row by both. */
const HARMS = ["ssrf", "data-loss", "crash", "dos", "silent-acceptance", "interop", "none"];
const LEVEL_ORDER = ["MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "DERIVED", "MAY"];
function gravity(row) {
  const { harm, level } = ROWS[row];
  const place = HARMS.indexOf(harm);
  return (place < 0 ? HARMS.length : place) * LEVEL_ORDER.length + (LEVEL_ORDER.indexOf(level) >> 1);
}

/** The row of a test that judges nothing. */
const unjudgedRow = ({ place }) => REPORT.requirements.length + FOLDERS.indexOf(TESTS[place].folder);

/** The cells of the matrix, counted over the tests that pass the filter. */
function cells(passes) {
  const size = ROWS.length * TARGETS.length;
  const found = { worst: new Int8Array(size).fill(-1) };
  for (const name of ["checks", "bad", "asked", "held", "decided", "taken", "open"]) found[name] = new Uint32Array(size);
  const add = (row, target, rank) => {
    const cell = row * TARGETS.length + target;
    found.checks[cell] += 1;
    if (rank > found.worst[cell]) found.worst[cell] = rank;
    if (isFinding(rank)) found.bad[cell] += 1;
    return cell;
  };
  for (const result of REPORT.tests) {
    const { target, place, checks } = result;
    const row = unjudgedRow(result);
    if (!checks.length && passes(place, row)) add(row, target, STATUSES.indexOf(result.status));
    for (const { requirement, kind } of checks) {
      if (!passes(place, requirement)) continue;
      const { rank, holds, decided } = KINDS[kind];
      const cell = add(requirement, target, rank);
      if (holds !== null) found.asked[cell] += 1;
      if (holds) found.held[cell] += 1;
      if (decided) found.decided[cell] += 1;
      if (kind === "taken") found.taken[cell] += 1;
      if (kind === "not-taken") found.open[cell] += 1;
    }
  }
  return found;
}

/** The name of a cell's mark. */
function markOf(found, cell) {
  const worst = found.worst[cell];
  if (worst < 0) return "none";
  if (worst !== PASSED) return STATUSES[worst];
  if (found.taken[cell] + found.open[cell] < found.checks[cell]) return "passed";
  if (found.open[cell] === 0) return "taken";
  return found.taken[cell] === 0 ? "not-taken" : "partly";
}

/** The label of a cell for readers. */
function cellLabel(found, cell) {
  const label = labelOf(markOf(found, cell));
  const [bad, checks] = [found.bad[cell], found.checks[cell]];
  if (!checks) return label;
  return bad ? `${label}, ${bad} of ${count(checks, "check")}` : `${label}, ${count(checks, "check")}`;
}

/** The results of one cell, the gravest first; each check knows its place in its test. */
function resultsOf(row, target, passes) {
  const found = [];
  for (const result of RESULTS[target]) {
    if (!passes(result.place, row)) continue;
    const checks = result.checks.map((check, index) => ({ ...check, index })).filter(({ requirement }) => requirement === row);
    const unjudged = result.checks.length === 0 && unjudgedRow(result) === row;
    if (!checks.length && !unjudged) continue;
    const rank = unjudged ? STATUSES.indexOf(result.status) : Math.max(...checks.map(({ kind }) => KINDS[kind].rank));
    found.push({ ...result, checks, rank });
  }
  return found.sort((a, b) => b.rank - a.rank || a.place - b.place);
}

/** The column before this one, if it is an earlier version of the same target. */
const earlier = (target) => (target > 0 && TARGETS[target - 1].id === TARGETS[target].id ? target - 1 : undefined);

/** Compares a target with its version before: 1 for better, -1 for worse, 0 for equal or unknown. */
function trend(found, row, target) {
  const before = earlier(target);
  if (before === undefined) return 0;
  const [now, then] = [target, before].map((column) => found.worst[row * TARGETS.length + column]);
  return now <= NOT_ASKED || then <= NOT_ASKED ? 0 : Math.sign(then - now);
}

let evidence;
/** The evidence by target and test, and the number of tests of which there was no room for it. */
function evidenceParts() {
  evidence ??= unpacked("evidence").then(({ left_out, tests }) => ({
    leftOut: left_out,
    tests: new Map(tests.map((one) => [`${one.target} ${one.test}`, one])),
  }));
  return evidence;
}
