// One user with a repository, scripted agents, a dashboard and a browser. Everything is its own and goes away at the end.
import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const TARGET = process.env.CARGO_TARGET_DIR ?? join(ROOT, "target");
export const PROGRAM = process.env.CODEX_BIN ?? join(TARGET, "debug", "claude-codex");
const AGENT = join(ROOT, "tests/agents/agent.py");
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
/** Two busy cores need this long for what takes a second. */
export const PATIENCE = 60_000;

// Installed by scripts/browser, outside of the source.
const { chromium } = createRequire(join(TARGET, "browser/node_modules/x.js"))("playwright-core");

export function browser() {
  return chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"] });
}

export async function until(what, holds, patience = PATIENCE) {
  const deadline = Date.now() + patience;
  for (;;) {
    const found = await holds();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`never: ${what}`);
    await new Promise((wake) => setTimeout(wake, 40));
  }
}

export class World {
  /** `coder` is `loop` or `idle`, `reviewer` is `changes`, `approve` or `idle`. */
  constructor({ coder = "idle", reviewer = "idle", name = "repo" } = {}) {
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), "codex-browser-")));
    this.socket = `codex-browser-${randomUUID()}`;
    for (const folder of ["home", "state", "script", name]) mkdirSync(join(this.folder, folder));
    this.repository = join(this.folder, name);
    this.environment = {
      PATH: process.env.PATH,
      LANG: "C.UTF-8",
      HOME: join(this.folder, "home"),
      CODEX_STATE_DIR: join(this.folder, "state"),
      CODEX_TMUX_SOCKET: this.socket,
      CODEX_FORGE: "local",
      CODEX_AGENT_COMMAND: `python3 '${AGENT}'`,
      SCRIPT_DIR: join(this.folder, "script"),
      SCRIPT_CODER: coder,
      SCRIPT_REVIEWER: reviewer,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_NAME: "Test", GIT_AUTHOR_EMAIL: "test@example.invalid",
      GIT_COMMITTER_NAME: "Test", GIT_COMMITTER_EMAIL: "test@example.invalid",
    };
    this.git("init", "-q", "-b", "main");
    writeFileSync(join(this.repository, "README.md"), "A project\n");
    this.git("add", ".");
    this.git("commit", "-q", "-m", "base");
  }

  run(program, args, options = {}) {
    const done = spawnSync(program, args, { cwd: this.repository, env: this.environment, encoding: "utf8", timeout: PATIENCE, ...options });
    if (done.status !== 0 && !options.mayFail) {
      throw new Error(`${program} ${args.join(" ")}: ${done.stderr || done.stdout || done.error}`);
    }
    return done.stdout;
  }

  git(...args) {
    return this.run("git", args);
  }

  tmux(...args) {
    return this.run("tmux", ["-L", this.socket, ...args], { mayFail: true });
  }

  /** Runs a command of ours and returns what it prints as JSON. */
  codex(...args) {
    return JSON.parse(this.run(PROGRAM, [...args, "--json"]));
  }

  instance(id) {
    return this.codex("show", id);
  }

  /** Launches a coder and waits until its server has spoken. */
  async coder(prompt = "Do the work", ...more) {
    const { id } = this.codex("code", prompt, ...more);
    await until("the coder is up", () => this.instance(id).status !== "started");
    return id;
  }

  log(id, event) {
    let lines = "";
    try {
      lines = readFileSync(join(this.folder, "script", `${id}.log`), "utf8");
    } catch {
      return [];
    }
    const entries = lines.split("\n").filter(Boolean).map((line) => JSON.parse(line));
    return entries.filter((entry) => entry.event === event);
  }

  /** Makes an agent do something. */
  tell(id, command) {
    appendFileSync(join(this.folder, "script", `${id}.in`), `${JSON.stringify(command)}\n`);
  }

  /** Makes an agent run a program, and waits for its end. */
  async does(id, ...command) {
    const before = this.log(id, "run").length;
    this.tell(id, { run: command });
    await until(`${id} has run it`, () => this.log(id, "run").length > before);
    return this.log(id, "run").at(-1);
  }

  /** Makes an agent call a tool, and returns what it was answered. */
  async call(id, tool, args) {
    const before = this.log(id, "tool").length;
    this.tell(id, { call: tool, arguments: args });
    await until(`${id} has called ${tool}`, () => this.log(id, "tool").length > before);
    return this.log(id, "tool").at(-1);
  }

  /** Writes text to an agent's terminal, as its program would. */
  async shows(id, text) {
    const file = join(this.folder, `shown-${randomUUID()}`);
    writeFileSync(file, text);
    await this.does(id, "sh", "-c", `cat '${file}' > /dev/tty`);
  }

  /** Starts the dashboard; returns its address with the token. */
  async dashboard({ port = 0, more = [] } = {}) {
    const child = spawn(PROGRAM, ["dashboard", "--port", String(port), "--json", ...more], {
      cwd: this.repository, env: this.environment, stdio: ["ignore", "pipe", "pipe"],
    });
    this.server = child;
    let complaint = "";
    child.stderr.on("data", (text) => { complaint += text; });
    const address = await new Promise((found, failed) => {
      let text = "";
      const lines = createInterface({ input: child.stdout });
      // The document may stand on several lines.
      lines.on("line", (line) => {
        text += line;
        try {
          found(JSON.parse(text).url);
        } catch {
          // More is to come.
        }
      });
      child.on("exit", (code) => failed(new Error(`the dashboard ended with ${code}: ${complaint}`)));
    });
    this.address = address;
    this.origin = new URL(address).origin;
    return address;
  }

  async stopDashboard() {
    const child = this.server;
    if (!child || child.exitCode !== null) return;
    const gone = new Promise((done) => child.once("exit", done));
    child.kill("SIGTERM");
    await gone;
    this.server = undefined;
  }

  /** A page of a browser that has shown its token. What goes wrong in it is kept in `page.problems`. */
  async page(browser, { path = "/", ...options } = {}) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    const page = await context.newPage();
    page.problems = [];
    page.on("pageerror", (error) => page.problems.push(`error: ${error.message}`));
    page.on("console", (message) => {
      const text = message.text();
      // A server that is down on purpose makes the browser complain.
      if (message.type() === "error" && !text.includes("Failed to load resource") && !text.includes("ERR_")) page.problems.push(text);
    });
    page.on("dialog", (dialog) => {
      page.problems.push(`a dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    page.setDefaultTimeout(PATIENCE);
    await page.goto(this.address);
    if (path !== "/") await page.goto(this.origin + path);
    return page;
  }

  async dispose() {
    await this.stopDashboard();
    this.tmux("kill-server");
    // Programs that were just ended may still write their last words.
    await until("its folder is gone", () => {
      try {
        rmSync(this.folder, { recursive: true, force: true });
        return true;
      } catch {
        return false;
      }
    });
  }
}
