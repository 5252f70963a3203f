// Many agents at a glance: how much fits, that nothing overflows, that counts follow the filter, and the palette.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browser, until, World } from "./support.mjs";

let chromium;
before(async () => { chromium = await browser(); });
after(() => chromium.close());

const LONG = `Supercalifragilisticexpialidocious${"x".repeat(90)} and then words, many of them, so that no line has room for all of this`;

test("a board without agents says what to run first", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const page = await world.page(chromium);
    assert.match(await page.textContent("#first-steps"), /claude-codex code/);
    await page.click("#first-steps a.btn");
    await page.waitForURL(/\/launch/);
    assert.deepEqual(page.problems, []);
  } finally {
    await world.dispose();
  }
});

test("five cards fit into a column, nothing overflows, counts follow the filter, the palette finds", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const ids = [];
    for (let number = 1; number <= 5; number += 1) ids.push(world.codex("code", `Task ${number} ${LONG}`).id);
    const branch = `long/${"branch-name-".repeat(7)}end`;
    ids.push(world.codex("code", "Short", "--branch", branch).id);
    for (const id of ids) await until(`${id} is up`, () => world.instance(id).status === "running");
    await world.does(ids[0], "sh", "-c", "echo x > x.txt; git add -A; git commit -q -m x");
    await world.call(ids[0], "create_pr", { title: LONG, description: "**Bold** and `code`\n\n<b>not</b> [out](https://example.com) [in](javascript:alert(1))" });
    const page = await world.page(chromium);
    await page.waitForSelector(`#column-working #card-${ids[5]}`);
    await page.waitForSelector(`#column-published #card-${ids[0]}`);
    const bottoms = await page.$$eval("#column-working .card", (cards) => cards.map((card) => card.getBoundingClientRect().bottom));
    assert.equal(bottoms.length, 5);
    assert.ok(bottoms.every((bottom) => bottom < 900), `cards end at ${bottoms}`);
    // Words, not names of events.
    assert.ok(!/request_review|create_pr|UserPromptSubmit/.test(await page.textContent(".board")));
    for (const width of [1440, 1024, 390]) {
      await page.setViewportSize({ width, height: 900 });
      for (const path of ["/", `/agents/${ids[5]}`, `/agents/${ids[1]}`, `/agents/${ids[0]}/diff`, "/pulls", "/pulls/1"]) {
        await page.goto(world.origin + path);
        await page.waitForSelector("#live:not([hidden])");
        const wide = await page.evaluate(() => ({
          page: document.documentElement.scrollWidth - innerWidth,
          cards: [...document.querySelectorAll(".card, .card-head, .card-foot, .panel, .head")]
            .filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.className),
        }));
        assert.ok(wide.page <= 0, `${path} at ${width} is ${wide.page} too wide`);
        assert.deepEqual(wide.cards, [], `${path} at ${width}`);
      }
    }
    // A pull request's text is formatted, and can do nothing.
    assert.equal(await page.textContent(".markdown strong"), "Bold");
    assert.deepEqual(await page.$$eval(".markdown a", (links) => links.map((link) => link.getAttribute("href"))), ["https://example.com"]);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(world.origin);
    const count = () => page.textContent("#column-working .count");
    assert.equal(await count(), "5");
    await page.fill("#find", "task 2");
    assert.equal(await count(), "1");
    await page.fill("#find", "");
    assert.equal(await count(), "5");
    await page.goto(`${world.origin}/?kind=planning`);
    assert.equal(await count(), "0");
    // The palette: keys only.
    await page.keyboard.press("Control+k");
    await page.waitForSelector("#palette[open] [role=option]");
    await page.keyboard.type("short");
    await page.waitForFunction((id) => document.querySelector("#palette [aria-selected=true]")?.textContent.includes(id), ids[5]);
    assert.equal(await page.getAttribute("#palette input", "aria-activedescendant"), "palette-0");
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/agents/${ids[5]}`);
    await page.keyboard.press("Control+k");
    await page.keyboard.type("pull #1");
    await page.waitForFunction(() => document.querySelector("#palette [aria-selected=true]")?.textContent.includes("#1"));
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/pulls\/1/);
    assert.deepEqual(page.problems, []);
  } finally {
    await world.dispose();
  }
});

test("a phone has the keys of a terminal, and letters that can be read", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const id = await world.coder("Type here");
    const page = await world.page(chromium, { path: `/agents/${id}`, viewport: { width: 390, height: 844 }, hasTouch: true });
    await page.waitForSelector(".term.is-live");
    assert.ok(await page.isVisible("[data-key=Escape]"));
    const size = await page.$eval("[data-part=sheet]", (sheet) => parseFloat(getComputedStyle(sheet).fontSize));
    assert.ok(size >= 11, `${size}px`);
    await page.click("[data-key=Up]");
    await page.waitForSelector(".term.is-mine");
    await page.waitForFunction(() => document.querySelector("[data-part=control] span").textContent === "Release");
    await page.click("[data-part=control]");
    const wide = await world.page(chromium, { path: `/agents/${id}` });
    await wide.waitForSelector(".term.is-live");
    assert.equal(await wide.isVisible("[data-key=Escape]"), false);
    assert.deepEqual(page.problems, []);
  } finally {
    await world.dispose();
  }
});

test("w leads to who waits", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const id = await world.coder("Half of something");
    await world.does(id, "sh", "-c", "echo half > half.txt");
    world.codex("stop", id);
    const page = await world.page(chromium, { path: "/tasks" });
    await page.keyboard.press("w");
    await page.waitForURL(`**/agents/${id}`);
    assert.deepEqual(page.problems, []);
  } finally {
    await world.dispose();
  }
});
