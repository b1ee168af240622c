// Tests action.yml: its inputs and outputs are consistent, and its shell steps run as on a runner.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { parse } from "yaml";

const ROOT = path.resolve(import.meta.dirname, "../..");
const action = parse(fs.readFileSync(path.join(ROOT, "action.yml"), "utf8"));
const steps = action.runs.steps;
const step = (name) => steps.find((one) => one.name === name);

/** A simulated runner: its folders, with a place for the program where the build puts it. */
function runner(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "casebook-action-"));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const file = (name) => path.join(folder, name);
  fs.mkdirSync(file("casebook/bin"), { recursive: true });
  return { folder, file, env: { GITHUB_ACTION_PATH: ROOT, RUNNER_TEMP: folder, GITHUB_OUTPUT: file("output"), GITHUB_STEP_SUMMARY: file("summary.md") } };
}

/** Runs the script of a step with the shell and options that a runner uses. */
function run(name, { folder, env }, more = {}) {
  const script = path.join(folder, "step.sh");
  fs.writeFileSync(script, step(name).run);
  const all = { PATH: process.env.PATH, HOME: process.env.HOME, ...env, ...more };
  return spawnSync("/bin/bash", ["--noprofile", "--norc", "-eo", "pipefail", script], { cwd: folder, env: all, encoding: "utf8" });
}

/** The variables of a step for the given inputs, with defaults for the others. */
function inputs(name, given) {
  const filled = (text) => text.replace(/\$\{\{ inputs\.(\w+) \}\}/g, (_, input) => given[input] ?? action.inputs[input].default);
  return Object.fromEntries(Object.entries(step(name).env).map(([key, value]) => [key, filled(value)]));
}

test("inputs and outputs are declared and used", () => {
  const text = JSON.stringify(action.runs) + JSON.stringify(action.outputs);
  const used = new Set([...text.matchAll(/inputs\.([\w-]+)/g)].map(([, name]) => name));
  assert.deepEqual([...used].sort(), Object.keys(action.inputs).sort());
  for (const [, id] of text.matchAll(/steps\.([\w-]+)\.outputs/g)) assert.ok(steps.some((one) => one.id === id), id);
  for (const one of Object.values(action.inputs)) assert.ok(one.required || typeof one.default === "string");
});

test("scripts contain no expressions", () => {
  for (const one of steps.filter((one) => one.run)) {
    assert.equal(one.shell, "bash");
    assert.doesNotMatch(one.run, /\$\{\{/, one.name);
  }
});

test("hash of the same sources is the same", (t) => {
  const here = runner(t);
  for (let turn = 0; turn < 2; turn++) assert.equal(run("Hash the sources", here).status, 0);
  const [first, second] = fs.readFileSync(here.file("output"), "utf8").trim().split("\n");
  assert.match(first, /^hash=[0-9a-f]{64}$/);
  assert.equal(first, second);
});

test("hash depends on each package of the workspace, and on what is embedded", (t) => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "casebook-hash-"));
  t.after(() => fs.rmSync(root, { recursive: true }));
  const members = fs.readFileSync(path.join(ROOT, "Cargo.toml"), "utf8").match(/^members = \[(.*)\]$/m)[1].match(/[^", ]+/g);
  const files = ["Cargo.toml", "Cargo.lock", "build.rs", "src/a", "cases/a", "sets/a", "targets/a", ...members.map((member) => `${member}/src/a`)];
  for (const file of [...files, "docs/a"]) {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), "");
  }
  fs.cpSync(path.join(ROOT, ".ci/release/hash-sources"), path.join(root, ".ci/release/hash-sources"));
  const hash = () => spawnSync("bash", [path.join(root, ".ci/release/hash-sources")], { encoding: "utf8" }).stdout;
  const change = (file) => fs.appendFileSync(path.join(root, file), `${file}\n`);
  const hashes = [hash(), ...files.map((file) => (change(file), hash()))];
  assert.equal(new Set(hashes).size, files.length + 1);
  change("docs/a");
  assert.equal(hash(), hashes.at(-1));
});

const HASH = "5".repeat(64);
const VERSION = fs.readFileSync(path.join(ROOT, "Cargo.toml"), "utf8").match(/^version = "(.*)"$/m)[1];
const TARGET = "x86_64-unknown-linux-musl";

/** Writes a release with an archive for Linux, and gives the variables with which the step `Download` finds it. */
function release(here, { hash = HASH, damaged = false, listed = hash } = {}) {
  const folder = here.file(`releases/download/v${VERSION}`);
  const top = `mcp-casebook-${TARGET}`;
  fs.mkdirSync(path.join(folder, top), { recursive: true });
  fs.writeFileSync(path.join(folder, top, "casebook"), "#!/bin/sh\necho downloaded\n", { mode: 0o755 });
  assert.equal(spawnSync("tar", ["-czf", `${top}.tar.gz`, top], { cwd: folder }).status, 0);
  const sums = spawnSync("sha256sum", [`${top}.tar.gz`], { cwd: folder, encoding: "utf8" }).stdout;
  fs.writeFileSync(path.join(folder, "SOURCES.sha256"), `${listed}\n`);
  const sources = spawnSync("sha256sum", ["SOURCES.sha256"], { cwd: folder, encoding: "utf8" }).stdout;
  fs.writeFileSync(path.join(folder, "SHA256SUMS"), sums + sources);
  fs.writeFileSync(path.join(folder, "SOURCES.sha256"), `${hash}\n`);
  if (damaged) fs.appendFileSync(path.join(folder, `${top}.tar.gz`), "x");
  return { HASH, CASEBOOK_RELEASES: `file://${here.file("releases")}`, CASEBOOK_TARGET: TARGET, GITHUB_SERVER_URL: "https://forge.example" };
}

test("release of the same sources is installed instead of built", (t) => {
  const here = runner(t);
  const done = run("Download", here, release(here));
  assert.equal(done.status, 0, done.stderr);
  assert.equal(fs.readFileSync(here.file("output"), "utf8"), "found=true\n");
  assert.equal(spawnSync(here.file("casebook/bin/casebook"), { encoding: "utf8" }).stdout, "downloaded\n");
  for (const name of ["Restore the program", "Build", "Save the program"]) assert.match(step(name).if, /^steps\.download\.outputs\.found != 'true'/);
});

test("release of other sources, or none, leads to a build", (t) => {
  const here = runner(t);
  const others = () => release(here, { hash: "6".repeat(64) });
  const none = () => ({ ...release(here), CASEBOOK_RELEASES: `file://${here.file("none")}` });
  for (const given of [others, none]) {
    const done = run("Download", here, given());
    assert.equal(done.status, 0, done.stderr);
    assert.ok(!fs.existsSync(here.file("output")));
    assert.ok(!fs.existsSync(here.file("casebook/bin/casebook")));
  }
});

test("release without an archive for this platform leads to a build", (t) => {
  const here = runner(t);
  const done = run("Download", here, { ...release(here), CASEBOOK_TARGET: "riscv64-unknown-linux-musl" });
  assert.equal(done.status, 0, done.stderr);
  assert.match(done.stdout, /::notice::casebook is built/);
});

test("damaged release fails the job", (t) => {
  const here = runner(t);
  const done = run("Download", here, release(here, { damaged: true }));
  assert.equal(done.status, 4);
  assert.match(done.stdout, /::error::the downloaded casebook is not the published one/);
  assert.ok(!fs.existsSync(here.file("casebook/bin/casebook")));
});

test("hash of the sources that the checksums do not list fails the job", (t) => {
  const here = runner(t);
  const done = run("Download", here, release(here, { listed: "6".repeat(64) }));
  assert.equal(done.status, 4);
  assert.match(done.stdout, /::error::SOURCES\.sha256 of the release \S+ is not the published one/);
  assert.ok(!fs.existsSync(here.file("casebook/bin/casebook")));
});

test("attestation is verified on github.com", (t) => {
  const here = runner(t);
  fs.mkdirSync(here.file("path"));
  const given = { ...release(here), GITHUB_SERVER_URL: "https://github.com", PATH: `${here.file("path")}:${process.env.PATH}` };
  const gh = (status) => fs.writeFileSync(here.file("path/gh"), `#!/bin/sh\necho "$@" >"$RUNNER_TEMP/gh.txt"\nexit ${status}\n`, { mode: 0o755 });
  gh(1);
  assert.equal(run("Download", here, given).status, 4);
  assert.ok(!fs.existsSync(here.file("casebook/bin/casebook")));
  gh(0);
  assert.equal(run("Download", here, given).status, 0);
  assert.match(fs.readFileSync(here.file("gh.txt"), "utf8"), /^attestation verify \S+\.tar\.gz --repo mcp-casebook\/mcp-casebook --signer-workflow mcp-casebook\/mcp-casebook\/\.github\/workflows\/release\.yml$/m);
  assert.ok(fs.existsSync(here.file("casebook/bin/casebook")));
});

test("release is verified in each job, and asked for over https and with limits of times", (t) => {
  const here = runner(t);
  assert.equal(step("Download").if, undefined);
  assert.ok(steps.indexOf(step("Download")) < steps.indexOf(step("Restore the program")));
  fs.mkdirSync(here.file("path"));
  fs.writeFileSync(here.file("path/curl"), '#!/bin/sh\necho "$@" >>"$RUNNER_TEMP/curl.txt"\nexit 28\n', { mode: 0o755 });
  const done = run("Download", here, { HASH, PATH: `${here.file("path")}:${process.env.PATH}` });
  assert.equal(done.status, 0, done.stderr);
  assert.match(done.stdout, /does not exist/);
  assert.match(fs.readFileSync(here.file("curl.txt"), "utf8"), /^(?=.*--connect-timeout \d)(?=.*--max-time \d).*--proto =https https:\S+\/SOURCES\.sha256\n$/);
});

test("build without cargo names the missing program", (t) => {
  const here = runner(t);
  fs.mkdirSync(here.file("path"));
  fs.writeFileSync(here.file("path/cargo"), '#!/bin/sh\necho "$@" >"$RUNNER_TEMP/cargo.txt"\n', { mode: 0o755 });
  assert.equal(run("Build", here, { PATH: `${here.file("path")}:/usr/bin:/bin` }).status, 0);
  assert.equal(fs.readFileSync(here.file("cargo.txt"), "utf8").trim(), `install --locked --path ${ROOT} --root ${here.folder}/casebook --bin casebook`);
  fs.rmSync(here.file("path/cargo"));
  const without = run("Build", here, { PATH: here.file("path") });
  assert.equal(without.status, 4);
  assert.match(without.stdout, /::error::cannot find cargo.*install Rust/);
});

/** Checks inputs, and then runs a program that writes its arguments to a file. Gives these, or the status and the message. */
function passed(t, given) {
  const here = runner(t);
  const script = '#!/bin/sh\nfor one in "$@"; do echo "$one"; done >"$RUNNER_TEMP/arguments.txt"\nexit 1\n';
  fs.writeFileSync(here.file("casebook/bin/casebook"), script, { mode: 0o755 });
  for (const name of given.files ?? []) {
    fs.mkdirSync(path.dirname(here.file(name)), { recursive: true });
    fs.writeFileSync(here.file(name), "");
  }
  const checked = run("Check the inputs", here, inputs("Check the inputs", given));
  if (checked.status !== 0) {
    assert.ok(!fs.existsSync(here.file("output")));
    return `${checked.status} ${checked.stdout}`;
  }
  assert.equal(run("Run", here).status, 1);
  assert.ok(!fs.existsSync(here.file("x")));
  assert.equal(fs.readFileSync(here.file("output"), "utf8"), `folder=${given.folder ?? "casebook-report"}\nstatus=1\n`);
  return fs.readFileSync(here.file("arguments.txt"), "utf8").trimEnd().split("\n");
}

const REPORTS = ["html", "junit", "json"].map((kind) => `${kind}=out/${kind === "junit" ? "junit.xml" : `report.${kind}`}`);
const reports = [...REPORTS, "github=-"].flatMap((report) => ["--report", report]);

test("each line of an input becomes one argument", (t) => {
  const lines = { target: "a b\n\n$(touch x)\n", only: "sep-2106/**\ntools/*\n", revision: "2026-07-28", cases: "embedded\nmore" };
  const single = { role: "server", transport: "http", set: "2025-11-25", shard: "2/5", call: "*", retries: "1\n", strict: "true" };
  assert.deepEqual(passed(t, { ...lines, ...single, folder: "out" }), [
    ...["run", "a b", "$(touch x)", "--revision", "2026-07-28", "--only", "sep-2106/**", "--only", "tools/*", "--role", "server"],
    ...["--transport", "http", "--set", "2025-11-25", "--shard", "2/5", "--call", "*", "--retries", "1"],
    ...["--cases", "embedded", "--cases", "more", "--strict", ...reports, "--run-log", "out/run.jsonl"],
  ]);
});

test("command is split into words and nothing else", (t) => {
  const given = { command: "\nnode  server.js * \"a b\" $(touch x) --flag\n", folder: "out" };
  const words = ["node", "server.js", "*", '"a', 'b"', "$(touch", "x)", "--flag"];
  assert.deepEqual(passed(t, given), ["run", ...reports, "--run-log", "out/run.jsonl", "--", ...words]);
});

test("merge reports the run logs that match", (t) => {
  const files = ["s/a b/run.jsonl", "s/a b/run.wire.jsonl", "s/c/run.jsonl", "s/c/folder.jsonl/file"];
  const expected = ["report", "--check", "--strict", ...reports, "--", "s/a b/run.jsonl", "s/c/run.jsonl"];
  assert.deepEqual(passed(t, { merge: "s/*/*.jsonl", folder: "out", strict: "true", files }), expected);
  assert.match(passed(t, { merge: "s/*", files }), /^2 ::error::no file matches the input `merge`/);
  assert.match(passed(t, { merge: "none/*" }), /^2 ::error::no file matches the input `merge`/);
  assert.match(passed(t, { merge: "s/*", shard: "1/2", files }), /^2 ::error::the input `shard` is for runs/);
});

test("folder with the reports is no changed source of a checkout", (t) => {
  const here = runner(t);
  const git = (...words) => spawnSync("git", words, { cwd: here.file("checkout"), encoding: "utf8" }).stdout;
  fs.mkdirSync(here.file("checkout/sources"), { recursive: true });
  fs.writeFileSync(here.file("checkout/sources/main.js"), "");
  git("init", "--quiet");
  for (const folder of ["checkout/reports", "checkout/reports", "checkout/sources"]) {
    assert.equal(run("Check the inputs", here, inputs("Check the inputs", { target: "reference", folder })).status, 0);
    fs.writeFileSync(here.file(`${folder}/report.json`), "{}");
  }
  assert.equal(git("status", "--porcelain", "--untracked-files=all"), "?? sources/main.js\n?? sources/report.json\n");
});

test("exactly one of target, command and merge is accepted", (t) => {
  for (const [given, count] of [[{}, 0], [{ target: " \n\n" }, 0], [{ target: "a", command: "b" }, 2], [{ target: "a", command: "b", merge: "c" }, 3]]) {
    assert.match(passed(t, given), new RegExp(`^2 ::error::${count} of the inputs .target., .command. and .merge. are given`));
  }
});

test("values that are options, or not one line, are refused", (t) => {
  const names = Object.keys(action.inputs).filter((name) => name !== "artifact");
  for (const name of names.filter((name) => name !== "strict")) {
    const sole = ["target", "command", "merge"].includes(name) ? {} : { target: "reference" };
    for (const value of ["--accept", "  -x", "a\n--accept"]) {
      assert.match(passed(t, { ...sole, [name]: value }), new RegExp(`^2 ::error::a value of the input .${name}. begins with`));
    }
    assert.match(passed(t, { ...sole, [name]: "a\rstatus=0" }), new RegExp(`^2 ::error::a value of the input .${name}. has a control`));
  }
  for (const name of ["role", "transport", "set", "shard", "retries", "folder"]) {
    assert.match(passed(t, { target: "reference", [name]: "a\nstatus=0" }), new RegExp(`^2 ::error::the input .${name}. has several lines`));
  }
  assert.match(passed(t, { command: "a\nb" }), /^2 ::error::the input `command` has several lines/);
  assert.match(passed(t, { target: "reference", folder: "" }), /^2 ::error::the input `folder` is empty/);
  assert.match(passed(t, { target: "reference", strict: "True" }), /^2 ::error::the input `strict` is neither true nor false/);
});

test("program is saved under a key that no other job has", () => {
  const { key, "restore-keys": prefix } = step("Restore the program").with;
  assert.ok(key.startsWith(prefix) && /github\.job.*strategy\.job-index/.test(key.slice(prefix.length)));
  assert.match(prefix, /steps\.build\.outputs\.hash \}\}-$/);
  const order = ["Restore the program", "Build", "Save the program", "Run"].map((name) => steps.indexOf(step(name)));
  assert.deepEqual(order, [...order].sort((a, b) => a - b));
});

test("other actions are pinned by commit", () => {
  const workflows = ".github/workflows";
  for (const file of ["action.yml", "docs/action.md", ...fs.readdirSync(path.join(ROOT, workflows)).map((name) => `${workflows}/${name}`)]) {
    const uses = fs.readFileSync(path.join(ROOT, file), "utf8").matchAll(/^[ -]+uses: (?!\.\/|mcp-casebook\/)(.*)$/gm);
    for (const [, used] of uses) assert.match(used, /^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, file);
  }
});

test("run with failures writes reports and status", (t) => {
  const here = runner(t);
  fs.symlinkSync(process.env.CASEBOOK, here.file("casebook/bin/casebook"));
  const given = { target: "reference:input-not-validated", only: "sep-2106/composition/rejects/any-of", folder: "out/reports" };
  assert.equal(run("Check the inputs", here, inputs("Check the inputs", given)).status, 0);
  const done = run("Run", here);
  assert.equal(done.status, 1, done.stderr);
  assert.match(fs.readFileSync(here.file("output"), "utf8"), /^status=1$/m);
  for (const name of ["report.html", "junit.xml", "report.json", "run.jsonl", "run.wire.jsonl"]) {
    assert.ok(fs.statSync(here.file(`out/reports/${name}`)).size > 0, name);
  }
  assert.match(fs.readFileSync(here.file("summary.md"), "utf8"), /failed/);
  assert.match(done.stdout, /^::error /m);
  const upload = step("Upload");
  assert.match(upload.if, /always\(\)/);
});

test("run logs of all shards are one verdict", (t) => {
  const here = runner(t);
  fs.symlinkSync(process.env.CASEBOOK, here.file("casebook/bin/casebook"));
  const both = (given) => [run("Check the inputs", here, inputs("Check the inputs", given)).status, run("Run", here).status];
  const target = { target: "reference", only: "tools/protocol" };
  assert.deepEqual(both({ ...target, shard: "1/2", folder: "s/1" }), [0, 0]);
  assert.deepEqual(both({ merge: "s/*/*.jsonl", folder: "out" }), [0, 5]);
  assert.deepEqual(both({ ...target, shard: "2/2", folder: "s/2" }), [0, 0]);
  assert.deepEqual(both({ merge: "s/*/*.jsonl", folder: "out" }), [0, 0]);
  for (const name of ["report.html", "junit.xml", "report.json"]) assert.ok(fs.statSync(here.file(`out/${name}`)).size > 0, name);
  assert.match(fs.readFileSync(here.file("summary.md"), "utf8"), /as expected/);
});
