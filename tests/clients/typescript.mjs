// Drives a server with the TypeScript SDK, 1.x or 2.x: reads a session from standard input, prints what the client got as JSON.
// The first argument is the folder in which the SDK is installed, the second the name of its package.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [folder, sdk] = process.argv.slice(2);
const load = createRequire(join(folder, 'any.js'));
const old = sdk === '@modelcontextprotocol/sdk';
const { Client } = load(old ? `${sdk}/client/index.js` : sdk);
const { StdioClientTransport } = load(old ? `${sdk}/client/stdio.js` : `${sdk}/stdio`);

const asked = JSON.parse(readFileSync(0, 'utf8'));
const transport = new StdioClientTransport({ command: asked.command, env: asked.env, cwd: asked.cwd });
// The old SDK does not know the option.
const versionNegotiation = { mode: asked.era === 'modern' ? 'auto' : 'legacy' };
const client = new Client({ name: 'clients', version: '1' }, { versionNegotiation });
// What the old SDK agreed upon is told to the transport alone.
let protocol;
transport.setProtocolVersion = version => { protocol = version; };
await client.connect(transport);

async function answer(method, params) {
  let steps = 0;
  const withProgress = { onprogress: () => { steps += 1; } };
  const calls = {
    'tools/list': () => client.listTools(),
    'resources/list': () => client.listResources(),
    'resources/templates/list': () => client.listResourceTemplates(),
    'prompts/list': () => client.listPrompts(),
    'resources/read': () => client.readResource(params),
    'prompts/get': () => client.getPrompt(params),
    'tools/call': () => (old ? client.callTool(params, undefined, withProgress) : client.callTool(params, withProgress)),
  };
  try {
    return { result: await calls[method](), progress: steps };
  } catch (error) {
    return { error: { code: error.code, message: error.message } };
  }
}

const answers = [];
for (const [method, params] of asked.operations) {
  answers.push(await answer(method, params));
}
const server = client.getServerVersion()?.name;
const said = { protocol: client.getNegotiatedProtocolVersion?.() ?? protocol, server, instructions: client.getInstructions(), answers };
await client.close();
console.log(JSON.stringify(said));
