// The demo can be watched in the browser from start to end.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, before, test } from "node:test";
import { browser, PATIENCE, PROGRAM, until } from "./support.mjs";

let chromium;
before(async () => { chromium = await browser(); });
after(() => chromium.close());

test("the demo waits for its viewer and is followed to the merge", async () => {
  const demo = spawn(PROGRAM, ["demo", "--dashboard"], { env: { PATH: process.env.PATH, HOME: process.env.HOME, LANG: "C.UTF-8" }, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  demo.stdout.on("data", (text) => { said += text; });
  demo.stderr.on("data", (text) => { said += text; });
  const ended = new Promise((done) => demo.once("exit", done));
  try {
    const address = await until("it says where", () => said.match(/http:\S+token=\S+/)?.[0]);
    assert.ok(!said.includes("planner"), said);
    const page = await (await chromium.newContext()).newPage();
    page.setDefaultTimeout(PATIENCE);
    await page.goto(address);
    await page.waitForSelector("#column-working [id^=card-plan]");
    await page.waitForSelector("#column-working [id^=card-work]");
    await page.waitForSelector("#column-review [id^=card-review]");
    await page.click("[id^=card-work] .card-link");
    await page.waitForSelector("#reviews .findings");
    await until("the terminal shows its work", async () => (await page.textContent("[data-part=screen]")).includes("tests/run.sh"));
    await until("it is merged", async () => (await page.textContent("h1")).includes("merged"));
    await until("it lets people look around", () => said.includes("explore the dashboard"));
    demo.kill("SIGINT");
    assert.equal(await ended, 0, said);
    assert.match(said, /Merged/);
  } finally {
    demo.kill("SIGINT");
    await ended;
  }
});
