// How it looks and feels: who waits can't be missed, phones, themes, keys, weight.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, until, World } from "./support.mjs";

let chromium;
before(async () => { chromium = await browser(); });
after(() => chromium.close());

/** An agent that was stopped in the middle of something: a person has to look. */
async function unsaved(world) {
  const id = await world.coder("Half of something");
  writeFileSync(join(world.instance(id).worktreePath, "half.txt"), "not committed\n");
  world.codex("stop", id);
  return id;
}

test("who waits for a person can't be missed", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const page = await world.page(chromium, { permissions: ["notifications"] });
    await page.addInitScript(() => {
      window.told = [];
      window.Notification = class {
        static permission = "granted";
        static requestPermission = async () => "granted";
        constructor(title, { body }) { window.told.push(`${title}: ${body}`); }
      };
    });
    await page.reload();
    await page.click("#notify");
    assert.equal(await page.getAttribute("#notify", "aria-pressed"), "true");
    assert.match(await page.title(), /^Board/);
    assert.ok(await page.isHidden("#waiting-count"));
    const id = await unsaved(world);
    await page.waitForSelector(`.column.alarm #card-${id} .need`);
    assert.match(await page.title(), /^\(1\) Board/);
    assert.equal(await page.textContent("#waiting-count"), "1");
    assert.match(await page.getAttribute("#favicon", "href"), /icon-waiting/);
    const told = await page.evaluate(() => window.told);
    assert.equal(told.length, 1);
    assert.match(told[0], new RegExp(`^${id} waits for you: .*kept`));
    // On every other page as well.
    await page.goto(`${world.origin}/events`);
    assert.match(await page.title(), /^\(1\) Events/);
    // On a phone it comes first.
    const phone = await world.page(chromium, { viewport: { width: 390, height: 844 } });
    const top = (selector) => phone.$eval(selector, (element) => element.getBoundingClientRect().top);
    assert.ok(await top("#column-waiting") < await top("#column-working"));
    assert.deepEqual(page.problems, []);
  } finally {
    await world.dispose();
  }
});

test("every page fits a phone, is light, and has its landmarks", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const planner = world.codex("plan", "Plan something with quite a long prompt so that lines have to be broken somewhere").id;
    await until("the planner is up", () => world.instance(planner).status === "running");
    await world.call(planner, "analyze_repository", { scope: "codebase", depth: "deep" });
    const task = await world.call(planner, "create_task", { taskTitle: "A title that is long enough to need more than one line on a phone", taskDescription: "x", priority: "high" });
    await world.call(planner, "create_task", { taskTitle: "Second", taskDescription: "y", priority: "low", dependsOn: [task.result.taskId] });
    const id = await world.coder("Work");
    await world.does(id, "sh", "-c", "printf 'x%.0s' $(seq 400) > long.txt; git add -A; git commit -q -m long");
    await world.call(id, "create_pr", { title: "A pull request", description: "What and why" });
    const page = await world.page(chromium, { viewport: { width: 390, height: 844 } });
    await page.goto(`${world.origin}/analysis`);
    const report = await page.getAttribute("a.row-link", "href");
    for (const path of ["/", `/agents/${id}`, `/agents/${id}/diff`, `/agents/${planner}/terminal`, "/tasks", "/pulls", "/pulls/1", "/analysis", report, "/events", "/launch"]) {
      let weight = 0;
      const weigh = async (answer) => { weight += (await answer.body().catch(() => "")).length; };
      page.on("response", weigh);
      await page.goto(world.origin + path);
      await page.waitForSelector("#live:not([hidden])");
      page.off("response", weigh);
      const { width, window } = await page.evaluate(() => ({ width: document.documentElement.scrollWidth, window: innerWidth }));
      assert.ok(width <= window, `${path} is ${width} wide`);
      assert.ok(weight < 200_000, `${path} weighs ${weight}`);
      const nameless = await page.evaluate(() => [...document.querySelectorAll("button, a[href], input:not([type=hidden]), select, textarea")]
        .filter((element) => element.offsetParent && !element.textContent.trim() && !element.ariaLabel && !element.labels?.length && !element.title)
        .map((element) => element.outerHTML.slice(0, 120)));
      assert.deepEqual(nameless, [], path);
      assert.equal(await page.locator("main").count(), 1);
      assert.ok(await page.locator("h1, .term").count() >= 1, path);
    }
    assert.deepEqual(page.problems, []);
  } finally {
    await world.dispose();
  }
});

test("light and dark follow the system until a person chooses", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const page = await world.page(chromium, { colorScheme: "dark" });
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(await background(), "rgb(14, 15, 17)");
    await page.click("#theme");
    assert.equal(await background(), "rgb(246, 246, 243)");
    await page.reload();
    assert.equal(await background(), "rgb(246, 246, 243)");
  } finally {
    await world.dispose();
  }
});

test("keys lead everywhere", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const page = await world.page(chromium);
    await page.keyboard.press("?");
    await page.waitForSelector("dialog#keys[open]");
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog#keys:not([open])", { state: "attached" });
    await page.keyboard.press("/");
    await page.waitForFunction(() => document.activeElement.id === "find");
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.activeElement.id !== "find");
    for (const [key, path] of [["t", "/tasks"], ["p", "/pulls"], ["a", "/analysis"], ["e", "/events"], ["b", "/"]]) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await page.waitForURL(world.origin + path);
      await page.waitForSelector("#live:not([hidden])");
    }
    await page.keyboard.press("n");
    await page.waitForURL(`${world.origin}/launch`);
    // Letters in a field are letters.
    await page.keyboard.type("gt?n");
    assert.equal(await page.inputValue("textarea[name=prompt]"), "gt?n");
  } finally {
    await world.dispose();
  }
});
