// The board follows what happens, in every browser that looks at it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browser, until, World } from "./support.mjs";

let chromium;
before(async () => { chromium = await browser(); });
after(() => chromium.close());

const column = (page, id) => page.$eval(`#card-${id}`, (card) => card.closest(".column").id.replace("column-", "")).catch(() => null);

test("the board follows a loop from its start to the merge", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const page = await world.page(chromium);
    assert.match(await page.title(), /^Board/);
    const shows = (name, id) => page.waitForSelector(`#column-${name} #card-${id}`);
    // Each step is taken when the one before is on the screen: an agent in a hurry is too quick for any eye.
    const id = await world.coder("Write the first line");
    await shows("working", id);
    await world.does(id, "sh", "-c", "echo first > line.txt; git add -A; git commit -q -m first");
    const asked = await world.call(id, "request_review", { description: "look" });
    const reviewer = asked.result.reviewInstanceId;
    await shows("review", id);
    await shows("review", reviewer);
    await world.call(reviewer, "create_pr", { title: "The first line", description: "It is there." });
    await shows("published", id);
    await shows("ended", reviewer);
    const pull = await page.$eval(`#card-${id} a.chip[href^='/pulls/']`, (link) => link.textContent.trim());
    assert.equal(pull, "#1");
    world.codex("pr", "merge", "1");
    await shows("ended", id);
    await until("its status is told", async () => (await page.textContent(`#card-${id}`)).includes("merged"));
    assert.deepEqual(page.problems, []);
  } finally {
    await world.dispose();
  }
});

test("a change is on the screen within half a second", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const id = await world.coder();
    const page = await world.page(chromium, { path: `/agents/${id}` });
    await page.waitForSelector("#live:not(.lost):not([hidden])");
    await page.evaluate(() => {
      window.came = new Promise((came) => {
        new MutationObserver(() => document.querySelector("#messages") && came(Date.now())).observe(document.getElementById("main"), { childList: true, subtree: true });
      });
    });
    const sent = world.codex("send", id, "Something new");
    assert.ok(sent);
    const came = await page.evaluate(() => window.came);
    const { messages } = world.instance(id);
    const delay = came - Date.parse(messages[0].createdAt);
    assert.ok(delay < 1500, `${delay} ms`);
    console.log(`# change to screen: ${delay} ms`);
  } finally {
    await world.dispose();
  }
});

test("two browsers see the same, and keep what their people are doing", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const first = await world.coder("One thing");
    const [one, other] = [await world.page(chromium), await world.page(chromium)];
    for (const page of [one, other]) await page.waitForSelector(`#column-working #card-${first}`);
    // One is about to filter, the other is on a card.
    await one.fill("#find", "nothing like that");
    await other.focus(`#card-${first} .card-link`);
    const second = await world.coder("Another thing");
    for (const page of [one, other]) await page.waitForSelector(`#card-${second}`, { state: "attached" });
    assert.equal(await one.inputValue("#find"), "nothing like that");
    assert.equal(await one.isVisible(`#card-${second}`), false);
    assert.equal(await other.evaluate(() => document.activeElement.textContent), first);
    // Keys walk from card to card.
    await other.keyboard.press("j");
    assert.equal(await other.evaluate(() => document.activeElement.textContent), second);
    await other.keyboard.press("Enter");
    await other.waitForURL(`**/agents/${second}`);
    assert.deepEqual([...one.problems, ...other.problems], []);
  } finally {
    await world.dispose();
  }
});

test("a browser finds the server again after a restart", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const port = new URL(world.address).port;
    const page = await world.page(chromium);
    await page.waitForSelector("#live:not(.lost):not([hidden])");
    await world.stopDashboard();
    await page.waitForSelector("#offline:not([hidden])");
    const id = await world.coder("While nobody looked");
    await world.dashboard({ port });
    await page.waitForSelector("#offline[hidden]", { state: "attached" });
    await page.waitForSelector(`#column-working #card-${id}`);
    assert.equal(await column(page, id), "working");
    assert.deepEqual(page.problems, []);
  } finally {
    await world.dispose();
  }
});

test("lists can be read without scripts", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const id = await world.coder("Readable");
    const page = await world.page(chromium, { javaScriptEnabled: false });
    assert.ok(await page.isVisible(`#column-working #card-${id}`));
    for (const path of ["/tasks", "/pulls", "/events", "/analysis", "/launch", `/agents/${id}`, `/agents/${id}/terminal`]) {
      const answer = await page.goto(world.origin + path);
      assert.equal(answer.status(), 200, path);
      assert.ok(await page.isVisible("main h1, main .term"), path);
    }
    // And acted on: a form is a form.
    await page.goto(`${world.origin}/agents/${id}`);
    await page.fill("#message-text", "Without scripts");
    await page.click("main form[action$='/messages'] button");
    await page.waitForSelector(".flash");
    await until("the message is there", () => world.instance(id).messages.some((message) => message.body?.includes("Without scripts") || message.excerpt?.includes("Without scripts")));
  } finally {
    await world.dispose();
  }
});
