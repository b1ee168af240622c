// Tests of the HTML report in a browser: with a pointer, with the keyboard, and with hostile data.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { HOSTILE, OUTPUT, as, hostile, page as pageOf, run, write } from "./records.mjs";

const MUTANT = "reference:input-not-validated";
const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 390, height: 844 };
/** The expected time for opening a page, in milliseconds, and the time limit, which even a busy machine must meet. */
const [EXPECTED, LIMIT] = [1000, 10_000];

const files = {};
let browser;

before(async () => {
  fs.mkdirSync(OUTPUT, { recursive: true });
  const two = run("two", ["reference", MUTANT], "--only", "sep-2106/**", "--only", "tools/**", "--revision", "2026-07-28", "--transport", "http");
  files.two = pageOf("two", path.join(OUTPUT, "two.jsonl"));
  const of = (target) => ({
    lines: two.lines.filter(({ record }) => !record || record.target === target).map((line) => (line.header ? { header: { ...line.header, about: line.header.about.filter((one) => one.target === target), planned: line.header.about.find((one) => one.target === target).planned } } : line)),
    wire: two.wire.filter((one) => one.target === target),
  });
  const [whole, broken] = [of("reference"), of(MUTANT)];
  files.history = pageOf("history", write("old", as(whole, "an-sdk", "1.9.0")), write("new", as(broken, "an-sdk", "1.10.0")));
  files.hostile = pageOf("hostile", write("bad", hostile(broken)));
  const twelve = Array.from({ length: 12 }, (_, at) => write(`many-${at}`, as(at % 3 ? whole : broken, `an-sdk-${at}`, "1.0.0")));
  files.large = pageOf("large", ...twelve);
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
});

after(() => browser?.close());

/** Opens a page. When the test ends, fails if the page made a request, had an error or violated its security policy. */
async function open(t, name, { hash = "", viewport = WIDE, scheme = "light", script = true } = {}) {
  const context = await browser.newContext({ viewport, colorScheme: scheme, javaScriptEnabled: script });
  const page = await context.newPage();
  const wrong = [];
  const address = pathToFileURL(files[name]).href;
  page.on("request", (request) => request.url().split("#")[0] !== address && wrong.push(`request: ${request.url()}`));
  page.on("pageerror", (error) => wrong.push(`error: ${error.stack}`));
  page.on("console", (message) => wrong.push(`console: ${message.text()}`));
  page.on("dialog", (dialog) => wrong.push(`dialog: ${dialog.message()}`) && dialog.dismiss());
  await page.addInitScript(() => {
    globalThis.violations = [];
    document.addEventListener("securitypolicyviolation", (event) => globalThis.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
  });
  await page.goto(address + hash);
  if (script) await ready(page);
  t.after(async () => {
    if (script) wrong.push(...(await page.evaluate(() => [...globalThis.violations, ...(globalThis.pwned ? [`ran: ${globalThis.pwned}`] : [])])));
    await context.close();
    assert.deepEqual(wrong, []);
  });
  return page;
}

/** Waits until the script has unpacked the data and drawn the page. */
const ready = (page) => page.locator("html[data-ready]").waitFor();

const cell = (page, requirement, target) =>
  page.locator("#matrix tr", { has: page.locator("th .name", { hasText: requirement }) }).locator(`td[data-target="${target}"]`);
const shown = (page) => page.locator("#matrix tbody tr:not(.group)").count();
/** Waits until the count shows the result of the filter. */
const settled = (page, text) => page.locator("#count", { hasText: text }).waitFor();
const shot = (page, name) => page.screenshot({ path: path.join(OUTPUT, `${name}.png`) });

/** Fails if a part of the page is wider than the window and does not scroll by itself. */
async function fits(page) {
  const wide = await page.evaluate(() => {
    const dialog = document.querySelector("dialog[open]");
    const holders = [document.documentElement, ...(dialog ? [dialog] : [])];
    return holders.filter((one) => one.scrollWidth > one.clientWidth).map((one) => `${one.localName}: ${one.scrollWidth} > ${one.clientWidth}`);
  });
  assert.deepEqual(wide, []);
}

/** The time from the beginning of the navigation until the matrix is drawn, in milliseconds. */
const loading = (page) => page.evaluate(() => performance.getEntriesByName("drawn")[0].startTime);

test("the matrix has a row per requirement and a column per target", async (t) => {
  const page = await open(t, "two");
  assert.equal(await page.getByRole("grid").count(), 1);
  assert.deepEqual(await page.getByRole("grid").getByRole("columnheader").allInnerTexts(), ["Requirement", "reference", MUTANT]);
  const broken = cell(page, "inputs-validated", MUTANT);
  assert.match(await broken.getAttribute("aria-label"), /^failed, \d+ of \d+ checks$/);
  // Rows outside of the window are not drawn, and have no inner text.
  assert.match(await broken.textContent(), /✕/);
  assert.match(await cell(page, "inputs-validated", "reference").getAttribute("aria-label"), /^passed, \d+ checks$/);
  assert.match(await page.locator("#area-tools .share").first().textContent(), /%\s*\d+\/\d+/);
  assert.match(await page.locator("#count").innerText(), /^\d+ requirements × 2 targets/);
  assert.ok((await page.locator("table.summary td").allInnerTexts()).length > 10);
});

test("filters are in the address and survive a reload", async (t) => {
  const page = await open(t, "two");
  const all = await shown(page);
  await page.getByRole("searchbox").fill("inputs-validated");
  await settled(page, "1 requirement ");
  assert.match(page.url(), /#q=inputs-validated$/);
  await page.getByRole("searchbox").fill("");
  await page.locator("summary", { hasText: "Verdicts" }).click();
  await page.locator('input[value="failed"]').check();
  await page.locator("summary", { hasText: "Targets" }).click();
  await page.locator(`input[value="${MUTANT}"]`).check();
  await settled(page, "× 1 target");
  const few = await shown(page);
  assert.ok(few > 0 && few < all, `${few} of ${all}`);
  assert.match(page.url(), /#target=reference:input-not-validated&verdict=failed$/);
  await page.reload();
  await ready(page);
  assert.equal(await shown(page), few);
  assert.ok(await page.locator('input[value="failed"]').isChecked());
  await page.getByRole("button", { name: "Clear" }).click();
  await settled(page, "× 2 targets");
  assert.equal(await shown(page), all);
  assert.doesNotMatch(page.url(), /#/);
});

test("each filter narrows the matrix, or reports no match", async (t) => {
  const counts = {};
  for (const hash of ["#area=tools", "#level=MUST", "#level=SHOULD", "#revision=2026-07-28", "#q=schema", "#verdict=not-taken"]) {
    counts[hash] = await shown(await open(t, "two", { hash }));
  }
  const all = await shown(await open(t, "two"));
  assert.equal(counts["#revision=2026-07-28"], all);
  for (const hash of ["#area=tools", "#level=MUST", "#q=schema"]) assert.ok(counts[hash] > 0 && counts[hash] < all, hash);
  const none = await open(t, "two", { hash: "#q=no-such-words" });
  assert.match(await none.locator("#count").innerText(), /Nothing matches/);
});

test("a cell opens the requirement with its evidence", async (t) => {
  const page = await open(t, "two");
  await cell(page, "inputs-validated", MUTANT).click();
  const dialog = page.getByRole("dialog");
  assert.match(await dialog.locator("h2").innerText(), /tools\/inputs-validated/);
  assert.match(await dialog.locator("blockquote").innerText(), /Validate all tool inputs/);
  assert.match(await dialog.locator("cite a").getAttribute("href"), /^https:\/\/modelcontextprotocol\.io\/specification/);
  const first = dialog.locator("details.test[open]").first();
  assert.match(await first.locator(".check").first().innerText(), /expected[\s\S]*observed\s+success/);
  const messages = first.locator(".wire li");
  assert.match(await messages.first().innerText(), /casebook[\s\S]*tools\/call/);
  assert.match(await messages.nth(1).innerText(), /target[\s\S]*HTTP 200[\s\S]*"result"/);
  await messages.nth(1).locator("summary").click();
  assert.match(await messages.nth(1).locator("dl").innerText(), /content-type/);
  await first.locator("summary", { hasText: "Fixture" }).click();
  assert.match(await first.getByRole("region", { name: "Fixture" }).innerText(), /inputSchema/);
  assert.match(page.url(), /#cell=tools\/inputs-validated,reference:input-not-validated$/);
  await fits(page);
});

test("the address of a check opens this check", async (t) => {
  const page = await open(t, "two", { hash: `#cell=tools/inputs-validated,${MUTANT}` });
  const hash = await page.locator(".check .anchor").first().getAttribute("href");
  assert.match(hash, /^#check=reference:input-not-validated,sep-\d+\/.*@2026-07-28\+http,\d+,tools\/inputs-validated$/);
  const again = await open(t, "two", { hash });
  await again.locator(".check.wanted").waitFor();
  assert.equal(await again.locator("details.test[open]").count(), 1);
});

test("the keyboard moves in the grid, opens and closes cells", async (t) => {
  const page = await open(t, "two");
  const label = () => page.evaluate(() => document.activeElement.dataset.cell);
  await page.locator('#matrix td[tabindex="0"]').focus();
  const first = await label();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  const there = await label();
  assert.notEqual(there, first);
  assert.equal(await page.locator('#matrix td[tabindex="0"]').count(), 1);
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  // The address follows when the dialog has closed.
  await page.waitForFunction(() => !location.hash.includes("cell="));
  assert.equal(await page.locator("dialog[open]").count(), 0);
  assert.equal(await label(), there);
});

test("versions of a target are adjacent, changes can be filtered", async (t) => {
  const page = await open(t, "history");
  const heads = await page.getByRole("grid").getByRole("columnheader").allInnerTexts();
  assert.ok(heads[1].includes("1.9.0") && heads[2].includes("1.10.0"), heads.join("; "));
  const all = await shown(page);
  await page.getByLabel("Changed between versions").check();
  await page.waitForFunction((before) => document.querySelectorAll("#matrix tbody tr:not(.group)").length < before, all);
  const worse = page.locator('td[aria-label*="worse than 1.9.0"]');
  assert.ok((await worse.count()) > 0);
  assert.match(await worse.first().innerText(), /▼/);
});

test("hostile text executes and loads nothing, and fits the page", async (t) => {
  for (const viewport of [WIDE, NARROW]) {
    const page = await open(t, "hostile", { viewport });
    await fits(page);
    await page.locator("#matrix td.failed").first().click();
    await page.getByRole("dialog").waitFor();
    const unfold = () => page.evaluate(() => document.querySelectorAll("dialog details").forEach((one) => (one.open = true)));
    for (let level = 0; level < 3; level++) await unfold();
    await fits(page);
    assert.equal(await page.locator("img, svg, iframe, object, embed, base, dialog script, main script").count(), 0);
    const text = await page.locator("dialog").innerText();
    assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069]/);
    assert.match(text, /‹U\+001B›/);
    assert.match(text, /‹U\+202E›/);
    assert.match(text, /<\/script>/);
    await shot(page, `hostile-${viewport.width}`);
  }
  const html = fs.readFileSync(files.hostile, "utf8");
  for (const one of HOSTILE.slice(0, 3)) assert.ok(!html.includes(one), one);
});

test("an address with names of object members filters nothing", async (t) => {
  for (const name of ["toString", "constructor", "__proto__", "hasOwnProperty"]) {
    const page = await open(t, "two", { hash: `#${name}=1&level=${name}&cell=${name},${name}` });
    assert.ok((await shown(page)) > 0, name);
  }
});

test("large pages open within the time limit", async (t) => {
  for (const name of ["two", "hostile", "large"]) {
    const times = [];
    for (let turn = 0; turn < 3; turn++) times.push(await loading(await open(t, name)));
    const best = Math.round(Math.min(...times));
    const size = (fs.statSync(files[name]).size / 1e6).toFixed(1);
    t.diagnostic(`${name}: ${best} ms, ${size} MB${best > EXPECTED ? `, more than the expected ${EXPECTED} ms` : ""}`);
    assert.ok(best < LIMIT, `${name} took ${best} ms`);
  }
});

test("without scripts the page shows numbers and findings", async (t) => {
  const page = await open(t, "two", { script: false });
  const text = await page.locator("main").innerText();
  assert.match(text, /tools\/inputs-validated/);
  assert.match(text, /skipped/);
});

test("the page fits light, dark, wide, narrow and printed views", async (t) => {
  for (const scheme of ["light", "dark"]) {
    for (const [name, viewport] of [["wide", WIDE], ["narrow", NARROW]]) {
      for (const what of ["two", "large", "history"]) {
        const page = await open(t, what, { viewport, scheme });
        await fits(page);
        await shot(page, `${what}-${name}-${scheme}`);
      }
      const page = await open(t, "two", { viewport, scheme, hash: `#cell=tools/inputs-validated,${MUTANT}` });
      await fits(page);
      await shot(page, `evidence-${name}-${scheme}`);
    }
  }
  const page = await open(t, "two");
  await page.emulateMedia({ media: "print" });
  assert.ok(await page.locator("#filters").isHidden());
  await page.pdf({ path: path.join(OUTPUT, "two.pdf") });
});
