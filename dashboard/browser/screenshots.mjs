// Makes the pictures of the documentation: docs/pictures/*.png. Started by scripts/screenshots.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { bash, claudeCode, model, SKIP } from "./claude.mjs";
import { play } from "./scene.mjs";
import { browser, ROOT, until, World } from "./support.mjs";

const FOLDER = process.env.PICTURES ?? join(ROOT, "docs/pictures");
const LARGEST = 150_000;

/** Fewer colours look the same and weigh a third. */
function shrink() {
  const files = readdirSync(FOLDER).map((name) => join(FOLDER, name));
  const done = spawnSync("pngquant", ["--force", "--ext", ".png", "--speed", "1", "--strip", "--quality", "80-98", ...files], { encoding: "utf8" });
  if (done.error) console.log("no pngquant: the pictures are as large as the browser makes them");
}

const world = new World({ name: "shop" });
let chromium, claude;
try {
  mkdirSync(FOLDER, { recursive: true });
  const who = await play(world);
  if (SKIP.skip) console.log("no CODEX_TEST_CLAUDE: the pictures lack a dialog and a question");
  else {
    // Only the real one has dialogs, asks, and says what it used.
    claude = await model([{ ...bash("curl -o rates.xml https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml"), after: "exchange rates" }], {
      last: "Both ways work. Should refunds be paid out at once, or collected for a day?", usage: { input_tokens: 21_300, output_tokens: 940 },
    });
    claudeCode(world, claude);
    who.asks = await world.coder("Read the exchange rates of the day");
    who.idle = await world.coder("Refunds");
  }
  await world.dashboard();
  chromium = await browser();
  const take = async (name, path, { dark = false, phone = false, height = 900, prepare } = {}) => {
    const page = await world.page(chromium, {
      path,
      colorScheme: dark ? "dark" : "light",
      viewport: phone ? { width: 390, height: 844 } : { width: 1440, height },
      deviceScaleFactor: phone ? 2 : 1,
      reducedMotion: "reduce",
    });
    await page.waitForSelector("#live:not(.lost):not([hidden])");
    if (await page.$("[data-terminal]")) await page.waitForFunction(() => document.querySelector("[data-part=screen]")?.textContent.trim());
    await prepare?.(page);
    await page.screenshot({ path: join(FOLDER, `${name}.png`) });
    if (page.problems.length > 0) throw new Error(`${name}: ${page.problems.join("; ")}`);
    await page.context().close();
  };
  const codebase = await until("a report", async () => {
    const page = await world.page(chromium, { path: "/analysis" });
    const link = await page.getAttribute("a.row-link[href*=codebase]", "href");
    await page.context().close();
    return link;
  });
  // Lines are counted in the background, a moment after somebody looks.
  const prepare = async (page) => {
    await page.waitForSelector(`#card-${who.coder} .size`);
    if (who.asks) await page.waitForSelector(`#card-${who.asks} .dialog-choices button`);
    if (who.idle) await page.waitForSelector(`#card-${who.idle} .need:has-text("refunds")`);
  };
  await take("board", "/", { height: 1080, prepare });
  await take("board-dark", "/", { dark: true, height: 1080, prepare });
  await take("board-phone", "/", { phone: true, prepare });
  await take("agent", `/agents/${who.coder}`, { height: 1000 });
  await take("agent-dark", `/agents/${who.coder}`, { dark: true, height: 1000 });
  await take("changes", `/agents/${who.coder}/diff`);
  await take("conflict", "/pulls/3", { prepare: (page) => page.waitForSelector("#action-resolve") });
  const comment = async (page, line, text) => {
    await page.locator(`.code tr.add > td.no[data-n='${line}']`).click();
    await page.fill("#comment-dialog textarea", text);
    await page.click("#comment-dialog button[type=submit]");
    await page.waitForSelector("#comment-dialog", { state: "detached" });
    await page.waitForSelector(`.note.draft:has-text("${text.slice(0, 12)}")`);
  };
  await take("review", "/pulls/2", {
    height: 1000,
    prepare: async (page) => {
      await comment(page, 3, "Yen have no cents: `shown(350, \"JPY\")` should be `350 JPY`.");
      await comment(page, 14, "Say which currencies there are.");
      await page.fill("#review-text", "Good, but for the yen. Please add a test for each currency.");
      await page.mouse.move(0, 0);
    },
  });
  await take("tasks", "/tasks");
  await take("analysis", codebase, { height: 1100 });
  shrink();
  for (const name of readdirSync(FOLDER)) {
    const { size } = statSync(join(FOLDER, name));
    console.log(`${name} ${Math.ceil(size / 1024)} KB`);
    if (size > LARGEST) process.exitCode = 1;
  }
} finally {
  await chromium?.close();
  await world.dispose();
  claude?.closeAllConnections();
  claude?.close();
}
