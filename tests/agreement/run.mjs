// Runs the official suite and our cases against the same servers and clients, and compares the verdicts check by check.
// The exit status is 1 if a difference has no reason in explained.json.
//
//   node run.mjs CASEBOOK [TARGET…]

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { mutants, scenarios, targets } from './scenarios.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..');
const results = join(here, 'results');
const suite = join(here, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
const [casebook, ...chosen] = process.argv.slice(2);
const explained = JSON.parse(readFileSync(join(here, 'explained.json'), 'utf8'));

/** Runs a program to its end. */
function run(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.on('data', (data) => (out += data));
    child.stderr.on('data', (data) => (err += data));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, out, err }));
  });
}

/** Serves a case, and calls `work` with the URL of the server. */
async function serving(target, scenario, revision, work) {
  const args = ['serve', target, scenario.serve, '--revision', revision, '--transport', 'http'];
  const child = spawn(casebook, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise((resolve) => child.on('close', resolve));
  let err = '';
  child.stderr.on('data', (data) => (err += data));
  const url = await Promise.race([
    new Promise((resolve) => child.stdout.once('data', (data) => resolve(String(data).trim()))),
    ended.then(() => undefined),
  ]);
  if (url === undefined) return { declined: err.trim() };
  try {
    return await work(url);
  } finally {
    child.kill('SIGINT');
    await ended;
  }
}

/** Runs a scenario of the official suite. Returns its checks, or the reason why it was declined. */
async function official(target, scenario, revision) {
  const out = mkdtempSync(join(results, 'suite-'));
  const about = ['--scenario', scenario.name, '--spec-version', revision, '-o', out];
  const ask = async (...args) => {
    const { out: said, err } = await run(process.execPath, [suite, scenario.role, ...args, ...about]);
    const [folder] = readdirSync(out);
    if (folder === undefined) return { declined: `${said}${err}`.trim() };
    return { checks: JSON.parse(readFileSync(join(out, folder, 'checks.json'), 'utf8')) };
  };
  try {
    if (scenario.role === 'server') {
      return await serving(target, scenario, revision, (url) => ask('--url', url));
    }
    const command = scenario.client
      ? [process.execPath, join(here, scenario.client), casebook, target]
      : [casebook, 'drive', target];
    return await ask('--command', command.join(' '), '--timeout', '60000');
  } finally {
    rmSync(out, { recursive: true });
  }
}

/** Runs our cases. Returns the kinds of the verdicts by test and requirement. */
async function ours(target) {
  const folder = mkdtempSync(join(results, 'log-'));
  const log = join(folder, 'run.jsonl');
  const cases = new Set(scenarios.flatMap(({ checks }) => checks.flatMap((check) => check.ours.map(([test]) => test))));
  const only = [...cases].flatMap((test) => ['--only', test]);
  const done = await run(casebook, ['run', target, ...only, '--transport', 'http', '--jobs', '1', '--run-log', log]);
  if (done.status > 1) throw new Error(`casebook run ${target} ended with ${done.status}:\n${done.out}${done.err}`);
  const verdicts = new Map();
  for (const line of readFileSync(log, 'utf8').trim().split('\n').slice(1, -1)) {
    const { test, verdicts: said = [] } = JSON.parse(line).record;
    for (const { requirement, kind, excuses } of said) verdicts.set(`${test} ${requirement}`, excuses ?? kind);
  }
  rmSync(folder, { recursive: true });
  return verdicts;
}

const broken = ['fail', 'warn', 'note'];
const undecided = ['cannot', 'error', 'inconclusive'];

/** Summarises our verdicts as `holds`, `broken`, `undecided` or `not asked`. */
function word(kinds) {
  if (kinds.some((kind) => broken.includes(kind))) return 'broken';
  if (kinds.length === 0) return 'not asked';
  return kinds.some((kind) => undecided.includes(kind)) ? 'undecided' : 'holds';
}

/** Summarises the checks of the official suite with the same words. */
function officialWord(checks, ids) {
  const said = checks.filter(({ id }) => ids.includes(id)).map(({ status }) => status);
  if (said.some((status) => status === 'FAILURE' || status === 'WARNING')) return 'broken';
  if (said.includes('SUCCESS')) return 'holds';
  if (said.includes('SKIPPED')) return 'not asked';
  // The suite gave up before it reached these checks.
  return checks.some(({ id, status }) => status === 'FAILURE' && /-(general|error)$/.test(id)) ? 'broken' : 'not asked';
}

const decided = ['holds', 'broken'];

/** Returns whether both agree; `undefined` if only one of them decided, and not against the target. */
function agree(words) {
  const { official, ours } = words;
  if (decided.includes(official) && decided.includes(ours)) return official === ours;
  return official === 'broken' || ours === 'broken' ? false : undefined;
}

function reason(target, scenario, revision, ids, words) {
  const same = (entry) =>
    entry.targets.includes(target) &&
    entry.scenario === scenario.name &&
    (entry.revision ?? revision) === revision &&
    ids.some((id) => entry.checks.includes(id)) &&
    entry.official === words.official &&
    entry.ours === words.ours;
  const entry = explained.find(same);
  if (entry) entry.used = true;
  return entry?.reason;
}

async function compare(target, claims) {
  const verdicts = await ours(target);
  const rows = [];
  const only = mutants[target];
  for (const scenario of scenarios.filter(({ name }) => only === undefined || only.includes(name))) {
    for (const revision of scenario.revisions) {
      const about = { target, scenario: scenario.name, revision };
      if (!claims.revisions.includes(revision)) {
        rows.push({ ...about, lacks: `does not support ${revision}` });
        continue;
      }
      // A variant can support less than its target.
      const tests = scenario.checks.flatMap((check) => check.ours);
      if (!tests.some(([test, requirement]) => verdicts.has(`${test}@${revision}+http ${requirement}`))) {
        rows.push({ ...about, lacks: `does not support ${scenario.name}` });
        continue;
      }
      const said = await official(target, scenario, revision);
      if (said.declined !== undefined) {
        rows.push({ ...about, lacks: said.declined.split('\n').at(-1) });
        continue;
      }
      for (const check of scenario.checks) {
        const kinds = check.ours.map(([test, requirement]) =>
          verdicts.get(`${test}@${revision}+http ${requirement}`)
        );
        const words = {
          official: officialWord(said.checks, check.official),
          ours: word(kinds.filter((kind) => kind !== undefined)),
        };
        const agrees = agree(words);
        const why = agrees !== false ? undefined : reason(target, scenario, revision, check.official, words);
        const messages = said.checks.filter(({ id, status }) => check.official.includes(id) && status !== 'SUCCESS');
        rows.push({ ...about, checks: check.official, ...words, agrees, why, said: messages.map((one) => one.errorMessage) });
      }
    }
  }
  return rows;
}

/** A Markdown table with a row for each target, and a column for each scenario and revision. */
function table(rows) {
  const columns = scenarios.flatMap(({ name, revisions }) => revisions.map((revision) => ({ name, revision })));
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const cell = (target, { name, revision }) => {
    const of = rows.filter((row) => row.target === target && row.scenario === name && row.revision === revision);
    if (of.length === 0 || of[0].lacks) return '–';
    const same = of.filter((row) => row.agrees);
    const failing = same.filter((row) => row.official === 'broken').length;
    const other = of.filter((row) => row.why).length;
    const wrong = of.filter((row) => row.agrees === false).length - other;
    const silent = of.filter((row) => row.agrees === undefined).length;
    const parts = [failing > 0 ? `${same.length} (${failing} broken)` : `${same.length}`];
    if (silent > 0) parts.push(`${silent} one-sided`);
    if (other > 0) parts.push(`${other} explained`);
    if (wrong > 0) parts.push(`**${wrong} DIFFER**`);
    return parts.join(', ');
  };
  const seen = [...new Set(rows.map(({ target }) => target))];
  const head = columns.map(({ name, revision }) => `${name} ${revision}`);
  return [
    line(['target', ...head]),
    line(['---', ...head.map(() => '---')]),
    ...seen.map((target) => line([`\`${target}\``, ...columns.map((column) => cell(target, column))])),
  ].join('\n');
}

mkdirSync(results, { recursive: true });
const listed = JSON.parse((await run(casebook, ['targets', '--format', 'json'])).out);
const rows = [];
const left = [];
for (const target of chosen.length > 0 ? chosen : [...targets, ...Object.keys(mutants)]) {
  const claims = listed.find(({ name }) => name === target.split(':')[0]);
  if (!claims?.ready) {
    left.push(`${target} was left out: programs that it needs are missing`);
    continue;
  }
  const of = await compare(target, claims);
  rows.push(...of);
  const differing = of.filter((row) => row.agrees === false);
  console.error(`${target}: ${of.filter((row) => row.agrees).length} agree, ${differing.length} differ`);
  for (const row of differing) {
    console.error(`  ${row.scenario} ${row.revision} ${row.checks.join(', ')}: official ${row.official}, ours ${row.ours}`);
    row.said.forEach((said) => console.error(`    official: ${said}`));
    console.error(`    ${row.why ? `explained: ${row.why}` : 'NOT EXPLAINED'}`);
  }
}
writeFileSync(join(results, 'agreement.json'), `${JSON.stringify(rows, null, 2)}\n`);
console.log(table(rows));
const lacking = rows.filter((row) => row.lacks && !row.lacks.startsWith("does not support"));
for (const row of lacking) console.log(`${row.target}, ${row.scenario} ${row.revision}: ${row.lacks}`);
left.forEach((line) => console.log(line));
const unused = chosen.length > 0 ? [] : explained.filter((entry) => !entry.used);
unused.forEach((entry) => console.log(`explained, but not seen: ${entry.scenario} ${entry.targets.join(', ')}`));
// A mutant that neither suite detects proves nothing.
const unseen = Object.keys(mutants).filter((target) => {
  const of = rows.filter((row) => row.target === target);
  return of.length > 0 && !of.some((row) => row.official === 'broken' || row.ours === 'broken');
});
unseen.forEach((target) => console.log(`${target}: neither suite detects the mutant`));
const unexplained = rows.filter((row) => row.agrees === false && !row.why).length;
console.log(`${rows.filter((row) => row.agrees).length} checks agree, ${unexplained} differ without an explanation`);
process.exit(unexplained > 0 || unused.length > 0 || unseen.length > 0 || !rows.some((row) => row.agrees) ? 1 : 0);
