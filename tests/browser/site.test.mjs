// Tests of the static site in a browser: from a folder and below a path of a server, on a phone, in print, by keyboard.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { OUTPUT, as, faint, hostile, run, wide, write } from "./records.mjs";

const MUTANT = "reference:input-not-validated";
const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 390, height: 844 };
const SITE = path.join(OUTPUT, "site");
const BELOW = "/some/where/";

/** One page of each kind. */
const PAGES = {
  index: "index.html",
  embedded: "embed/matrix.html",
  history: "targets/an-sdk/_/index.html",
  target: "targets/an-sdk/_/1.10.0/index.html",
  capability: "capabilities/input-types/index.html",
  requirement: "requirements/tools/inputs-validated/index.html",
  case: "cases/tools/arguments/index.html",
  results: "results/an-sdk/_/1.10.0/tools/arguments/index.html",
};

let browser, server, origin;

before(async () => {
  fs.rmSync(SITE, { recursive: true, force: true });
  fs.mkdirSync(OUTPUT, { recursive: true });
  const two = run("site-runs", ["reference", MUTANT], "--only", "tools/**", "--revision", "2026-07-28", "--transport", "http");
  const of = (target) => ({
    lines: two.lines
      .filter(({ record }) => !record || record.target === target)
      .map((line) => (line.header ? { header: { ...line.header, about: line.header.about.filter((one) => one.target === target) } } : line)),
    wire: [],
  });
  const [whole, broken] = [of("reference"), of(MUTANT)];
  const logs = [
    write("site-old", as(whole, "an-sdk", "1.9.0")),
    write("site-new", as(broken, "an-sdk", "1.10.0")),
    write("site-other", as(whole, "another-sdk", "0.1.0")),
    write("site-hostile", hostile(as(broken, `e<b>v"i'l &`, "1.0.0"))),
  ];
  const done = spawnSync(process.env.CASEBOOK, ["report", ...logs, "--report", `site=${SITE}`], { encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  server = http.createServer((request, response) => {
    const file = path.join(SITE, request.url.replace(BELOW, "/").replace(/\/$/, "/index.html"));
    const type = { ".html": "text/html", ".css": "text/css" }[path.extname(file)] ?? "text/plain";
    if (!request.url.startsWith(BELOW) || !fs.existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": type }).end(fs.readFileSync(file));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${server.address().port}${BELOW}`;
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
});

after(async () => {
  await browser?.close();
  server?.close();
});

const folder = () => `${pathToFileURL(SITE).href}/`;

/** Opens a page. When the test ends, fails if a page requested anything outside of the site, or had an error. */
async function open(t, name, { root = folder(), viewport = WIDE, scheme = "light" } = {}) {
  const context = await browser.newContext({ viewport, colorScheme: scheme });
  const page = await context.newPage();
  const wrong = [];
  page.on("request", (request) => request.url().startsWith(root) || request.url().endsWith("/favicon.ico") || wrong.push(`request: ${request.url()}`));
  page.on("response", (response) => response.status() < 400 || response.url().endsWith("/favicon.ico") || wrong.push(`${response.status()} ${response.url()}`));
  page.on("console", (message) => message.location().url.endsWith("/favicon.ico") || wrong.push(`console: ${message.text()}`));
  page.on("dialog", (dialog) => wrong.push(`dialog: ${dialog.message()}`) && dialog.dismiss());
  await page.goto(root + name);
  t.after(async () => {
    if (await page.evaluate(() => Boolean(globalThis.pwned))) wrong.push("text was executed");
    await context.close();
    assert.deepEqual(wrong, []);
  });
  return page;
}

const isStyled = (page) => page.evaluate(() => getComputedStyle(document.body).maxWidth !== "none" || document.body.className === "embedded");

test("each page works from a folder, in light and dark, wide and on a phone", async (t) => {
  for (const [name, file] of Object.entries(PAGES)) {
    for (const scheme of ["light", "dark"]) {
      const page = await open(t, file, { scheme });
      assert.ok(await isStyled(page), `${name} has no style`);
      assert.deepEqual(await faint(page), [], `${name}, ${scheme}`);
      await page.screenshot({ path: path.join(OUTPUT, `site-${name}-${scheme}.png`) });
      await page.setViewportSize(NARROW);
      assert.deepEqual(await wide(page), [], `${name} on a phone`);
      if (scheme === "light") await page.screenshot({ path: path.join(OUTPUT, `site-${name}-phone.png`) });
    }
  }
});

test("the site works below a path, and a cell leads to its evidence", async (t) => {
  const page = await open(t, "", { root: origin });
  await page.locator(".matrix td.wrong a, .matrix td.partly a").first().click();
  assert.match(page.url(), /\/capabilities\/[a-z-]+\/index\.html#an-sdk$/);
  const row = page.locator("tr:target");
  await row.locator("td:last-child a").first().click();
  assert.match(page.url(), /\/results\/an-sdk\/_\/1\.10\.0\/tools\/.*#/);
  assert.match(await page.locator(":target").innerText(), /casebook run an-sdk --only/);
  await page.getByRole("link", { name: "All targets" }).click();
  assert.equal(page.url(), `${origin}index.html`);
});

test("the keyboard reaches the matrix, its scrolling and its cells", async (t) => {
  const page = await open(t, PAGES.index, { viewport: NARROW });
  const focused = () => page.evaluate(() => document.activeElement.className);
  for (let at = 0; at < 10 && (await focused()) !== "scroll"; at++) await page.keyboard.press("Tab");
  assert.equal(await focused(), "scroll");
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.notEqual(outline, "none");
  const inCell = () => page.evaluate(() => Boolean(document.activeElement.closest(".matrix td")));
  for (let at = 0; at < 30 && !(await inCell()); at++) await page.keyboard.press("Tab");
  assert.ok(await inCell());
  await page.keyboard.press("Enter");
  await page.waitForURL(/capabilities/);
});

test("the matrix is a table whose cells have words and heads", async (t) => {
  const page = await open(t, PAGES.index);
  const region = page.getByRole("region", { name: "Questions about servers" }).first();
  assert.equal(await region.getByRole("columnheader", { name: /an-sdk/ }).first().isVisible(), true);
  const lacking = await page.evaluate(() => [...document.querySelectorAll(".matrix td a")].filter((one) => !/[a-z]{2}/.test(one.textContent)).map((one) => one.outerHTML));
  assert.deepEqual(lacking, []);
  const heads = await page.evaluate(() => [...document.querySelectorAll("th")].every((one) => ["row", "col", "rowgroup", "colgroup"].includes(one.scope)));
  assert.ok(heads);
});

test("printed pages are light and fit the paper", async (t) => {
  for (const file of [PAGES.index, PAGES.target]) {
    const page = await open(t, file, { scheme: "dark", viewport: { width: 720, height: 1000 } });
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    assert.deepEqual(await wide(page), [], file);
    assert.deepEqual(await faint(page), [], file);
  }
});

test("hostile text is text, and fits a phone", async (t) => {
  const [name] = fs.readdirSync(path.join(SITE, "targets")).filter((one) => one.startsWith("e-b-v-i-l~"));
  const [version] = fs.readdirSync(path.join(SITE, "targets", name, "_")).filter((one) => one !== "index.html");
  for (const file of [`targets/${name}/_/index.html`, `targets/${name}/_/${version}/index.html`, `results/${name}/_/${version}/tools/arguments/index.html`, PAGES.index]) {
    const page = await open(t, file, { viewport: NARROW });
    assert.equal(await page.locator("script, img, iframe, svg, object").count(), 0);
    assert.deepEqual(await wide(page), [], file);
    const hidden = await page.evaluate(() => /[\u0000-\u0008\u001b\u202a-\u202e\u2066-\u2069\u200b]/.test(document.documentElement.textContent));
    assert.equal(hidden, false, file);
  }
});
