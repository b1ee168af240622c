// Tests of the HTML report in a browser: with a pointer, with the keyboard, and with hostile data.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { HOSTILE, OUTPUT, as, hostile, known, page as pageOf, run, write } from "./records.mjs";

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
  const twelve = Array.from({ length: 12 }, (_, at) => write(`many-${at}`, as(at % 3 ? whole : broken, at % 4 === 3 ? `an-sdk-${at - 1}:other` : `an-sdk-${at}`, "1.0.0")));
  files.large = pageOf("large", ...twelve);
  files.conformance = pageOf("conformance", write("sdk-a", as(known(broken), "sdk-a", "1.0.0")), write("sdk-b", as(whole, "sdk-b", "2.0.0")));
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
/** The number of requirements that pass the filter, folded ones included. */
const shown = async (page) => Number((await page.locator("#count").innerText()).match(/^[\d,]+/)?.[0].replace(",", "") ?? 0);
const matrix = (page) => page.getByRole("grid", { name: "Requirements and targets" });
const answer = (page, capability, target) => page.locator(`#capabilities button[aria-label*="${target}: "][data-answer^="${capability} "]`);
/** Closes the evidence with the keyboard, and waits until the address has followed. */
async function escape(page) {
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !/(cell|check|capability)=/.test(location.hash));
}
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
  assert.equal(await matrix(page).count(), 1);
  assert.deepEqual(await matrix(page).getByRole("columnheader").allInnerTexts(), ["Requirement", "reference", MUTANT]);
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
  const heads = await matrix(page).getByRole("columnheader").allInnerTexts();
  assert.ok(heads[1].includes("1.9.0") && heads[2].includes("1.10.0"), heads.join("; "));
  const all = await shown(page);
  await page.getByLabel("Changed between versions").check();
  await page.waitForFunction((before) => parseInt(document.querySelector("#count").textContent) < before, all);
  const worse = page.locator('td[aria-label*="worse than 1.9.0"]');
  assert.ok((await worse.count()) > 0);
  // Not `innerText`: the page does not render the sections of the matrix that are outside the window.
  assert.match(await worse.first().textContent(), /▼/);
  await page.evaluate(() => (location.hash = `#target=${encodeURIComponent("an-sdk 1.10.0")}`));
  const broken = page.locator("#target ol.broken");
  await broken.waitFor();
  assert.match(await broken.innerText(), /since 1\.10\.0; it held in 1\.9\.0/);
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
  const line = page.locator('#capabilities [data-capability="input-types"]');
  assert.match(await line.innerText(), /Are arguments checked against the types[\s\S]*server[\s\S]*✓\s+yes[\s\S]*✗\s+no/);
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
  assert.ok(await page.locator(".controls").first().isHidden());
  assert.match(await page.locator('#capabilities [data-capability="input-types"]').innerText(), /✓\s+yes[\s\S]*✗\s+no/);
  const box = page.locator(".scroll");
  assert.deepEqual(await box.evaluate((one) => getComputedStyle(one).overflow), "visible");
  await page.pdf({ path: path.join(OUTPUT, "two.pdf") });
});

test("the page opens with its question and with what targets can do", async (t) => {
  const page = await open(t, "conformance");
  assert.match(await page.locator("header").innerText(), /^conformance: what the specification says/i);
  const table = page.getByRole("grid", { name: "Capabilities and targets" });
  assert.deepEqual(await table.getByRole("columnheader").allInnerTexts(), ["Question", "sdk-a\n1.0.0", "sdk-b\n2.0.0"]);
  const label = await answer(page, "input-types", "sdk-a").getAttribute("aria-label");
  assert.match(label, /^Are arguments checked against the types.*\? sdk-a: (no|partly \(\d+ of \d+\))$/);
  assert.match(await answer(page, "input-types", "sdk-b").innerText(), /✓\s*yes/);
  assert.match(await page.locator(".overview").innerText(), /right answer to \d+ of \d+ questions/);
  assert.match(await page.locator(".sentences").innerText(), /sdk-a[\s\S]*\d+ of \d+/);
});

test("known failures are failures in the conformance view", async (t) => {
  const page = await open(t, "conformance");
  assert.match(await cell(page, "inputs-validated", "sdk-a").getAttribute("aria-label"), /^failed/);
  assert.equal(await page.locator('input[value="known"]').count(), 0);
  await cell(page, "inputs-validated", "sdk-a").click();
  const check = page.locator("dialog .check.failed").first();
  assert.match(await check.innerText(), /failed[\s\S]*Reason in target\.toml: it is slow/);
});

test("an answer opens its tests, those that fail first", async (t) => {
  const page = await open(t, "conformance");
  await answer(page, "input-types", "sdk-a").click();
  const dialog = page.getByRole("dialog");
  assert.match(await dialog.locator("h2").innerText(), /Are arguments checked against the types/);
  assert.match(await dialog.locator("header").innerText(), /sdk-a · 1\.0\.0 · (no|partly)/);
  const first = dialog.locator("details.test").first();
  assert.match(await first.locator(".check").first().innerText(), /failed[\s\S]*expected[\s\S]*observed/);
  assert.match(await first.locator(".wire li").first().innerText(), /tools\/call/);
  await first.locator("summary", { hasText: "Run this test again" }).click();
  const again = await first.getByRole("region", { name: "Run this test again" }).innerText();
  assert.match(again, /^casebook run sdk-a --only [\w./-]+@2026-07-28\+http$/);
  assert.match(page.url(), /#capability=input-types,sdk-a$/);
  await escape(page);
  assert.equal(await page.evaluate(() => document.activeElement.dataset.answer.split(" ")[0]), "input-types");
  const all = await open(t, "conformance", { hash: "#capability=input-types" });
  assert.match(await all.getByRole("dialog").innerText(), /sdk-a[\s\S]*sdk-b yes[\s\S]*MUST/);
  await all.getByRole("dialog").getByRole("link", { name: "sdk-a" }).click();
  await all.locator("dialog .check.failed").first().waitFor();
});

test("the keyboard moves through answers, opens and closes them", async (t) => {
  const page = await open(t, "conformance");
  const active = () => page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  assert.equal(await page.locator('#capabilities button[tabindex="0"]').count(), 1);
  await page.locator('#capabilities button[tabindex="0"]').focus();
  const first = await active();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  const there = await active();
  assert.match(there, /sdk-b/);
  assert.notEqual(there, first);
  await page.keyboard.press("Home");
  assert.match(await active(), /Answers of all targets$/);
  await page.keyboard.press("End");
  assert.equal(await active(), there);
  assert.equal(await page.locator('#capabilities button[tabindex="0"]').count(), 1);
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), "none");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("dialog[open]").count(), 0);
  assert.equal(await active(), there);
});

test("a target has a section with its answers and broken sentences", async (t) => {
  const page = await open(t, "conformance");
  await page.locator("#capabilities thead a", { hasText: "sdk-a" }).click();
  const section = page.locator("#target");
  await section.waitFor();
  assert.match(page.url(), /#target=sdk-a$/);
  assert.match(await section.innerText(), /As a server: \d+ of \d+ MUST sentences hold[\s\S]*What it can and cannot do[\s\S]*sentences? with a check that fails/);
  const broken = section.locator(".broken > li").first();
  assert.match(await broken.innerText(), /silent-acceptance\s+tools\/inputs-validated[\s\S]*Validate all tool inputs[\s\S]*MUST · server · https:\/\/modelcontextprotocol\.io/);
  assert.equal(await section.locator('.broken a[href="https://example.com/issues/1"]').count() > 0, true);
  await broken.getByRole("link", { name: /tests and messages/ }).click();
  await page.locator("dialog .check").first().waitFor();
  await escape(page);
  assert.match(page.url(), /#target=sdk-a$/);
  await section.getByLabel("Compare with").selectOption("sdk-b");
  await page.locator("#target h2", { hasText: "From sdk-a to sdk-b" }).waitFor();
  assert.match(await page.locator("#target").innerText(), /Better \(\d+\)/);
  await page.getByRole("link", { name: "All targets", exact: true }).click();
  await page.locator("#target").waitFor({ state: "detached" });
});

test("requirements that hold everywhere are folded until they are asked for", async (t) => {
  const page = await open(t, "conformance");
  const rows = () => page.locator("#matrix tr[data-row]").count();
  const [all, few] = [await shown(page), await rows()];
  assert.ok(few < all, `${few} of ${all}`);
  await page.locator("#matrix .unfold").first().click();
  assert.ok((await rows()) > few);
  assert.ok(await page.evaluate(() => document.activeElement.matches("#matrix td")));
});

test("many targets show one variant each until all are asked for", async (t) => {
  const page = await open(t, "large");
  const columns = () => page.locator("#capabilities thead th:visible").count();
  assert.equal(await columns(), 10);
  await settled(page, "× 9 targets");
  await page.getByLabel("All targets and variants").check();
  assert.equal(await columns(), 13);
  await settled(page, "× 12 targets");
  assert.match(page.url(), /#variants=1$/);
  await page.reload();
  await ready(page);
  assert.equal(await columns(), 13);
});

test("a narrow window can show the answers of one target", async (t) => {
  const page = await open(t, "large", { viewport: NARROW });
  await fits(page);
  const box = page.locator(".scroll");
  assert.ok(await box.evaluate((one) => one.scrollWidth > one.clientWidth), "the table scrolls in its own box");
  const column = () => page.locator("#capabilities thead th:visible").count();
  assert.equal(await column(), 10);
  await page.locator(".overview").getByLabel("Show").selectOption({ label: "an-sdk-2:other" });
  assert.equal(await column(), 2);
  assert.ok(await box.evaluate((one) => one.scrollWidth === one.clientWidth), "one column fits");
  await shot(page, "one-target-narrow");
});

/** The texts of a page whose contrast with their background is too low. */
const faint = (page) =>
  page.evaluate(() => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const rgb = (colour) => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const light = (colour) => colour.slice(0, 3).reduce((sum, part, at) => sum + [0.2126, 0.7152, 0.0722][at] * (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4), 0);
    const behind = (one) => {
      const own = rgb(getComputedStyle(one).backgroundColor);
      return own[3] > 0 || !one.parentElement ? own : behind(one.parentElement);
    };
    const found = new Set();
    for (const one of document.querySelectorAll("body *")) {
      const text = [...one.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data.trim()).join("");
      if (!text || !one.checkVisibility({ visibilityProperty: true }) || one.closest(".faded, option, script")) continue;
      const [a, b] = [light(rgb(getComputedStyle(one).color)), light(behind(one))];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < 4.5) found.add(`${one.localName}.${one.className} ${ratio.toFixed(2)}: ${text.slice(0, 40)}`);
    }
    return [...found];
  });

test("all text has enough contrast in light and dark", async (t) => {
  for (const scheme of ["light", "dark"]) {
    for (const [name, hash] of [["conformance", "#target=sdk-a"], ["conformance", "#capability=input-types,sdk-a"], ["two", ""]]) {
      const page = await open(t, name, { scheme, hash });
      assert.deepEqual(await faint(page), [], `${name} ${scheme}`);
    }
  }
});

test("an opening picture of hostile targets fits the page", async (t) => {
  for (const viewport of [WIDE, NARROW]) {
    const page = await open(t, "hostile", { viewport });
    assert.ok((await page.locator("#capabilities button").count()) > 3);
    await fits(page);
    await page.locator("#capabilities td button").first().click();
    await page.getByRole("dialog").waitFor();
    await fits(page);
    const text = await page.locator("main").innerText();
    assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069]/);
    assert.equal(await page.locator("img, svg, iframe, object, embed, base").count(), 0);
  }
});
