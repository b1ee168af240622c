// The report's data, and what a filter makes of it. Knows nothing of the page.
//
// `DATA` is what `pack.rs` wrote. The results of a target are one flat list of numbers, a test after the other:
//   test, standing, microseconds, how many checks, and for each check: requirement, step, kind, line.

const DATA = JSON.parse(document.getElementById("data").textContent);
const TARGETS = DATA.targets;
/** A row a requirement, and one a folder for the tests that judge nothing. */
const ROWS = [
  ...DATA.requirements,
  ...DATA.folders.map((folder) => ({ id: `${folder}/recorded`, folder, level: "", quote: "", unjudged: true })),
];
const LEVELS = [...new Set(DATA.requirements.map((one) => one.level))];
const REVISIONS = [...new Set(DATA.tests.map(([, how]) => how.split("+")[0]))].sort();

/** What a cell says: the standings from the best to the worst, between them what a MAY came to. */
const MARKS = {
  none: { glyph: "", label: "not asked" },
  observed: { glyph: "○", label: "recorded" },
  passed: { glyph: "✓", label: "passed" },
  taken: { glyph: "◆", label: "option taken" },
  partly: { glyph: "◈", label: "option taken in part" },
  "not-taken": { glyph: "◇", label: "option not taken" },
  known: { glyph: "≈", label: "known failure" },
  noted: { glyph: "i", label: "noted" },
  warned: { glyph: "△", label: "warned" },
  cannot: { glyph: "∅", label: "not expressible" },
  flaky: { glyph: "↻", label: "flaky" },
  inconclusive: { glyph: "?", label: "inconclusive" },
  failed: { glyph: "✕", label: "failed" },
  error: { glyph: "!", label: "error" },
};
const SHOWN = Object.keys(MARKS).slice(1);

/** Of each kind of verdict: where its standing is in the order from the best to the worst. */
const STANDING_OF = DATA.kinds.map(({ standing }) => DATA.standings.indexOf(standing));
const PASSED = DATA.standings.indexOf("passed");
const OBSERVED = DATA.standings.indexOf("observed");

/** Whether a standing is neither a pass nor a mere record. */
const stands = (standing) => standing !== PASSED && standing !== OBSERVED;

/** Calls back with each result of a target: its ordinal, its test, its standing, its time, and where its checks are. */
function eachResult(target, visit) {
  const flat = DATA.results[target];
  for (let at = 0, ordinal = 0; at < flat.length; at += 4 + 4 * flat[at + 3], ordinal++) {
    visit(ordinal, flat[at], flat[at + 1], flat[at + 2], at + 4, flat[at + 3]);
  }
}

/** The row of a test that judges nothing. */
const unjudgedRow = (test) => DATA.requirements.length + DATA.tests[test][2];

/** The cells of the matrix, as far as the filter's tests go. */
function cells(passes) {
  const size = ROWS.length * TARGETS.length;
  const found = {
    worst: new Int8Array(size).fill(-1),
    checks: new Uint32Array(size),
    bad: new Uint32Array(size),
    asked: new Uint32Array(size),
    held: new Uint32Array(size),
    decided: new Uint32Array(size),
    taken: new Uint32Array(size),
    open: new Uint32Array(size),
  };
  for (let target = 0; target < TARGETS.length; target++) {
    const flat = DATA.results[target];
    const add = (row, standing) => {
      const cell = row * TARGETS.length + target;
      found.checks[cell] += 1;
      if (standing > found.worst[cell]) found.worst[cell] = standing;
      if (stands(standing)) found.bad[cell] += 1;
      return cell;
    };
    const judge = (row, kind) => {
      const cell = add(row, STANDING_OF[kind]);
      const { kind: name, holds, decided } = DATA.kinds[kind];
      if (holds !== null) found.asked[cell] += 1;
      if (holds) found.held[cell] += 1;
      if (decided) found.decided[cell] += 1;
      if (name === "taken") found.taken[cell] += 1;
      if (name === "not-taken") found.open[cell] += 1;
    };
    eachResult(target, (_, test, standing, _micros, first, length) => {
      if (length === 0 && passes(test, unjudgedRow(test))) add(unjudgedRow(test), standing);
      for (let check = first; check < first + 4 * length; check += 4) {
        if (passes(test, flat[check])) judge(flat[check], flat[check + 2]);
      }
    });
  }
  return found;
}

/** The name of a cell's mark. */
function markOf(found, cell) {
  const worst = found.worst[cell];
  if (worst < 0) return "none";
  if (worst !== PASSED) return DATA.standings[worst];
  if (found.taken[cell] + found.open[cell] < found.checks[cell]) return "passed";
  if (found.open[cell] === 0) return "taken";
  return found.taken[cell] === 0 ? "not-taken" : "partly";
}

/** A cell in words. */
function cellLabel(found, cell) {
  const { label } = MARKS[markOf(found, cell)];
  const [bad, checks] = [found.bad[cell], found.checks[cell]];
  if (!checks) return label;
  return bad ? `${label}, ${bad} of ${count(checks, "check")}` : `${label}, ${count(checks, "check")}`;
}

/** The results of one cell, the gravest first. */
function resultsOf(row, target, passes) {
  const found = [];
  const flat = DATA.results[target];
  eachResult(target, (ordinal, test, standing, micros, first, length) => {
    if (!passes(test, row)) return;
    const checks = [];
    for (let index = 0; index < length; index++) {
      const [requirement, step, kind, line] = flat.slice(first + 4 * index, first + 4 * index + 4);
      const note = DATA.notes[target][`${ordinal}.${index}`];
      if (requirement === row) checks.push({ requirement, step, kind, line, index, ...note });
    }
    const unjudged = length === 0 && unjudgedRow(test) === row;
    if (!checks.length && !unjudged) return;
    const worst = unjudged ? standing : Math.max(...checks.map((check) => STANDING_OF[check.kind]));
    found.push({ target, ordinal, test, micros, checks, standing: worst });
  });
  return found.sort((a, b) => b.standing - a.standing || a.test - b.test);
}

/** A test's full name. */
const testName = (test) => `${DATA.tests[test][0]}@${DATA.tests[test][1]}`;

/** The column before this one, where it is an earlier version of the same target. */
const earlier = (target) => (target > 0 && TARGETS[target - 1].id === TARGETS[target].id ? target - 1 : undefined);

/** Whether a target did better or worse than in the version before: 1, -1, or 0 where neither can be said. */
function trend(found, row, target) {
  const before = earlier(target);
  if (before === undefined) return 0;
  const [now, then] = [target, before].map((column) => found.worst[row * TARGETS.length + column]);
  return now < 0 || then < 0 ? 0 : Math.sign(then - now);
}
