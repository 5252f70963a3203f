// The real Claude Code with a scripted model, for the tests that run where CODEX_TEST_CLAUDE names a claude binary.
import { createServer } from "node:http";

const CLAUDE = process.env.CODEX_TEST_CLAUDE;
export const SKIP = { skip: CLAUDE ? false : "CODEX_TEST_CLAUDE names no claude binary" };

/** A command that the model wants to run. */
export const bash = (command) => ({ name: "Bash", input: { command, description: "do it" } });

/**
 * Enough of the Messages API: calls one tool after the other, then is done. A step with `after` waits until that was said;
 * until then the model ends its turn, with the words `last`.
 */
export function model(steps, { last = "Done.", usage = { input_tokens: 1, output_tokens: 1 } } = {}) {
  const server = createServer((request, answer) => {
    let body = "";
    request.on("data", (part) => { body += part; });
    request.on("end", () => {
      const path = request.url.split("?")[0];
      if (path !== "/v1/messages") return answer.writeHead(200, { "content-type": "application/json" }).end(path.endsWith("count_tokens") ? '{"input_tokens":10}' : "{}");
      const { tools, messages, stream, model } = JSON.parse(body);
      const said = JSON.stringify(messages);
      const taken = said.split('"type":"tool_result"').length - 1;
      const step = tools?.length > 0 ? steps[taken] : undefined;
      const asked = step !== undefined && said.includes(step.after ?? "");
      const block = asked
        ? { type: "tool_use", id: `toolu_${taken + 1}`, name: step.name, input: step.input }
        : { type: "text", text: last };
      const message = { id: "msg_1", type: "message", role: "assistant", model, content: [block], stop_reason: asked ? "tool_use" : "end_turn", stop_sequence: null, usage };
      if (!stream) return answer.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(message));
      answer.writeHead(200, { "content-type": "text/event-stream" });
      const start = asked ? { ...block, input: {} } : { type: "text", text: "" };
      const delta = asked ? { type: "input_json_delta", partial_json: JSON.stringify(block.input) } : { type: "text_delta", text: block.text };
      for (const event of [
        { type: "message_start", message: { ...message, content: [], stop_reason: null } },
        { type: "content_block_start", index: 0, content_block: start },
        { type: "content_block_delta", index: 0, delta },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: message.stop_reason, stop_sequence: null }, usage: { output_tokens: usage.output_tokens } },
        { type: "message_stop" },
      ]) answer.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      answer.end();
    });
  });
  return new Promise((up) => { server.listen(0, "127.0.0.1", () => up(server)); });
}

/** Makes the agents of a world real ones, with this model. */
export function claudeCode(world, server) {
  Object.assign(world.environment, {
    CODEX_AGENT_COMMAND: "", CODEX_CLAUDE: CLAUDE, ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.address().port}`,
    ANTHROPIC_AUTH_TOKEN: "dummy-token", DISABLE_TELEMETRY: "1", DISABLE_ERROR_REPORTING: "1", DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  });
  world.codex("trust", "--yes");
}
