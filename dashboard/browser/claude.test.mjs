// The real Claude Code with a scripted model: its dialog waits for a person, who answers it in the browser.
// Runs where CODEX_TEST_CLAUDE names a claude binary.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { browser, until, World } from "./support.mjs";

const CLAUDE = process.env.CODEX_TEST_CLAUDE;
let chromium;
before(async () => { chromium = await browser(); });
after(() => chromium.close());

/** Enough of the Messages API: wants to run one command, then is done. */
function model(command) {
  const server = createServer((request, answer) => {
    let body = "";
    request.on("data", (part) => { body += part; });
    request.on("end", () => {
      const path = request.url.split("?")[0];
      if (path !== "/v1/messages") return answer.writeHead(200, { "content-type": "application/json" }).end(path.endsWith("count_tokens") ? '{"input_tokens":10}' : "{}");
      const { tools, messages, stream, model } = JSON.parse(body);
      const asked = tools?.length > 0 && !JSON.stringify(messages).includes("tool_result");
      const block = asked
        ? { type: "tool_use", id: "toolu_1", name: "Bash", input: { command, description: "fetch it" } }
        : { type: "text", text: "Done." };
      const message = { id: "msg_1", type: "message", role: "assistant", model, content: [block], stop_reason: asked ? "tool_use" : "end_turn", stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
      if (!stream) return answer.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(message));
      answer.writeHead(200, { "content-type": "text/event-stream" });
      const start = asked ? { ...block, input: {} } : { type: "text", text: "" };
      const delta = asked ? { type: "input_json_delta", partial_json: JSON.stringify(block.input) } : { type: "text_delta", text: block.text };
      for (const event of [
        { type: "message_start", message: { ...message, content: [], stop_reason: null } },
        { type: "content_block_start", index: 0, content_block: start },
        { type: "content_block_delta", index: 0, delta },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: message.stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } },
        { type: "message_stop" },
      ]) answer.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      answer.end();
    });
  });
  return new Promise((up) => { server.listen(0, "127.0.0.1", () => up(server)); });
}

test("a dialog of Claude Code is seen and answered in the browser", { skip: CLAUDE ? false : "CODEX_TEST_CLAUDE names no claude binary" }, async () => {
  const server = await model("curl -o fetched http://127.0.0.1:1/");
  const world = new World();
  try {
    Object.assign(world.environment, {
      CODEX_AGENT_COMMAND: "", CODEX_CLAUDE: CLAUDE, ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.address().port}`,
      ANTHROPIC_AUTH_TOKEN: "dummy-token", DISABLE_TELEMETRY: "1", DISABLE_ERROR_REPORTING: "1", DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    });
    world.codex("trust", "--yes");
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
