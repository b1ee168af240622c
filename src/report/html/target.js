// The section of the chosen targets: one with what it can and cannot do, or two with their differences.

/** The section of one or two chosen targets; `null` for another number. */
function targetSection(chosen) {
  const targets = TARGETS.length === 1 ? [0] : chosen.map((name) => TARGETS.findIndex((one) => one.name === name));
  if (targets.length === 1) return targetAlone(targets[0]);
  return targets.length === 2 ? targetPair(...targets) : null;
}

/** How to see all targets again, and the choice of a target to compare with. */
function sectionControls(target) {
  if (TARGETS.length === 1) return null;
  const others = TARGETS.map((one, at) => at !== target && el("option", { value: one.name }, plain(one.name)));
  const select = el("select", {}, el("option", { value: "" }, "…"), others);
  select.addEventListener("change", () => {
    if (select.value) location.hash = written({ ...read(""), target: [TARGETS[target].name, select.value] });
  });
  return el("p", { class: "controls" }, el("a", { href: "#" }, "All targets"), target !== undefined && el("label", { class: "toggle" }, "Compare with", select));
}

function targetAlone(target) {
  const one = TARGETS[target];
  const heading = el("h2", { id: "target-title", tabindex: -1 }, el("bdi", {}, one.name));
  const version = el("p", { class: "lead" }, one.title, one.version && [" · ", el("bdi", {}, one.version)]);
  const rates = Object.entries(one.sentences ?? {}).map(([role, { must, should, author }]) => {
    const parts = [must, should].map((rate, at) => rate.asked && `${rate.held} of ${count(rate.asked, `${at ? "SHOULD" : "MUST"} sentence`)} hold`);
    return el("li", {}, `As a ${role}: ${[...parts, author && `${author} left to the author`].filter(Boolean).join(", ")}.`);
  });
  return el(
    "section",
    { id: "target", "aria-labelledby": "target-title" },
    heading,
    version,
    sectionControls(target),
    el("ul", { class: "rates" }, rates),
    TARGETS.length > 1 && abilities(target),
    brokenSentences(target),
  );
}

/** What a target can and cannot do: its answers, those that aren't as expected first. */
function abilities(target) {
  const asked = CAPABILITIES.filter((row) => row.answers[target].answer !== "not asked");
  if (!asked.length) return null;
  const lists = ["wrong", "partly", "left to the author", "cannot be expressed", "right"].map((answer) => {
    const rows = asked.filter((row) => row.answers[target].answer === answer);
    if (!rows.length) return null;
    return el("section", {}, el("h4", {}, `${ANSWERS[answer].title} (${rows.length})`), el("ul", { class: "answers" }, rows.map((row) => answerItem(row, target))));
  });
  return [el("h3", {}, "What it can and cannot do"), el("div", { class: "abilities" }, lists)];
}

function answerItem(row, target) {
  const question = el("a", { href: answerAddress(row.id, TARGETS[target].name) }, prose(row.question));
  return el("li", {}, answerGlyph(row.answers[target]), " ", question, " ", el("b", {}, answerWords(row, target)), " ", el("small", {}, row.role));
}

/** The sentences that a target violates, the worst harm first. */
function brokenSentences(target) {
  const found = cells(() => true);
  const broken = REPORT.requirements.map((_, row) => row).filter((row) => isViolation(found.worst[row * TARGETS.length + target]));
  if (!broken.length) return el("p", {}, "No check of a sentence fails.");
  broken.sort((a, b) => gravity(a) - gravity(b) || found.bad[b * TARGETS.length + target] - found.bad[a * TARGETS.length + target]);
  return [el("h3", {}, `${count(broken.length, "sentence")} with a check that fails, the worst harm first`), el("ol", { class: "broken" }, broken.map((row) => brokenSentence(row, target, found)))];
}

function brokenSentence(row, target, found) {
  const cell = row * TARGETS.length + target;
  const one = ROWS[row];
  const reasons = new Map();
  for (const result of RESULTS[target]) {
    for (const { requirement, reason, issue, url } of result.checks) if (requirement === row && reason) reasons.set(reason, [issue, url].filter(Boolean));
  }
  const known = [...reasons].slice(0, 5).map(([reason, addresses]) => el("p", { class: "reason" }, "Reason in target.toml: ", reason, addresses.map((address) => [" · ", link(address)])));
  const began = since(row, target, found);
  const failing = `${found.bad[cell]} of ${count(found.checks[cell], "check")}: tests and messages`;
  return el(
    "li",
    {},
    el("p", { class: "verdict" }, glyph(markOf(found, cell)), one.harm && one.harm !== "none" && el("span", { class: "risk" }, one.harm), el("bdi", {}, one.id), el("a", { href: cellAddress(row, target) }, failing), began && el("small", {}, began)),
    about(row),
    known,
  );
}

/** The version since which a sentence is violated, as far as the report has earlier versions of the target. */
function since(row, target, found) {
  const name = (column) => plain(TARGETS[column].version ?? "an unknown version");
  let first = target;
  for (let before = earlier(target); before !== undefined; before = earlier(before)) {
    const worst = found.worst[row * TARGETS.length + before];
    if (worst === PASSED) return `since ${name(first)}; it held in ${name(before)}`;
    if (!isViolation(worst)) break;
    first = before;
  }
  return first === target ? undefined : `at least since ${name(first)}`;
}

/** The address of a cell of the matrix of requirements. */
const cellAddress = (row, target) => written({ ...read(location.hash), open: { name: "cell", words: [ROWS[row].id, TARGETS[target].name] } });

/** The differences of two targets, in the order in which they were chosen. */
function targetPair(before, after) {
  const [old, now] = [before, after].map((target) => el("bdi", {}, TARGETS[target].name));
  const ranks = ["wrong", "partly", "right"];
  const rank = (row, target) => ranks.indexOf(row.answers[target].answer);
  const changed = CAPABILITIES.filter((row) => answerOf(row, before) !== answerOf(row, after));
  const judged = changed.filter((row) => rank(row, before) >= 0 && rank(row, after) >= 0);
  const ways = [
    ["Worse", judged.filter((row) => rank(row, after) < rank(row, before))],
    ["Better", judged.filter((row) => rank(row, after) > rank(row, before))],
    ["In part in both, with other numbers", judged.filter((row) => rank(row, after) === rank(row, before))],
    ["Without an answer of one of them", changed.filter((row) => !judged.includes(row))],
  ];
  const item = (row) => {
    const answer = (target) => [answerGlyph(row.answers[target]), el("a", { href: answerAddress(row.id, TARGETS[target].name) }, answerWords(row, target))];
    return el("li", {}, prose(row.question), " ", answer(before), " → ", answer(after), " ", el("small", {}, row.role));
  };
  const lists = ways.map(([name, rows]) => rows.length > 0 && el("section", {}, el("h4", {}, `${name} (${rows.length})`), el("ul", { class: "answers changes" }, rows.map(item))));
  const { worse, better, same } = changedSentences(before, after);
  const swap = el("a", { href: written({ ...read(""), target: [after, before].map((at) => TARGETS[at].name) }) }, "Swap");
  const controls = sectionControls();
  controls.append(" ", swap);
  return el(
    "section",
    { id: "target", "aria-labelledby": "target-title" },
    el("h2", { id: "target-title", tabindex: -1 }, "From ", old, " to ", now),
    el("p", { class: "lead" }, `Sentences are compared over the ${count(same, "test")} that both have.`),
    controls,
    el("h3", {}, "Answers that differ"),
    el("div", { class: "abilities" }, lists),
    changedList("Sentences with checks that fail only in the second", worse, after),
    changedList("Sentences with checks that fail only in the first", better, before),
  );
}

function changedList(title, changes, target) {
  const item = ([row, number]) =>
    el("li", {}, el("p", { class: "verdict" }, ROWS[row].harm && ROWS[row].harm !== "none" && el("span", { class: "risk" }, ROWS[row].harm), el("bdi", {}, ROWS[row].id), el("a", { href: cellAddress(row, target) }, `${count(number, "check")}: tests and messages`)), about(row));
  return [el("h3", {}, `${title} (${changes.length})`), el("ol", { class: "broken" }, changes.map(item))];
}

/** The checks that fail in one of two targets and hold in the other, by requirement, the worst harm first. */
function changedSentences(before, after) {
  const old = new Map(RESULTS[before].map((result) => [result.place, result]));
  const [worse, better] = [new Map(), new Map()];
  let same = 0;
  for (const result of RESULTS[after]) {
    const other = old.get(result.place);
    if (!other) continue;
    same += 1;
    for (const check of result.checks) {
      const twin = other.checks.find((one) => one.requirement === check.requirement && one.step === check.step);
      if (!twin) continue;
      const [then, now] = [twin, check].map(({ kind }) => KINDS[kind].rank);
      const list = then === PASSED && isViolation(now) ? worse : now === PASSED && isViolation(then) ? better : undefined;
      list?.set(check.requirement, (list.get(check.requirement) ?? 0) + 1);
    }
  }
  const sorted = (list) => [...list].sort(([a], [b]) => gravity(a) - gravity(b) || list.get(b) - list.get(a));
  return { worse: sorted(worse), better: sorted(better), same };
}
