// What a person does by clicking: launch, stop, merge.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browser, until, World } from "./support.mjs";

let chromium;
before(async () => { chromium = await browser(); });
after(() => chromium.close());

test("an agent is launched and stopped by clicking", async () => {
  const world = new World();
  try {
    await world.dashboard();
    await world.coder("So that the repository is known");
    const page = await world.page(chromium);
    await page.click("a.launch");
    // Refused first: it says why, and keeps what was typed.
    await page.fill("textarea[name=prompt]", "Mend the roof");
    await page.click(".more-options summary");
    await page.fill("input[name=base]", "no-such-branch");
    await page.click("main form button[type=submit]");
    await page.waitForSelector(".problem");
    assert.equal(await page.inputValue("textarea[name=prompt]"), "Mend the roof");
    await page.fill("input[name=base]", "main");
    await page.click("main form button[type=submit]");
    await page.waitForURL(/\/agents\/work-mend-the-roof/);
    const id = new URL(page.url()).pathname.split("/").pop();
    await page.waitForSelector(".term.is-live");
    await until("it runs", () => world.instance(id).status === "running");
    await page.click(`form[action$='/stop'] button`);
    await page.waitForSelector("dialog#confirm");
    await page.click("dialog#confirm button[value='']");
    assert.equal(world.instance(id).status, "running");
    await page.click(`form[action$='/stop'] button`);
    await page.click("dialog#confirm button[value=yes]");
    await until("it has ended", () => world.instance(id).status === "terminated");
    await until("the page says so", async () => (await page.textContent("h1")).includes("stopped"));
    assert.deepEqual(page.problems, []);
  } finally {
    await world.dispose();
  }
});

test("the launch form shows for each kind what applies to it", async () => {
  const world = new World();
  try {
    await world.dashboard();
    await world.coder("So that the repository is known");
    const page = await world.page(chromium, { path: "/launch" });
    await page.click(".more-options summary");
    const shown = async () => {
      const fields = { base: "input[name=base]", branch: "input[name=branch]", more: ".more-options summary" };
      const found = [];
      for (const [name, field] of Object.entries(fields)) if (await page.isVisible(field)) found.push(name);
      return found.join(" ");
    };
    for (const [kind, fields] of [["plan", ""], ["tdd", "branch more"], ["code", "base branch more"]]) {
      await page.check(`input[name=kind][value=${kind}]`, { force: true });
      assert.equal(await shown(), fields, kind);
    }
    // What was filled in before the kind was chosen is hidden, and not used.
    await page.fill("input[name=base]", "no-such-branch");
    await page.check("input[name=kind][value=plan]", { force: true });
    await page.click("main form button[type=submit]");
    await page.waitForURL(/\/agents\/plan-/);
    assert.deepEqual(page.problems, []);
  } finally {
    await world.dispose();
  }
});

test("a task is launched, published and merged by clicking", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const planner = world.codex("plan", "Plan it").id;
    await until("the planner is up", () => world.instance(planner).status === "running");
    const first = await world.call(planner, "create_task", { taskTitle: "Lay the floor", taskDescription: "Of wood.", priority: "high" });
    await world.call(planner, "create_task", { taskTitle: "Paint the walls", taskDescription: "White.", priority: "low", dependsOn: [first.result.taskId] });
    const page = await world.page(chromium, { path: "/tasks" });
    assert.equal(await page.locator(".graph-node").count(), 2);
    // Only what is ready can begin.
    assert.equal(await page.locator("tbody a.btn[href^='/launch']").count(), 1);
    await page.click("tbody a.btn[href^='/launch']");
    await page.waitForURL(/\/launch/);
    assert.equal(await page.inputValue("select[name=task]"), first.result.taskId);
    await page.click("main form button[type=submit]");
    await page.waitForURL(/\/agents\/work-lay-the-floor/);
    const id = new URL(page.url()).pathname.split("/").pop();
    await until("it runs", () => world.instance(id).status === "running");
    await world.does(id, "sh", "-c", "echo oak > floor.txt && git add -A && git commit -q -m 'Lay the floor'");
    await page.click("#publish summary");
    await page.fill("#publish textarea", "Of oak.");
    await page.click("#publish button[type=submit]");
    await until("it is published", () => world.instance(id).status === "pr_created");
    await page.waitForURL(/\/agents\//);
    await page.click("a[href^='/pulls/1']");
    await page.waitForSelector(".code .add");
    assert.match(await page.textContent(".code"), /oak/);
    await page.click("form[action$='/merge'] button");
    await page.click("dialog#confirm button[value=yes]");
    await until("it is merged", () => world.instance(id).status === "pr_merged");
    await until("the page says so", async () => (await page.textContent("main .head")).includes("merged"));
    assert.match(world.git("log", "--oneline", "main"), /Lay the floor/);
    // The second task is ready now.
    await page.goto(`${world.origin}/tasks`);
    assert.match(await page.textContent("tbody tr:first-child"), /Paint the walls/);
    assert.deepEqual(page.problems, []);
  } finally {
    await world.dispose();
  }
});

test("a read-only dashboard shows and changes nothing", async () => {
  const world = new World();
  try {
    await world.dashboard({ more: ["--read-only"] });
    const id = await world.coder();
    const page = await world.page(chromium, { path: `/agents/${id}` });
    await page.waitForSelector(".term.is-live");
    assert.equal(await page.$("form[method=post], [data-part=control]"), null);
    const status = await page.evaluate(async (id) => {
      const csrf = document.querySelector("meta[name=csrf]").content;
      const answer = await fetch(`/api/instances/${id}/stop`, { method: "POST", headers: { "x-codex-csrf": csrf, "content-type": "application/json" }, body: "{}" });
      return answer.status;
    }, id);
    assert.equal(status, 403);
    assert.equal(world.instance(id).status, "running");
  } finally {
    await world.dispose();
  }
});

test("nobody gets in without the token", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const context = await chromium.newContext();
    const page = await context.newPage();
    const answer = await page.goto(world.origin);
    assert.equal(answer.status(), 401);
    assert.match(await page.textContent("main"), /claude-codex dashboard/);
    await page.goto(world.address);
    assert.ok(!page.url().includes("token"), page.url());
    assert.match(await page.title(), /Board/);
  } finally {
    await world.dispose();
  }
});
