// What a person does with an agent by clicking: request a review, resume, discard.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, test } from "node:test";
import { browser, until, World } from "./support.mjs";

let chromium;
before(async () => { chromium = await browser(); });
after(() => chromium.close());

const status = (world, id, wanted) => until(`${id} is ${wanted}`, () => world.instance(id).status === wanted);

test("a review is requested, and a stopped agent resumed, by clicking", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const id = await world.coder("Lay the floor");
    await world.does(id, "sh", "-c", "echo oak > floor.txt && git add -A && git commit -q -m 'Lay the floor'");
    const page = await world.page(chromium, { path: `/agents/${id}` });
    await page.click("#action-review button");
    const reviewer = await until("it has a reviewer", () => world.codex("list").find((agent) => agent.parentInstanceId === id)?.id);
    await status(world, reviewer, "running");
    await page.waitForSelector(`a[href='/agents/${reviewer}']`);
    await world.call(reviewer, "request_changes", { feedback: "Sand it." });
    await until("the feedback was taken", () => world.log(id, "message").length > 0);
    world.codex("stop", id);
    await page.waitForSelector("#action-resume button");
    await page.click("#action-resume button");
    await page.waitForSelector(".toast");
    await status(world, id, "running");
    await page.waitForSelector(".term.is-live");
    assert.deepEqual(page.problems, []);
  } finally {
    await world.dispose();
  }
});

test("an agent's work is discarded after a question that names what is lost", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const id = await world.coder("Lay the floor");
    await world.does(id, "sh", "-c", "echo oak > floor.txt && git add -A && git commit -q -m oak && echo half > wall.txt");
    const { worktreePath, branchName } = world.instance(id);
    const page = await world.page(chromium, { path: `/agents/${id}` });
    const question = () => page.textContent("#discard");
    await page.click("#action-discard");
    await page.waitForURL(/\/discard/);
    for (const lost of [/its session/, /1 uncommitted file/, /1 commit /, new RegExp(branchName)]) assert.match(await question(), lost);
    // No: nothing is lost.
    await page.click("#discard a.btn");
    await page.waitForURL(new RegExp(`/agents/${id}$`));
    assert.equal(world.instance(id).status, "running");
    assert.ok(existsSync(worktreePath));
    await page.click("#action-discard");
    await page.click("#discard button[type=submit]");
    await page.waitForSelector(".toast");
    await status(world, id, "terminated");
    assert.ok(!existsSync(worktreePath));
    assert.equal(world.git("branch", "--list", branchName), "");
    await until("there is nothing left to discard", async () => !(await page.$("#action-discard")));
    assert.deepEqual(page.problems, []);
  } finally {
    await world.dispose();
  }
});

test("without scripts the question comes first as well, and a branch without worktree can be discarded", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const id = await world.coder("Lay the floor");
    await world.does(id, "sh", "-c", "echo oak > floor.txt && git add -A && git commit -q -m oak");
    const { worktreePath, branchName } = world.instance(id);
    world.codex("stop", id);
    world.git("worktree", "remove", "--force", worktreePath);
    assert.notEqual(world.git("branch", "--list", branchName), "");
    const page = await world.page(chromium, { path: `/agents/${id}`, javaScriptEnabled: false });
    await page.click("#action-discard");
    await page.waitForURL(/\/discard/);
    assert.match(await page.textContent("#discard"), /1 commit /);
    assert.notEqual(world.git("branch", "--list", branchName), "", "a question deletes nothing");
    await page.click("#discard button[type=submit]");
    await page.waitForSelector(".flash");
    assert.equal(world.git("branch", "--list", branchName), "");
  } finally {
    await world.dispose();
  }
});
