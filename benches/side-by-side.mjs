// Runs the official suite and casebook against the same adapter in turn. Prints checks per second, processor time per
// check, and their ratios, next to the goals. The package of the suite lacks its example server, so the adapter takes
// its place: `casebook serve` starts it before the suite's time begins, while the time of casebook includes the start.
//
//   node side-by-side.mjs CASEBOOK ROUNDS

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { scenarios } from '../tests/agreement/scenarios.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..');
const agreement = join(root, 'tests', 'agreement');
const suitePackage = join(agreement, 'node_modules', '@modelcontextprotocol', 'conformance');
const suite = join(suitePackage, 'dist', 'index.js');
const [casebook, rounds] = [process.argv[2], Number(process.argv[3])];
const target = 'typescript-sdk:default';
const scratch = mkdtempSync(join(tmpdir(), 'casebook-side-by-side-'));

/** Runs a program to its end: how long that took, how it ended, what it said, and the most memory it had. */
async function run(program, args, env = {}) {
  const began = process.hrtime.bigint();
  const options = { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } };
  const child = spawn(program, args, options);
  let [out, err, memory, processor] = ['', '', 0, 0];
  child.stdout.on('data', (data) => (out += data));
  child.stderr.on('data', (data) => (err += data));
  // The kernel's high-water mark and processor time (in ticks of 10 ms) of the process, read until it exits.
  const watch = setInterval(() => {
    try {
      memory = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? memory);
      const [user, system] = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 13);
      processor = (Number(user) + Number(system)) / 100;
    } catch {
      // The process has exited, or the system is not Linux.
    }
  }, 20);
  const status = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  clearInterval(watch);
  return { status, out, err, memory, processor, seconds: Number(process.hrtime.bigint() - began) / 1e9 };
}

/** A run of ours: checks, seconds, and what the processor did for it alone. */
async function ours(targets, ...args) {
  const record = join(scratch, 'run.jsonl');
  const done = await run(casebook, ['run', ...targets, ...args, '--run-log', record]);
  // This folder has no snapshots, so the exit status 1 does not mean that the run failed.
  if (done.status > 1) throw new Error(`casebook run ${args.join(' ')} ended with ${done.status}:\n${done.out}${done.err}`);
  const lines = readFileSync(record, 'utf8').trim().split('\n').slice(1, -1);
  const checks = lines.reduce((sum, line) => sum + JSON.parse(line).record.verdicts.length, 0);
  return { checks, tests: lines.length, seconds: done.seconds, processor: done.processor, memory: done.memory };
}

/** A run of the suite's: its checks, its seconds, and what the processor did for it alone. */
async function theirs(...args) {
  const [out, file] = [mkdtempSync(join(scratch, 'suite-')), join(scratch, 'cpu')];
  const env = { CPU_FILE: file };
  const { seconds } = await run(process.execPath, ['--import', join(here, 'cpu.mjs'), suite, ...args, '-o', out], env);
  const told = readdirSync(out).map((folder) => JSON.parse(readFileSync(join(out, folder, 'checks.json'), 'utf8')));
  const checks = told.flat().filter(({ status }) => ['SUCCESS', 'FAILURE', 'WARNING'].includes(status)).length;
  if (checks === 0) throw new Error(`the suite checked nothing: ${args.join(' ')}`);
  rmSync(out, { recursive: true });
  return { checks, seconds, processor: Number(readFileSync(file, 'utf8')) };
}

/** Has a case served while something is done with its URL. */
async function serving(name, revision, work) {
  const args = ['serve', target, name, '--revision', revision, '--transport', 'http'];
  const child = spawn(casebook, args, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = new Promise((resolve) => child.on('close', resolve));
  try {
    return await work(await new Promise((resolve, reject) => {
      child.stdout.once('data', (data) => resolve(String(data).trim()));
      ended.then(() => reject(new Error(`${name} isn't served`)));
    }));
  } finally {
    child.kill('SIGINT');
    await ended;
  }
}

const add = (one, other) => ({
  checks: one.checks + other.checks,
  seconds: one.seconds + other.seconds,
  processor: one.processor + other.processor,
});

/** The suite's scenarios of a role that we have too: one process each, as it runs one that is named. */
async function overlap(role) {
  let sum = { checks: 0, seconds: 0, processor: 0 };
  for (const scenario of scenarios.filter((one) => one.role === role)) {
    for (const revision of scenario.revisions) {
      const about = ['--scenario', scenario.name, '--spec-version', revision];
      const script = scenario.client && join(agreement, scenario.client);
      const command = script ? [process.execPath, script, casebook, target] : [casebook, 'drive', target];
      const asked =
        role === 'server'
          ? await serving(scenario.serve, revision, (url) => theirs('server', '--url', url, ...about))
          : await theirs('client', '--command', command.join(' '), '--timeout', '60000', ...about);
      sum = add(sum, asked);
    }
  }
  return sum;
}

/** Our tests for the same scenarios. */
function overlapping(role) {
  const asked = scenarios.filter((one) => one.role === role).flatMap(({ checks }) => checks);
  const tests = new Set(asked.flatMap((check) => check.ours.map(([test]) => test)));
  return [...tests].flatMap((test) => ['--only', test]);
}

/** What is made to take long: the suite asks nothing of the kind, and its time is the target's alone. */
const hard = ['sep-2106/bounds', 'sep-2106/hostile-values', 'sep-2106/client-bounds', 'sep-2106/client-hostile-results'];

/** So many copies of a case of two tests, in a folder of cases. */
function copies(count) {
  const folder = mkdtempSync(join(scratch, 'cases-'));
  mkdirSync(join(folder, 'post'));
  const own = join(root, 'tests', 'cli', 'cases', 'post');
  writeFileSync(join(folder, 'post', 'requirements.json'), readFileSync(join(own, 'requirements.json')));
  const text = readFileSync(join(own, 'parcel.json'));
  for (let number = 1; number <= count; number += 1) writeFileSync(join(folder, 'post', `parcel-${number}.json`), text);
  return folder;
}

const measured = new Map();

function note(name, value) {
  measured.set(name, [...(measured.get(name) ?? []), value]);
  console.error(`  ${name}: ${shown(value)}`);
}

const shown = (value) => (value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(2) : value.toPrecision(3));
const rate = ({ checks, seconds }) => checks / seconds;
const cost = ({ checks, processor }) => (processor * 1000) / checks;

async function round(few, many) {
  note('reference: checks a second', rate(await ours(['reference'], '--transport', 'http')));
  for (const role of ['server', 'client']) {
    const http = ['--role', role, '--transport', 'http'];
    const same = { suite: await overlap(role), casebook: await ours([target], ...overlapping(role), ...http) };
    const wide = { suite: same.suite, casebook: await ours([target], ...http) };
    if (role === 'server') {
      // All server scenarios, against a server with the fixture of one of them: the others fail at once.
      const [{ serve, revisions }] = scenarios;
      wide.suite = await serving(serve, revisions[0], (url) => theirs('server', '--url', url, '--spec-version', revisions[0]));
    }
    for (const who of ['suite', 'casebook']) {
      note(`${role}: ${who}, checks a second, all it has`, rate(wide[who]));
      note(`${role}: ${who}, checks a second, the same scenarios`, rate(same[who]));
      note(`${role}: ${who}, processor ms a check, the same scenarios`, cost(same[who]));
    }
    note(`${role}: times as many checks a second, all it has`, rate(wide.casebook) / rate(wide.suite));
    const modest = await ours([target], ...http, ...hard.flatMap((file) => ['--skip', file]));
    note(`${role}: casebook, checks a second, all it has but what is made to be hard`, rate(modest));
    note(`${role}: times as many checks a second, but what is made to be hard`, rate(modest) / rate(wide.suite));
    note(`${role}: times as many checks a second, the same scenarios`, rate(same.casebook) / rate(same.suite));
    note(`${role}: times less processor a check, the same scenarios`, cost(same.suite) / cost(same.casebook));
    note(`${role}: times less processor a check, all it has`, cost(wide.suite) / cost(wide.casebook));
  }
  note('list: suite, ms', (await run(process.execPath, [suite, 'list'])).seconds * 1000);
  note('list: casebook, ms', (await run(casebook, ['list'])).seconds * 1000);
  const [small, large] = [
    await ours(['reference'], '--cases', few, '--transport', 'http'),
    await ours(['reference'], '--cases', many, '--transport', 'http'),
  ];
  note(`ten times the tests (${small.tests}, ${large.tests}): times the time`, large.seconds / small.seconds);
  note('ten times the tests: MB more', (large.memory - small.memory) / 1024);
  const loaded = async (cases) => (await run(casebook, ['list', '--cases', cases])).memory;
  note('ten times the case files, loaded only: MB more', ((await loaded(many)) - (await loaded(few))) / 1024);
}

const goals = new Map([
  ['reference: checks a second', '>= 3000'],
  ['server: times as many checks a second, all it has', '>= 20'],
  ['client: times as many checks a second, all it has', '>= 60'],
  ['server: times less processor a check, the same scenarios', '>= 50'],
  ['client: times less processor a check, the same scenarios', '>= 50'],
  ['list: casebook, ms', '<= 30'],
  ['times the time', '<= 10.5'],
]);

function table() {
  const head = ['measured', 'minimum', 'median', 'maximum', 'goal'];
  const rows = [...measured].map(([name, values]) => {
    const sorted = values.toSorted((one, other) => one - other);
    const of = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
    const goal = [...goals].find(([about]) => name.endsWith(about))?.[1] ?? '';
    return [name, ...of.map(shown), goal];
  });
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

try {
  // The setup of the target must not count.
  await ours([target], '--only', 'everything/json-schema-2020-12', '--transport', 'http');
  // Each case has two tests on three revisions.
  const [few, many] = [copies(167), copies(1670)];
  for (let number = 1; number <= rounds; number += 1) {
    console.error(`round ${number} of ${rounds}`);
    await round(few, many);
  }
  const { version } = JSON.parse(readFileSync(join(suitePackage, 'package.json'), 'utf8'));
  console.log(`${new Date().toISOString().slice(0, 10)}, ${availableParallelism()} cores (${cpus()[0].model.trim()}),`);
  console.log(`@modelcontextprotocol/conformance ${version}, Node ${process.versions.node}, ${target}\n`);
  console.log(table());
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
