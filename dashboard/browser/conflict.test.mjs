// Two agents on conflicting work: both reviewed in the browser, both merged, the second after its agent resolved the conflict.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, until, World } from "./support.mjs";

let chromium;
before(async () => { chromium = await browser(); });
after(() => chromium.close());

async function commit(world, id, text, message) {
  writeFileSync(join(world.instance(id).worktreePath, "README.md"), text);
  await world.does(id, "git", "add", "-A");
  await world.does(id, "git", "commit", "-q", "-m", message);
}

const status = (world, id, wanted) => until(`${id} is ${wanted}`, () => world.instance(id).status === wanted);

async function publish(world, id, title) {
  await world.call(id, "create_pr", { title, description: `${title}.` });
  await status(world, id, "pr_created");
}

/** A whole review: a comment at line 1, which the agent answers with `better`, and the approval of what it made of it. */
async function review(world, page, number, id, words, better) {
  const [before, rounds] = [world.log(id, "message").length, world.instance(id).reviews?.length ?? 0];
  await page.goto(`${world.origin}/pulls/${number}`);
  await page.waitForSelector("#live:not(.lost):not([hidden])");
  await page.locator(".file[data-path='README.md'] .code tr:not(.del) > td.no[data-n='1']").last().click();
  await page.fill("#comment-dialog textarea", words);
  await page.click("#comment-dialog button[type=submit]");
  await page.waitForSelector(`.note.draft:has-text("${words}")`);
  await page.click("#review button:not([name])");
  const told = await until("the agent has it", () => world.log(id, "message")[before]);
  assert.match(JSON.stringify(told), new RegExp(`README\\.md:1: ${words}`));
  await commit(world, id, better, words);
  await publish(world, id, `Better: ${words}`);
  await until("the page shows it", async () => (await page.textContent("#diff")).includes(better.trim()));
  await page.click("#review button[name=commit]");
  await until("it is approved", async () => /Round 2\s*approved/.test(await page.textContent("#earlier")));
  assert.equal(rounds, 0);
}

async function merge(page) {
  await page.click("form[action$='/merge'] button");
  await page.click("dialog#confirm button[value=yes]");
}

test("two agents in conflict are reviewed and merged, the second after its agent resolved the conflict", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const page = await world.page(chromium);
    // Launched by clicking.
    const launch = async (prompt) => {
      await page.goto(`${world.origin}/launch`);
      await page.fill("textarea[name=prompt]", prompt);
      await page.click("main form button[type=submit]");
      await page.waitForURL(/\/agents\/work-/);
      const id = new URL(page.url()).pathname.split("/").pop();
      await status(world, id, "running");
      return id;
    };
    const [first, second] = [await launch("Call it a palace"), await launch("Call it a castle")];
    await commit(world, first, "A palace\n", "A palace");
    await commit(world, second, "A castle\n", "A castle");
    await publish(world, first, "A palace");
    await publish(world, second, "A castle");
    await review(world, page, 1, first, "Larger please", "A great palace\n");
    await review(world, page, 2, second, "Older please", "An old castle\n");

    await page.goto(`${world.origin}/pulls/1`);
    await merge(page);
    await status(world, first, "pr_merged");

    // Merging the second is refused: page and board say why, and the page has what helps.
    await page.goto(`${world.origin}/pulls/2`);
    await page.waitForSelector("#action-resolve");
    assert.match(await page.textContent("[data-standing]"), /conflicts with main in README\.md.*1 commit behind|conflicts/s);
    await merge(page);
    await page.waitForSelector(".problem");
    assert.match(await page.textContent(".problem"), /README\.md/);
    assert.equal(world.instance(second).status, "pr_created");
    assert.equal(world.git("show", "main:README.md"), "A great palace\n");
    const board = await world.page(chromium);
    await board.waitForSelector(`#column-waiting #card-${second} .need`);
    assert.match(await board.textContent(`#card-${second} .need`), /conflict/);

    await page.goto(`${world.origin}/pulls/2`);
    const before = world.log(second, "message").length;
    await page.click("#action-resolve button");
    await page.waitForSelector(".toast");
    const told = await until("the agent is told", () => world.log(second, "message")[before]);
    assert.match(JSON.stringify(told), /README\.md/);
    await board.waitForSelector(`#column-working #card-${second}`);
    await world.does(second, "git", "merge", "main");
    await commit(world, second, "A great palace and an old castle\n", "Merge main");
    await publish(world, second, "A castle beside the palace");
    assert.equal(world.codex("pr", "list", "--state", "all").length, 2);
    await until("the conflict is gone", async () => !(await page.isVisible("#action-resolve")));
    await board.waitForSelector(`#column-waiting #card-${second}`, { state: "detached" });
    await page.goto(`${world.origin}/pulls/2`);
    await page.click("#review button[name=commit]");
    await until("it is approved", async () => /Round 3\s*approved/.test(await page.textContent("#earlier")));
    await merge(page);
    await status(world, second, "pr_merged");
    assert.equal(world.git("show", "main:README.md"), "A great palace and an old castle\n");
    await board.waitForSelector(`#column-ended #card-${second}`);
    assert.deepEqual([...page.problems, ...board.problems], []);
  } finally {
    await world.dispose();
  }
});

test("commits that a person added to the branch are taken in; a pull request is closed and reopened", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const id = await world.coder("Call it a palace");
    await commit(world, id, "A palace\n", "A palace");
    await publish(world, id, "A palace");
    const { branchName } = world.instance(id);
    // The agent ends some seconds after it published; its branch moves by somebody else's hand.
    const tree = world.git("rev-parse", `${branchName}^{tree}`).trim();
    const more = world.git("commit-tree", "-p", branchName, "-m", "By hand", tree).trim();
    world.git("update-ref", `refs/heads/${branchName}`, more);
    const page = await world.page(chromium, { path: "/pulls/1" });
    await page.click("#action-update button");
    await page.waitForSelector(".toast");
    await page.waitForSelector("#action-update", { state: "detached" });
    const head = () => world.git("rev-parse", "refs/codex/pull/1/head").trim();
    assert.equal(head(), more);

    const state = () => world.codex("pr", "show", "1").state;
    await page.click("#action-close button");
    await page.click("dialog#confirm button[value='']");
    assert.equal(state(), "open");
    await page.click("#action-close button");
    await page.click("dialog#confirm button[value=yes]");
    await page.waitForSelector("#action-reopen");
    assert.equal(state(), "closed");
    await status(world, id, "pr_closed");
    await page.click("#action-reopen button");
    await page.waitForSelector("#action-merge");
    assert.equal(state(), "open");
    await status(world, id, "pr_created");
    assert.deepEqual(page.problems, []);
  } finally {
    await world.dispose();
  }
});
