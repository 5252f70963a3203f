// Makes the pictures of the documentation: docs/pictures/*.png. Started by scripts/screenshots.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
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
let chromium;
try {
  mkdirSync(FOLDER, { recursive: true });
  const who = await play(world);
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
  await take("board", "/");
  await take("board-dark", "/", { dark: true });
  await take("board-phone", "/", { phone: true });
  await take("agent", `/agents/${who.coder}`, { height: 1000 });
  await take("agent-dark", `/agents/${who.coder}`, { dark: true, height: 1000 });
  await take("changes", `/agents/${who.coder}/diff`);
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
}
