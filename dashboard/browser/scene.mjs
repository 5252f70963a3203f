// A small company at work: a planner has planned, coders and reviewers are at it, one needs a person.
// Real agents' processes, worktrees, reviews and pull requests; only the models are scripts.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PROGRAM, ROOT, until } from "./support.mjs";

const FILES = {
  "README.md": "# shop\n\nA small shop: prices, a checkout and receipts.\n\n    pip install -e . && pytest\n",
  "pyproject.toml": "[project]\nname = \"shop\"\nversion = \"0.4.0\"\ndependencies = [\"flask>=3\", \"sqlalchemy>=2\"]\n",
  "shop/__init__.py": "",
  "shop/prices.py": `"""Prices in cents."""

CURRENCY = "EUR"


def parse(text):
    """Reads a price as people write it."""
    whole, _, cents = text.replace(",", ".").partition(".")
    return int(whole) * 100 + int((cents + "00")[:2])


def shown(cents):
    return f"{cents // 100}.{cents % 100:02d} {CURRENCY}"
`,
  "shop/checkout.py": `"""What a customer pays."""

from shop import prices


class Cart:
    def __init__(self):
        self.items = []

    def add(self, name, price, count=1):
        self.items.append((name, price, count))

    def total(self):
        return sum(price * count for _, price, count in self.items)


def pay(cart):
    total = cart.total()
    return prices.shown(total)
`,
  "shop/receipt.py": `"""What a customer takes home."""

from shop import prices


def lines(cart):
    for name, price, count in cart.items:
        yield f"{count} x {name:<20} {prices.shown(price * count):>12}"
`,
  "tests/test_checkout.py": `from shop.checkout import Cart, pay


def test_the_sum_is_paid():
    cart = Cart()
    cart.add("tea", 350, 2)
    assert pay(cart) == "7.00 EUR"
`,
  "web/app.js": "import { render } from './view.js';\n\nexport function start(root) {\n  render(root, { items: [] });\n}\n",
  "web/view.js": "// Draws the cart.\nexport function render(root, state) {\n  root.textContent = `${state.items.length} things`;\n}\n",
};

const CHECKOUT = `"""What a customer pays."""

from shop import discounts, prices


class Cart:
    def __init__(self):
        self.items = []
        self.code = None

    def add(self, name, price, count=1):
        self.items.append((name, price, count))

    def total(self):
        return sum(price * count for _, price, count in self.items)


def pay(cart):
    total = cart.total() - discounts.of(cart.code, cart.total())
    return prices.shown(total)
`;
const DISCOUNTS = `"""Codes that make things cheaper."""

# Percent off, by code.
CODES = {"SAVE10": 10, "SUMMER": 15}


class UnknownCode(ValueError):
    """The customer typed a code that there is not."""


def of(code, total):
    """Returns what a code takes off, in cents."""
    if code is None:
        return 0
    if code not in CODES:
        raise UnknownCode(code)
    return total * CODES[code] // 100
`;

function write(folder, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

const dim = (text) => `\x1b[2m${text}\x1b[0m`;
const bold = (text) => `\x1b[1m${text}\x1b[0m`;
const colour = (number, text) => `\x1b[38;5;${number}m${text}\x1b[0m`;
const dot = (number) => colour(number, "●");

function session(title, steps) {
  const line = "─".repeat(70);
  return [
    "\x1b[2J\x1b[H" + colour(239, `╭${line}╮`),
    colour(239, "│ ") + bold(title.padEnd(68)) + colour(239, " │"),
    colour(239, `╰${line}╯`),
    "",
    ...steps,
  ].join("\r\n");
}

const CODER_SCREEN = session("work on: Discount codes at checkout", [
  `${dot(75)} ${bold("read")} shop/checkout.py ${dim("20 lines")}`,
  `${dot(75)} ${bold("write")} shop/discounts.py ${dim("18 lines")}`,
  `${dot(75)} ${bold("edit")} shop/checkout.py`,
  dim("   18 ") + colour(203, "-    total = cart.total()"),
  dim("   18 ") + colour(114, "+    total = cart.total() - discounts.of(cart.code, cart.total())"),
  `${dot(114)} ${bold("run")} pytest -q`,
  "   " + colour(114, "............................") + dim("                              [100%]"),
  "   " + colour(114, "28 passed") + " in 0.41s",
  `${dot(114)} ${bold("git commit")} Discount codes at checkout`,
  `${dot(141)} ${bold("request_review")} ${dim("round 1 of 3")}`,
  "",
  `${dot(215)} feedback: ${colour(215, "an unknown code takes ten percent off")}`,
  `${dot(75)} ${bold("edit")} shop/discounts.py`,
  dim("   14 ") + colour(114, "+    if code not in CODES:"),
  dim("   15 ") + colour(114, "+        raise UnknownCode(code)"),
  `${dot(114)} ${bold("run")} pytest -q  ${colour(114, "31 passed")} in 0.44s   ${dim("価格テスト ✓  größe ✓")}`,
  `${dot(141)} ${bold("request_review")} ${dim("round 2 of 3")}`,
  "",
  dim("Waiting for the reviewer."),
  "",
  colour(239, "─".repeat(72)),
  "> ",
]);

const BUSY_SCREEN = session("work on: Receipts by mail", [
  `${dot(75)} ${bold("read")} shop/receipt.py ${dim("9 lines")}`,
  `${dot(75)} ${bold("search")} "smtplib" ${dim("no match")}`,
  `${dot(75)} ${bold("write")} shop/mail.py`,
  `${dot(220)} ${bold("run")} pytest tests/test_mail.py`,
  "",
  "> ",
]);

const TASKS = [
  ["Discount codes at checkout", "`pay` takes a code: SAVE10 takes a tenth off, unknown codes are refused.", "high", 3, []],
  ["Receipts by mail", "After `pay` the receipt is sent to the customer's address, once.", "medium", 4, []],
  ["Prices in several currencies", "CURRENCY is a constant today; carts know theirs.", "medium", 6, []],
  ["Show discounts on receipts", "One line with the code and what it took off.", "medium", 1, [0, 1]],
  ["A page for discount codes", "The shop's owner adds and ends codes in the browser.", "low", 5, [0]],
  ["Exchange rates every morning", "Fetched once, kept for the day, with the last ones as fallback.", "low", 3, [2]],
  ["Monthly report", "What was sold, in which currency, with which codes.", "low", 4, [3, 5]],
  ["Speed of the cart page", "Under 100 ms with 200 things in the cart.", "high", 2, []],
  ["Refunds", "A payment is given back, whole or in part, and shows on the receipt.", "high", 5, []],
  ["Refunds of discounted things", "What was paid is given back, not what it cost.", "medium", 2, [0, 8]],
];

async function commit(world, id, message, files) {
  write(world.instance(id).worktreePath, files);
  await world.does(id, "git", "add", "-A");
  await world.does(id, "git", "commit", "-q", "-m", message);
}

const status = (world, id, wanted) => until(`${id} is ${wanted}`, () => world.instance(id).status === wanted);

async function reviewer(world, coder) {
  return until(`${coder} has a reviewer`, () => {
    const known = world.codex("list").find((agent) => agent.parentInstanceId === coder && agent.status === "running");
    return known?.id;
  });
}

/** Makes minutes of seconds: it was all played in half a minute, and nobody looks at a board that young. */
function stretch(world) {
  const stretched = (column) => `${column} = strftime('%Y-%m-%dT%H:%M:%fZ', julianday('now') - (julianday('now') - julianday(${column})) * 60)`;
  const columns = {
    instances: ["created_at", "last_activity", "status_since", "completed_at"],
    mcp_events: ["created_at"],
    messages: ["created_at", "typed_at", "taken_at"],
    review_feedback: ["requested_at", "decided_at"],
    pull_requests: ["created_at", "updated_at", "merged_at"],
    tasks: ["created_at", "updated_at"],
  };
  const statements = Object.entries(columns).map(([table, names]) => `UPDATE ${table} SET ${names.map(stretched).join(", ")};`);
  const script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], timeout=10); c.executescript(sys.argv[2]); c.commit()";
  world.run("python3", ["-c", script, join(world.folder, "state/codex.db"), statements.join("\n")]);
}

/** Has a planner look at this very repository: a report with something in it. */
async function analyse(world) {
  const folder = join(world.folder, "claude-codex");
  world.git("clone", "-q", "--no-hardlinks", ROOT, folder);
  const { id } = JSON.parse(world.run(PROGRAM, ["plan", "What is where in this repository, and what changes together?", "--json"], { cwd: folder }));
  await status(world, id, "running");
  await world.call(id, "analyze_repository", { scope: "architecture", depth: "deep" });
  await world.call(id, "analyze_repository", { scope: "codebase", depth: "deep" });
  world.codex("stop", id);
}

/** Plays it, and returns who is who. */
export async function play(world) {
  write(world.repository, FILES);
  for (const [index, path] of Object.keys(FILES).entries()) {
    world.git("add", path);
    world.git("commit", "-q", "--allow-empty", "-m", `Part ${index + 1} of the shop`);
  }
  await analyse(world);
  const planner = world.codex("plan", "Plan the next release of the shop: discounts, receipts by mail, several currencies.").id;
  await status(world, planner, "running");
  await world.call(planner, "analyze_repository", { scope: "dependencies", depth: "medium" });
  const ids = [];
  for (const [taskTitle, taskDescription, priority, estimatedHours, after] of TASKS) {
    const made = await world.call(planner, "create_task", {
      taskTitle, taskDescription, priority, estimatedHours, dependsOn: after.map((index) => ids[index]),
    });
    ids.push(made.result.taskId);
  }
  const launch = async (...args) => {
    const { id } = world.codex("code", ...args);
    await status(world, id, "running");
    return id;
  };

  // Published, and then another was merged that changes the same lines.
  const clashing = await launch("Say how much is in the cart");
  await commit(world, clashing, "The cart says its total", { "web/view.js": "// Draws the cart.\nexport function render(root, state) {\n  root.textContent = `${state.items.length} things, ${state.total}`;\n}\n" });

  // Merged a while ago.
  const merged = await launch("--task", ids[7], "--max-reviews", "3");
  await commit(world, merged, "The cart page in 40 ms", { "web/view.js": "// Draws the cart.\nexport function render(root, state) {\n  const count = state.items.length;\n  root.replaceChildren(`${count} things`);\n}\n" });
  await world.call(merged, "create_pr", { title: "Speed of the cart page", description: "200 things are drawn in 40 ms: one replacement instead of many." });
  await status(world, merged, "pr_created");
  world.codex("pr", "merge", "1");

  // Published and open.
  const published = await launch("--task", ids[2]);
  await commit(world, published, "Carts know their currency", {
    "shop/prices.py": FILES["shop/prices.py"].replace('CURRENCY = "EUR"', 'CURRENCIES = ("EUR", "USD", "JPY")').replace("def shown(cents):\n    return f\"{cents // 100}.{cents % 100:02d} {CURRENCY}\"", "def shown(cents, currency=\"EUR\"):\n    if currency not in CURRENCIES:\n        raise ValueError(currency)\n    return f\"{cents // 100}.{cents % 100:02d} {currency}\""),
  });
  await world.call(published, "create_pr", { title: "Prices in several currencies", description: "Carts know their currency; EUR stays the default." });
  await status(world, published, "pr_created");

  await world.call(clashing, "create_pr", { title: "The cart says its total", description: "Count and total in one line." });
  await status(world, clashing, "pr_created");

  // In its second review.
  const coder = await launch("--task", ids[0]);
  await commit(world, coder, "Discount codes at checkout", { "shop/checkout.py": CHECKOUT, "shop/discounts.py": DISCOUNTS.replace(/    if code not in CODES[^\n]*\n[^\n]*\n/, "").replace("CODES[code]", "CODES.get(code, 10)") });
  await world.call(coder, "request_review", { description: "`Cart.code` takes a discount code; SAVE10 and SUMMER are known. 28 tests pass." });
  const first = await reviewer(world, coder);
  await world.call(first, "request_changes", {
    feedback: "The codes work and the tests pass, but a code that nobody knows takes ten percent off as well.",
    findings: [
      { file: "shop/discounts.py", line: 15, severity: "blocking", message: "`of(\"NOPE\", 1000)` returns 100: an unknown code should be refused, and a test should say so." },
      { file: "shop/checkout.py", line: 18, severity: "minor", message: "`cart.total()` is computed twice." },
    ],
  });
  await until("the feedback was taken", () => world.log(coder, "message").length > 0);
  await commit(world, coder, "Refuse unknown codes", { "shop/discounts.py": DISCOUNTS, "tests/test_discounts.py": "import pytest\n\nfrom shop import discounts\n\n\ndef test_a_code_takes_its_share_off():\n    assert discounts.of(\"SAVE10\", 1000) == 100\n\n\ndef test_an_unknown_code_is_refused():\n    with pytest.raises(discounts.UnknownCode):\n        discounts.of(\"NOPE\", 1000)\n" });
  await world.call(coder, "request_review", { description: "Unknown codes are refused now; two tests cover it." });
  const second = await reviewer(world, coder);
  await world.shows(coder, CODER_SCREEN);
  await world.shows(second, session("review of work-discount-codes, round 2", [`${dot(75)} ${bold("git log")} --oneline -3`, `${dot(114)} ${bold("run")} pytest -q  ${colour(114, "31 passed")}`, `${dot(75)} ${bold("read")} shop/discounts.py`, "", "> "]));

  // At work.
  const busy = await launch("--task", ids[1]);
  await world.shows(busy, BUSY_SCREEN);
  const bug = await launch("The total is one cent off when a price has three decimals: find out why, and add a test that fails first.");
  await world.shows(bug, session("work on: one cent off", [`${dot(75)} ${bold("read")} shop/prices.py`, `${dot(203)} ${bold("run")} pytest -k cents  ${colour(203, "1 failed")}`, "", "> "]));

  // At its limit: a person decides.
  const limited = await launch("Translate the receipts: German, French and Japanese", "--max-reviews", "1");
  await commit(world, limited, "Receipts in three languages", { "shop/words.py": "WORDS = {\"de\": \"Summe\", \"fr\": \"Total\", \"ja\": \"合計\"}\n" });
  await world.call(limited, "request_review", { description: "Words for three languages." });
  const strict = await reviewer(world, limited);
  await world.call(strict, "request_changes", { feedback: "The words are there, but nothing uses them yet.", findings: [{ file: "shop/receipt.py", severity: "major", message: "Receipts still print English words." }] });
  await until("the second feedback was taken", () => world.log(limited, "message").length > 0);

  // Stopped in the middle of something that exists nowhere else.
  const stopped = await launch("Try the new payment provider in a sandbox");
  write(world.instance(stopped).worktreePath, { "shop/payments.py": "# Not finished\n" });
  world.codex("stop", stopped);

  // Failed: its program ended in the middle of its work.
  const failed = await launch("Print receipts on paper of 58 mm");
  await world.shows(failed, session("work on: small receipts", [`${dot(75)} ${bold("read")} shop/receipt.py`, "  ENOSPC: no space left on device"]));
  world.tell(failed, { run: ["sh", "-c", "kill -9 $PPID"] });
  await status(world, failed, "failed");

  // Whoever looks at the pull requests has it computed how they stand.
  world.codex("pr", "list");
  stretch(world);
  return { clashing, failed, planner, merged, published, coder, reviewer: second, busy, bug, limited, stopped };
}
