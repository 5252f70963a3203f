// Terminals: what tmux shows, nothing that scripts, and typing after taking control.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browser, until, World } from "./support.mjs";

let chromium;
before(async () => { chromium = await browser(); });
after(() => chromium.close());

const screen = (page) => page.$eval("[data-part=screen]", (sheet) => [...sheet.children].map((row) => row.textContent.trimEnd()).join("\n"));
const shows = (page, text) => until(`the terminal shows ${text}`, async () => (await screen(page)).includes(text));

test("colours and wide characters are as tmux has them", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const id = await world.coder();
    const page = await world.page(chromium, { path: `/agents/${id}` });
    await world.shows(id, "\x1b[2J\x1b[H\x1b[1;31mred\x1b[0m \x1b[38;5;208morange\x1b[0m \x1b[38;2;0;0;255mblue\x1b[0m \x1b[7minverse\x1b[0m\r\n漢字|é|😀|end\r\n12345678901234\r\n");
    await shows(page, "漢字|é|😀|end");
    const captured = world.tmux("capture-pane", "-p", "-t", `=${id}:`).split("\n").map((line) => line.trimEnd());
    const shown = (await screen(page)).split("\n");
    assert.deepEqual(shown.slice(0, 3), captured.slice(0, 3));
    const look = (text) => page.evaluate((text) => {
      const span = [...document.querySelectorAll("[data-part=screen] span")].find((span) => span.textContent === text);
      const style = getComputedStyle(span);
      return { colour: style.color, background: style.backgroundColor, weight: style.fontWeight };
    }, text);
    assert.deepEqual(await look("red"), { colour: "rgb(239, 107, 115)", background: "rgba(0, 0, 0, 0)", weight: "700" });
    assert.equal((await look("orange")).colour, "rgb(255, 135, 0)");
    assert.equal((await look("blue")).colour, "rgb(0, 0, 255)");
    const inverse = await look("inverse");
    assert.equal(inverse.colour, "rgb(20, 21, 26)");
    assert.equal(inverse.background, "rgb(216, 218, 224)");
    // 漢字|é|😀|end: the last letter ends in column 13, as that of the digits does.
    const right = (row, offset) => page.evaluate(([row, offset]) => {
      const line = document.querySelectorAll("[data-part=screen] .tr")[row];
      const walk = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
      let left = offset;
      for (let node = walk.nextNode(); node; node = walk.nextNode()) {
        if (left < node.length) {
          const range = document.createRange();
          range.setStart(node, left);
          range.setEnd(node, left + 1);
          return range.getBoundingClientRect().right;
        }
        left -= node.length;
      }
      return NaN;
    }, [row, offset]);
    const wide = await right(1, "漢字|é|😀|end".length - 1);
    const narrow = await right(2, 12);
    assert.ok(Math.abs(wide - narrow) < 1.5, `${wide} and ${narrow}`);
    assert.deepEqual(page.problems, []);
  } finally {
    await world.dispose();
  }
});

test("hostile output and titles do not script", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const attack = "<img src=x onerror=window.pwned=1><script>window.pwned=1</script>\"'><svg onload=window.pwned=1>";
    const planner = world.codex("plan", `Plan ${attack}`).id;
    await until("the planner is up", () => world.instance(planner).status === "running");
    const made = await world.call(planner, "create_task", { taskTitle: attack, taskDescription: attack, priority: "high" });
    await world.call(planner, "create_task", { taskTitle: `2 ${attack}`, taskDescription: attack, priority: "low", dependsOn: [made.result.taskId] });
    const { id } = world.codex("code", "--task", made.result.taskId);
    await until("the coder is up", () => world.instance(id).status === "running");
    await world.does(id, "sh", "-c", `printf '%s\\n' "$0" > 'a<img src=x onerror=window.pwned=1>.html' && git add -A && git commit -q -m "$0"`, attack);
    const page = await world.page(chromium, { path: `/agents/${id}` });
    await world.shows(id, `\x1b]0;${attack}\x07\x1b[2J\x1b[H${attack}\r\n\x1b]8;;javascript:window.pwned=1\x1b\\link\x1b]8;;\x1b\\\r\n\x1b[31m${attack}\x1b[0m\r\nend of it\r\n`);
    await shows(page, "end of it");
    assert.ok((await screen(page)).includes("<script>window.pwned=1</script>"), await screen(page));
    const innocent = async (where) => {
      assert.equal(await page.evaluate(() => window.pwned), undefined, where);
      assert.equal(await page.$("main img, main script, main [onload], main [onerror], [href^=javascript]"), null, where);
    };
    await innocent("agent");
    for (const path of ["/", "/tasks", `/agents/${id}/diff`, `/agents/${id}/terminal`, "/events", "/pulls", "/launch"]) {
      await page.goto(world.origin + path);
      await page.waitForSelector("#live:not([hidden])");
      await innocent(path);
    }
    assert.deepEqual(page.problems, []);
  } finally {
    await world.dispose();
  }
});

test("control is taken, used, seen by others and released", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const id = await world.coder();
    const [mine, other] = [await world.page(chromium, { path: `/agents/${id}` }), await world.page(chromium, { path: `/agents/${id}/terminal` })];
    // Nobody types without having taken control.
    await mine.focus("[data-part=view]");
    await mine.keyboard.type("not yet");
    await mine.click("[data-part=control]");
    await mine.waitForSelector(".term.is-mine");
    await until("the other sees who is in control", async () => /in control/.test(await other.textContent("[data-part=who]")));
    // While somebody types, messages wait.
    const held = world.codex("send", id, "A message");
    assert.equal(held.delivered, false);
    await mine.keyboard.type("größe 漢 & <b>");
    await mine.keyboard.press("Backspace");
    await mine.keyboard.press("Enter");
    await until("the agent got it", () => world.log(id, "message").length > 0);
    assert.equal(world.log(id, "message")[0].text.replace(/\x7f/g, "⌫"), "größe 漢 & <b>⌫");
    await mine.click("[data-part=control]");
    await mine.waitForSelector(".term:not(.is-mine)");
    await until("the message came after all", () => world.log(id, "message").some((entry) => entry.text.includes("A message")));
    await until("nobody is in control", async () => !/in control/.test(await other.textContent("[data-part=who]")));
    assert.ok(!world.log(id, "message").some((entry) => entry.text.includes("not yet")));
    assert.deepEqual([...mine.problems, ...other.problems], []);
  } finally {
    await world.dispose();
  }
});

test("a terminal stays what it is while the page around it changes", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const id = await world.coder();
    const page = await world.page(chromium, { path: `/agents/${id}` });
    await world.shows(id, "still the same\r\n");
    await shows(page, "still the same");
    await page.fill("#message-text", "half a message");
    await page.evaluate(() => { document.getElementById("terminal").marked = true; });
    const same = () => page.evaluate(() => document.getElementById("terminal").marked === true);
    // A message and a timeline entry more.
    world.codex("send", id, "Something");
    await page.waitForSelector("#messages");
    assert.ok(await same());
    assert.equal(await page.inputValue("#message-text"), "half a message");
    // It ends with something unsaved: a warning comes, buttons and the form go.
    await world.does(id, "touch", "unsaved");
    world.codex("stop", id);
    await page.waitForSelector("#need");
    assert.ok(await same());
    assert.ok((await screen(page)).includes("still the same"));
    // It is brought back: the warning goes.
    world.codex("resume", id);
    await page.waitForSelector("#need", { state: "detached" });
    assert.ok(await same());
    await page.waitForSelector(".term.is-live");
    assert.deepEqual(page.problems, []);
  } finally {
    await world.dispose();
  }
});

test("what has scrolled away can be read", async () => {
  const world = new World();
  try {
    await world.dashboard();
    const id = await world.coder();
    const lines = Array.from({ length: 300 }, (_, number) => `line ${number + 1}`).join("\r\n");
    await world.shows(id, `${lines}\r\n`);
    const page = await world.page(chromium, { path: `/agents/${id}` });
    await shows(page, "line 300");
    await page.hover("[data-part=view]");
    await page.mouse.wheel(0, -4000);
    await until("the history is there", async () => (await page.textContent("[data-part=history]")).includes("line 5"));
    assert.ok(await page.isVisible("[data-part=follow]"));
    await page.click("[data-part=follow]");
    await until("it follows again", () => page.$eval("[data-part=view]", (view) => view.scrollHeight - view.scrollTop - view.clientHeight < 3));
    assert.deepEqual(page.problems, []);
  } finally {
    await world.dispose();
  }
});
