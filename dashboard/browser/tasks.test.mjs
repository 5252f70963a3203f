// A person plans by clicking: a task is added, changed, closed, reopened and cancelled.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browser, until, World } from "./support.mjs";

let chromium;
before(async () => { chromium = await browser(); });
after(() => chromium.close());

const task = (world, title) => world.codex("tasks", "--all").find((task) => task.title === title);

test("a task is added, changed, closed, reopened and cancelled by clicking", async () => {
  const world = new World();
  try {
    await world.dashboard();
    await world.coder("So that the repository is known");
    const page = await world.page(chromium, { path: "/tasks" });
    const add = async (title) => {
      await page.click("#new-task summary");
      await page.fill("#new-task input[name=title]", title);
      await page.fill("#new-task textarea", `${title} well.`);
      await page.click("#new-task button[type=submit]");
      await page.waitForSelector(`tbody strong:has-text("${title}")`);
      return task(world, title).id;
    };
    const [floor, walls] = [await add("Lay the floor"), await add("Paint the walls")];
    await page.click(`#about-${floor} > summary`);
    await page.selectOption(`#priority-${floor} select`, "high");
    await page.click(`#priority-${floor} button`);
    await page.waitForSelector(".toast");
    assert.equal(task(world, "Lay the floor").priority, "high");

    // All of it can be changed; what is there stands in the form.
    const open = async () => {
      await page.goto(`${world.origin}/tasks`);
      await page.click(`#about-${walls} > summary`);
      await page.click(`#edit-${walls} > summary`);
    };
    await open();
    const form = `#edit-${walls} form`;
    assert.equal(await page.inputValue(`${form} [name=title]`), "Paint the walls");
    assert.equal(await page.inputValue(`${form} [name=description]`), "Paint the walls well.");
    await page.fill(`${form} [name=title]`, "Paint all walls");
    await page.fill(`${form} [name=description]`, "White.");
    await page.fill(`${form} [name=estimatedHours]`, "2.5");
    await page.fill(`${form} [name=dependsOn]`, floor);
    await page.click(`${form} button[type=submit]`);
    await page.waitForSelector(".toast");
    const changed = task(world, "Paint all walls");
    assert.deepEqual([changed.id, changed.description, changed.estimatedHours, changed.dependsOn], [walls, "White.", 2.5, [floor]]);
    await open();
    assert.equal(await page.inputValue(`${form} [name=dependsOn]`), floor);
    // An emptied field takes back what it said.
    await page.fill(`${form} [name=estimatedHours]`, "");
    await page.fill(`${form} [name=dependsOn]`, "");
    await page.click(`${form} button[type=submit]`);
    await page.waitForSelector(".toast");
    const emptied = task(world, "Paint all walls");
    assert.deepEqual([emptied.estimatedHours ?? null, emptied.dependsOn], [null, []]);

    const status = (wanted) => until(`it is ${wanted}`, () => task(world, "Lay the floor").status === wanted);
    const press = async (what) => {
      await page.goto(`${world.origin}/tasks`);
      await page.click(`#about-${floor} > summary`);
      await page.click(`#${what}-${floor} button`);
    };
    await press("close");
    await status("done");
    await press("reopen");
    await status("open");
    await press("cancel");
    await page.click("dialog#confirm button[value='']");
    assert.equal(task(world, "Lay the floor").status, "open");
    await press("cancel");
    await page.click("dialog#confirm button[value=yes]");
    await status("cancelled");
    assert.deepEqual(page.problems, []);
  } finally {
    await world.dispose();
  }
});
