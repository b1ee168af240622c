// Run logs for the pages under test: real ones of the reference, and changed copies of them; and what each page must keep.

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

export const OUTPUT = path.join(import.meta.dirname, "output");
const out = (name) => path.join(OUTPUT, name);

function casebook(...args) {
  const done = spawnSync(process.env.CASEBOOK, args, { encoding: "utf8", cwd: path.join(import.meta.dirname, "../.."), maxBuffer: 1 << 28 });
  if (done.error) throw done.error;
  return done;
}

/** Runs targets. Returns the lines of the run log and of the wire file. */
export function run(name, targets, ...options) {
  const log = out(`${name}.jsonl`);
  const done = casebook("run", ...targets, "--run-log", log, ...options);
  if (!fs.existsSync(log)) throw new Error(done.stderr);
  return { lines: read(log), wire: read(log.replace(".jsonl", ".wire.jsonl")) };
}

const read = (file) => fs.readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));

/** Writes a run log with its wire file. Returns its path. */
export function write(name, { lines, wire }) {
  const put = (file, values) => fs.writeFileSync(out(file), values.map((value) => `${JSON.stringify(value)}\n`).join(""));
  put(`${name}.jsonl`, lines);
  put(`${name}.wire.jsonl`, wire);
  return out(`${name}.jsonl`);
}

/** Writes the HTML report of run logs. Returns its path. */
export function page(name, ...logs) {
  const file = out(`${name}.html`);
  fs.rmSync(file, { force: true });
  const done = casebook("report", ...logs, "--report", `html=${file}`);
  if (!fs.existsSync(file)) throw new Error(done.stderr || done.stdout);
  return file;
}

/** A copy of a run with another target and version. */
export function as({ lines, wire }, target, version) {
  const rename = (one) => ({ ...one, target });
  const line = ({ header, record, footer }) => {
    if (header) return { header: { ...header, targets: [target], about: header.about.map((one) => ({ ...one, target, version, title: target })), skipped: header.skipped.map(rename) } };
    return record ? { record: rename(record) } : { footer };
  };
  return { lines: lines.map(line), wire: wire.map(rename) };
}

/** A copy of a run in which every failure is known. */
export function known({ lines, wire }) {
  const listed = { test: "**", reason: "it is slow", issue: "https://example.com/issues/1" };
  const verdict = (one) => (one.kind === "fail" ? { ...one, kind: "known", excuses: "fail", known: listed } : one);
  const line = ({ record, ...other }) => (record ? { record: { ...record, verdicts: record.verdicts.map(verdict) } } : other);
  return { lines: lines.map(line), wire };
}

/** Hostile texts that a target could send. */
export const HOSTILE = [
  `</script><script>globalThis.pwned = "script"</script>`,
  `<img src="http://127.0.0.1:9/x" onerror="globalThis.pwned = 'img'"><svg onload="globalThis.pwned = 'svg'">`,
  `<!-- </noscript></style><style>*{display:none}</style><iframe srcdoc="<script>parent.pwned=1</script>">`,
  `\u001b[31mred\u001b[0m \u001b]8;;http://127.0.0.1:9/\u0007link\u001b]8;;\u0007 \u0000\u0008`,
  `\u202egnp.exe\u202c \u2066isolate\u2069 \u200bzero\ufeff \u2028 \u2029 {title} {data} {{x}} $& %s`,
  `${"W".repeat(3000)} ${"(".repeat(500)} ${"\u0301".repeat(400)} العربية עברית 漢字`,
];

/** A copy of a run in which every text of the target is hostile, and some texts are megabytes long. */
export function hostile({ lines, wire }) {
  const text = (index) => (index % 40 === 0 ? HOSTILE.join(" ").repeat(400) : HOSTILE[index % HOSTILE.length]);
  const spoil = (record) => {
    const said = text(record.index);
    const steps = record.observation.steps.map((step) => ({ ...step, said, structured: { value: { [said.slice(0, 5000)]: said } } }));
    const mismatch = { finding: { mismatch: { place: said.slice(0, 100), expected: said, observed: said } } };
    const detail = [{ alternative: said.slice(0, 100), finding: { undecidable: { place: "outcome", reason: said } } }, mismatch];
    const verdicts = record.verdicts.map((verdict) => ({ ...verdict, detail }));
    return { ...record, title: said, observation: { ...record.observation, steps }, verdicts };
  };
  const about = (one) => ({ ...one, title: HOSTILE.join(" "), version: HOSTILE.slice(0, 5).join(" "), unverified: HOSTILE.join(" ") });
  const line = ({ header, record, footer }) => {
    if (header) {
      return { header: { ...header, about: header.about.map(about) } };
    }
    return record ? { record: spoil(record) } : { footer };
  };
  const message = (index) => (one) => {
    const name = text(index);
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, result: { tools: [{ name, description: name, inputSchema: { [name.slice(0, 99)]: "[".repeat(2000) } }] } });
    const raw = index % 3 ? body : `${name}${"[".repeat(30000)}`;
    return one.from === "target" ? { ...one, text: raw.slice(0, 32768), cut_from: raw.length > 32768 ? raw.length : undefined, headers: [["x-hostile", name.slice(0, 5000)], [HOSTILE[0], HOSTILE[4]]] } : one;
  };
  const transcript = (one, index) => ({
    ...one,
    stderr: text(index + 1),
    steps: one.steps.map((step) => ({ ...step, end: { invalid: { reason: text(index) } }, messages: step.messages.map(message(index)) })),
  });
  return { lines: lines.map(line), wire: wire.map(transcript) };
}

/** The texts with too little contrast to their background. */
export const faint = (page) =>
  page.evaluate(() => {
    const parsed = (text) => text.match(/[\d.]+/g).map(Number);
    const light = (colour) => {
      const [red, green, blue] = colour.slice(0, 3).map((one) => (one / 255 <= 0.03928 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const behind = (element) => {
      for (let one = element; one; one = one.parentElement) {
        const colour = parsed(getComputedStyle(one).backgroundColor);
        if (colour[3] !== 0) return colour;
      }
      return [255, 255, 255];
    };
    const found = new Set();
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const element = texts.currentNode.parentElement;
      if (!texts.currentNode.data.trim() || !element.checkVisibility()) continue;
      const [one, other] = [light(parsed(getComputedStyle(element).color)), light(behind(element))];
      const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
      if (contrast < 4.5) found.add(`${element.className || element.tagName}: ${contrast.toFixed(2)}`);
    }
    return [...found];
  });

/** The parts of a page that are wider than the window and do not scroll by themselves. */
export const wide = (page) =>
  page.evaluate(() => {
    const excess = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    if (excess <= 0) return [];
    const isScrolled = (element) => element.closest(".scroll, pre") && element.closest(".scroll, pre") !== element;
    const all = [...document.body.querySelectorAll("*")].filter((one) => !isScrolled(one) && one.getBoundingClientRect().right > document.documentElement.clientWidth + 1);
    return [`${excess} px`, ...all.slice(0, 5).map((one) => `${one.tagName} ${one.className} ${one.textContent.slice(0, 40)}`)];
  });
