// Tests of the HTML report in a browser: one file without a script, with hostile data too.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { OUTPUT, as, faint, hostile, known, page as pageOf, run, wide, write } from "./records.mjs";

const MUTANT = "reference:input-not-validated";
const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 320, height: 844 };

const files = {};
let browser;

before(async () => {
  fs.mkdirSync(OUTPUT, { recursive: true });
  const two = run("two", ["reference", MUTANT], "--only", "sep-2106/**", "--only", "tools/**", "--revision", "2026-07-28", "--transport", "http");
  const of = (target) => ({
    lines: two.lines.filter(({ record }) => !record || record.target === target).map((line) => (line.header ? { header: { ...line.header, about: line.header.about.filter((one) => one.target === target) } } : line)),
    wire: two.wire.filter((one) => one.target === target),
  });
  const [whole, broken] = [of("reference"), of(MUTANT)];
  files.conformance = pageOf("conformance", write("sdk-a", as(known(broken), "sdk-a", "1.0.0")), write("sdk-b", as(whole, "sdk-b", "2.0.0")));
  files.hostile = pageOf("hostile", write("bad", hostile(as(broken, "bad-sdk", "1.0.0"))));
  const twelve = Array.from({ length: 12 }, (_, at) => write(`many-${at}`, as(at % 3 ? whole : broken, `an-sdk-${at}`, "1.0.0")));
  files.large = pageOf("large", ...twelve);
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
});

after(() => browser?.close());

/** Opens a page. When the test ends, fails if the page made a request or had an error. */
async function open(t, name, { hash = "", viewport = WIDE, scheme = "light", script = true } = {}) {
  const context = await browser.newContext({ viewport, colorScheme: scheme, javaScriptEnabled: script });
  const page = await context.newPage();
  const wrong = [];
  const address = pathToFileURL(files[name]).href;
  page.on("request", (request) => request.url().split("#")[0] !== address && wrong.push(`request: ${request.url()}`));
  page.on("console", (message) => wrong.push(`console: ${message.text()}`));
  page.on("dialog", (dialog) => wrong.push(`dialog: ${dialog.message()}`) && dialog.dismiss());
  await page.goto(address + hash);
  t.after(async () => {
    if (script && (await page.evaluate(() => Boolean(globalThis.pwned)))) wrong.push("text was executed");
    await context.close();
    assert.deepEqual(wrong, []);
  });
  return page;
}

test("an answer leads to its reasons, and from there to the messages", async (t) => {
  const page = await open(t, "conformance", { script: false });
  const row = page.locator(".matrix tr", { hasText: "Are arguments of the wrong type refused?" });
  assert.match(await row.locator("td").first().innerText(), /^✗ |^! /);
  assert.equal(await row.locator("td").nth(1).innerText(), "✓ yes");
  await row.locator("td a").first().click();
  assert.match(page.url(), /#capabilities\/input-types--sdk-a$/);
  const line = page.locator("tr:target");
  assert.match(await line.innerText(), /it is slow/);
  await line.locator(".reason a").first().click();
  const result = page.locator("section.broken:target");
  assert.match(await result.innerText(), /casebook run sdk-a --only/);
  assert.match(await result.locator(".messages").innerText(), /sent .*"tools\/call"/);
});

test("the example of what holds has its messages", async (t) => {
  const page = await open(t, "conformance", { hash: "#capabilities/input-types--sdk-b" });
  const line = page.locator("tr:target");
  await line.locator("summary", { hasText: "Example" }).click();
  assert.match(await line.locator(".messages").innerText(), /received .*"jsonrpc"/);
});

test("each place that a link leads to is there, once", async (t) => {
  const page = await open(t, "conformance");
  const { twice, dead } = await page.evaluate(() => {
    const ids = new Map();
    for (const one of document.querySelectorAll("[id]")) ids.set(one.id, (ids.get(one.id) ?? 0) + 1);
    const links = [...document.querySelectorAll('a[href^="#"]')].map((one) => decodeURIComponent(one.getAttribute("href").slice(1)));
    return { twice: [...ids].filter(([, count]) => count > 1).slice(0, 5), dead: links.filter((id) => !ids.has(id)).slice(0, 5) };
  });
  assert.deepEqual({ twice, dead }, { twice: [], dead: [] });
});

test("no width overflows, and all text can be read", async (t) => {
  for (const scheme of ["light", "dark"]) {
    const page = await open(t, "conformance", { scheme });
    assert.deepEqual(await faint(page), [], scheme);
    for (const width of [320, 390, 768, 1024, 1480, 2560]) {
      await page.setViewportSize({ width, height: 900 });
      assert.deepEqual(await wide(page), [], `${width}`);
    }
    await page.screenshot({ path: path.join(OUTPUT, `report-${scheme}.png`) });
  }
});

test("many targets fit, and only hostile text is text", async (t) => {
  const large = await open(t, "large");
  assert.equal(await large.locator(".matrix thead").first().locator("th[scope=col]").count(), 12);
  const bad = await open(t, "hostile", { viewport: NARROW });
  assert.deepEqual(await wide(bad), []);
  assert.equal(await bad.locator("script, img, iframe, svg, object").count(), 0);
  const hidden = await bad.evaluate(() => /[\u0000-\u0008\u001b\u202a-\u202e\u2066-\u2069\u200b]/.test(document.documentElement.textContent));
  assert.equal(hidden, false);
});
