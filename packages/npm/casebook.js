#!/usr/bin/env node
// Starts the program of the package for this platform, which npm installed as an optional dependency. Passes arguments,
// standard streams, signals and the exit status; downloads nothing.
"use strict";

const { spawn } = require("node:child_process");
const os = require("node:os");

const name = `@mcp-casebook/${process.platform}-${process.arch}`;

function fail(message) {
  process.stderr.write(`casebook: ${message}\n`);
  process.exit(71);
}

function find() {
  const { optionalDependencies } = require("./package.json");
  if (!(name in optionalDependencies)) {
    const known = Object.keys(optionalDependencies).map((one) => one.replace("@mcp-casebook/", ""));
    fail(`no program for ${process.platform}-${process.arch}, only for ${known.join(", ")}; build it with cargo`);
  }
  try {
    return require.resolve(`${name}/bin/casebook${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    return fail(`cannot find the package ${name}: install again, without \`--omit=optional\` or \`--no-optional\``);
  }
}

const child = spawn(find(), process.argv.slice(2), { stdio: "inherit" });

// A terminal sends Ctrl-C to all of its processes, the program among them. Forwarded, it would count twice, and casebook
// stops at once at the second one.
const onTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
process.on("SIGINT", () => {
  if (!onTerminal) child.kill("SIGINT");
});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));

child.on("error", (error) => fail(`cannot start ${child.spawnfile}: ${error.message}`));
child.on("exit", (status, signal) => process.exit(signal ? 128 + os.constants.signals[signal] : status));
