// The page's journeys in Firefox, driven by WebDriver BiDi: `make firefox` runs them.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

const { FIREFOX, DRIVER, SITE, FILES } = process.env; // see firefox.py
const puppeteer = createRequire(join(DRIVER, "package.json"))("puppeteer-core").default;
const PATIENCE = { timeout: 90_000 };
const OF_THE_DRIVER = "blocked assigning to an injection sink"; // it injects scripts of its own

let browser;
const complaints = [];

class Page {
  static async open(address = SITE) {
    const page = await browser.newPage();
    page.on("console", (said) => ["error", "warn"].includes(said.type()) && complaints.push(said.text()));
    page.on("pageerror", ({ message }) => message.includes(OF_THE_DRIVER) || complaints.push(message));
    await page.goto(address);
    await page.waitForSelector("body[data-state=ready]", PATIENCE);
    return new Page(page);
  }

  constructor(page) {
    this.page = page;
  }

  at = (name) => this.page.waitForSelector(`[data-testid="${name}"]`, PATIENCE);
  text = async (name) => (await this.at(name)).evaluate((element) => element.innerText);
  turns = () => this.page.$eval("body", (body) => Number(body.dataset.turns));

  /** Wait until a file more than `turns` has come to its end: done or error. */
  async outcome(turns) {
    await this.page.waitForSelector(`body[data-turns="${turns + 1}"]`, PATIENCE);
    return this.page.$eval("body", (body) => body.dataset.job);
  }

  async choose(name) {
    const turns = await this.turns();
    await (await this.at("file-input")).uploadFile(join(FILES, name));
    return this.outcome(turns);
  }

  /** The bytes of a file that the page saves. */
  async download(kind, name) {
    await (await this.at(`download-${kind}`)).click();
    for (let wait = 0; wait < 100; wait++) {
      const bytes = await readFile(join(FILES, "saved", name)).catch(() => null);
      if (bytes?.length) return bytes;
      await pause(100);
    }
    throw new Error(`${name} has not been saved`);
  }
}

before(async () => {
  browser = await puppeteer.launch({
    browser: "firefox",
    executablePath: FIREFOX,
    headless: true,
    extraPrefsFirefox: {
      "browser.download.folderList": 2,
      "browser.download.dir": join(FILES, "saved"),
      "browser.download.useDownloadDir": true,
      "browser.download.always_ask_before_handling_new_types": false,
    },
  });
});

after(async () => {
  await browser?.close();
  assert.deepEqual(complaints, []);
});

test("a network becomes ONNX, equal in two runtimes, and is saved as Python writes it", async () => {
  const page = await Page.open();
  assert.equal(await page.choose("winner.json"), "done");
  assert.match(await page.text("verdict"), /passed/);
  await page.page.waitForSelector('[data-testid="second-verdict"]', PATIENCE);
  assert.match(await page.text("second"), /Equal[^]*onnxruntime-web/);
  const [saved, expected] = [await page.download("onnx", "winner.onnx"), await readFile(join(FILES, "expected.onnx"))];
  assert.ok(saved.equals(expected));
});

test("an ONNX file becomes a network", async () => {
  const page = await Page.open();
  assert.equal(await page.choose("expected.onnx"), "done");
  assert.match(await page.text("verdict"), /passed/);
});

test("an input that is moved changes the outputs", async () => {
  const page = await Page.open();
  assert.equal(await page.choose("winner.json"), "done");
  const before = await page.text("step-outputs");
  await (await page.at("slide-input-0")).focus();
  for (let step = 0; step < 20; step++) await page.page.keyboard.press("ArrowRight");
  assert.notEqual(await page.text("step-outputs"), before);
});

test("a network with memory is played step by step", async () => {
  const page = await Page.open();
  assert.equal(await page.choose("memory.json"), "done");
  for (let step = 0; step < 3; step++) await (await page.at("step-button")).click();
  const rows = await page.page.$$eval('[data-testid="step-outputs"] tbody tr', (found) => found.length);
  assert.ok(rows >= 3, `${rows} rows`);
});

test("a link opens the same genome in another tab", async () => {
  const page = await Page.open();
  assert.equal(await page.choose("winner.json"), "done");
  for (let wait = 0; wait < 50 && !page.page.url().includes("#"); wait++) await pause(100);
  const other = await Page.open(page.page.url());
  await other.outcome(0);
  assert.equal(await other.text("verdict"), await page.text("verdict"));
});

test("a file that is no network is refused in words", async () => {
  const page = await Page.open();
  assert.equal(await page.choose("picture.json"), "error");
  assert.match(await page.text("error"), /This is a PNG image/);
});

test("the service worker keeps the site", async () => {
  const page = await Page.open();
  const kept = () => navigator.serviceWorker.getRegistration().then((found) => found?.active?.state);
  for (let wait = 0; wait < 100 && (await page.page.evaluate(kept)) !== "activated"; wait++) await pause(100);
  assert.equal(await page.page.evaluate(kept), "activated");
});
