// The real Claude Code with a scripted model: its dialog waits for a person, who answers it in the browser.
// Runs where CODEX_TEST_CLAUDE names a claude binary.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { bash, claudeCode, model, SKIP } from "./claude.mjs";
import { browser, until, World } from "./support.mjs";

let chromium;
before(async () => { chromium = await browser(); });
after(() => chromium.close());

test("a dialog of Claude Code is seen and answered in the browser", SKIP, async () => {
  const server = await model([bash("curl -o fetched http://127.0.0.1:1/")]);
  const world = new World();
  try {
    claudeCode(world, server);
    await world.dashboard();
    const page = await world.page(chromium);
    const id = await world.coder("Fetch it");
    await page.waitForSelector(`.column.alarm #card-${id} .need`);
    assert.match(await page.textContent(`#card-${id} .need`), /Answer its/);
    await page.click(`#card-${id} .card-link`);
    await until("the dialog is on the page", async () => (await page.textContent("[data-part=screen]")).includes("Do you want to proceed?"));
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/claude.png` });
    await page.click("[data-part=control]");
    await page.waitForSelector(".is-mine");
    await page.keyboard.press("Enter");
    await until("it has gone on", async () => (await page.textContent("[data-part=screen]")).includes("Done."));
    await page.click("[data-part=control]");
    await until("nobody waits", async () => (await page.isHidden("#waiting-count")) && !(await page.isVisible("main .need")));
    assert.ok(await page.isVisible(".term.is-live"));
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/claude-after.png` });
    assert.deepEqual(page.problems, []);
  } finally {
    await world.dispose();
    server.closeAllConnections();
    server.close();
  }
});

test("a dialog is answered from its card", SKIP, async () => {
  const server = await model([bash("curl -o fetched http://127.0.0.1:1/")]);
  const world = new World();
  try {
    claudeCode(world, server);
    await world.dashboard();
    const page = await world.page(chromium);
    const id = await world.coder("Fetch it");
    const card = `#card-${id}`;
    await page.waitForSelector(`${card} .dialog-choices button`);
    assert.match(await page.textContent(`${card} .dialog-about`), /curl -o fetched/);
    assert.match(await page.textContent(`${card} .dialog`), /Do you want to proceed\?/);
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/dialog.png` });
    await page.click(`${card} .dialog-choices button[value='1']`);
    await page.waitForURL(world.origin + "/**");
    await until("it has gone on", async () => world.run("tmux", ["-L", world.socket, "capture-pane", "-p", "-t", `=${id}:`]).includes("Done."));
    await page.waitForSelector(`${card} .dialog`, { state: "detached" });
    assert.deepEqual(page.problems, []);
  } finally {
    await world.dispose();
    server.closeAllConnections();
    server.close();
  }
});
