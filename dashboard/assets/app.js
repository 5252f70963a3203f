// What every page does: stays live, counts time, asks before it destroys, remembers the theme, tells who waits.
import { beforeAndAfter, connect, followActivity, main, tick } from "./live.js";
import { listen } from "./keys.js";
import { palette } from "./palette.js";

const store = {
  get: (name) => { try { return localStorage.getItem(name); } catch { return null; } },
  set: (name, value) => { try { localStorage.setItem(name, value); } catch { /* forbidden: then not remembered */ } },
};

/** Shows what only scripts can serve. */
function prepare(root) {
  for (const element of root.querySelectorAll(".script-only")) element.hidden = false;
  // Said once, by itself, above the page.
  root.querySelector(".flash")?.remove();
  tick(root);
}

export function say(text, bad = false) {
  document.querySelector(".toast")?.remove();
  const toast = document.createElement("p");
  toast.className = bad ? "toast bad" : "toast";
  toast.setAttribute("role", bad ? "alert" : "status");
  toast.textContent = text;
  document.body.append(toast);
  setTimeout(() => toast.remove(), bad ? 9000 : 5000);
}

function filter() {
  const field = document.getElementById("find");
  if (!field) return;
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const card of main().querySelectorAll(".column [data-card]")) {
    // An age is no word of the agent: "task 2" would match whatever is 2 minutes old.
    const age = card.querySelector(".since")?.textContent ?? "";
    const text = card.textContent.replace(age, " ").toLowerCase();
    card.hidden = !words.every((word) => text.includes(word));
  }
  for (const column of main().querySelectorAll(".column")) {
    const count = column.querySelector(".count");
    count.dataset.total ??= count.textContent;
    count.textContent = words.length > 0 ? column.querySelectorAll("[data-card]:not([hidden])").length : count.dataset.total;
  }
}

let waited = Number(main().dataset.waiting ?? 0);

/** Title, icon and badge say how many wait; a notification says it to whoever looks elsewhere. */
function announce(page) {
  document.title = page.dataset.title ?? document.title;
  if (page.dataset.waiting === undefined) return;
  const waiting = Number(page.dataset.waiting);
  const badge = document.getElementById("waiting-count");
  if (badge) {
    badge.textContent = waiting;
    badge.hidden = waiting === 0;
  }
  const icon = document.getElementById("favicon");
  const wanted = waiting > 0 ? icon.dataset.waiting : icon.dataset.calm;
  if (icon.getAttribute("href") !== wanted) icon.setAttribute("href", wanted);
  if (waiting > waited && wantsNotes()) {
    const card = page.querySelector(".column.waiting .card");
    const text = card?.querySelector(".need")?.textContent ?? "";
    const title = card && waiting === 1 ? `${card.dataset.agent} waits for you` : `${waiting} agents wait for you`;
    new Notification(title, { body: text, tag: "codex-waiting", icon: icon.dataset.waiting }).onclick = () => window.focus();
  }
  waited = waiting;
}

function wantsNotes() {
  return store.get("codex-notify") === "yes" && "Notification" in window && Notification.permission === "granted";
}

function notes() {
  const button = document.getElementById("notify");
  if (!button || !("Notification" in window)) return;
  button.hidden = false;
  const show = () => button.setAttribute("aria-pressed", String(wantsNotes()));
  button.addEventListener("click", async () => {
    if (wantsNotes()) store.set("codex-notify", "no");
    else if (await Notification.requestPermission() === "granted") {
      store.set("codex-notify", "yes");
      say("You will be told when an agent waits for you.");
    } else say("The browser does not allow notifications from here.", true);
    show();
  });
  show();
}

function theme() {
  const button = document.getElementById("theme");
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    store.set("codex-theme", root.dataset.theme);
  });
}

/** Asks in the page's own words before a form does what can't be taken back. */
function confirmations() {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    const question = form.dataset?.confirm;
    if (!question || form.dataset.confirmed) return;
    event.preventDefault();
    const submitter = event.submitter;
    const dialog = document.createElement("dialog");
    dialog.id = "confirm";
    dialog.setAttribute("aria-label", question);
    const text = document.createElement("p");
    text.textContent = question;
    const row = document.createElement("form");
    row.method = "dialog";
    row.className = "row";
    for (const [value, label, look] of [["", "Cancel", "btn"], ["yes", submitter?.textContent.trim() || "Yes", "btn primary"]]) {
      const button = document.createElement("button");
      button.value = value;
      button.textContent = label;
      button.className = look;
      row.append(button);
    }
    dialog.append(text, row);
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (dialog.returnValue !== "yes") return;
      // The page may have been refreshed under the question.
      const asked = form.isConnected ? form : document.getElementById(form.id);
      if (!asked) return;
      asked.dataset.confirmed = "yes";
      asked.requestSubmit(submitter?.isConnected ? submitter : undefined);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

function choices() {
  document.addEventListener("change", (event) => {
    const form = event.target.closest("form[data-auto]");
    if (form) return form.requestSubmit();
    // Another repository has other branches and tasks; what was typed goes along.
    const reload = event.target.dataset.reload;
    if (reload) {
      const fields = new URLSearchParams(new FormData(event.target.form));
      for (const name of ["csrf", "task", "base"]) fields.delete(name);
      for (const [name, value] of [...fields]) if (value === "") fields.delete(name);
      location.assign(`${reload}?${fields}`);
    }
  });
  document.addEventListener("input", (event) => {
    if (event.target.id === "find") filter();
  });
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const text = document.getElementById(button.dataset.copy)?.textContent ?? "";
    try {
      await navigator.clipboard.writeText(text);
      say("Copied.");
    } catch {
      say("The browser did not allow copying; select the text instead.", true);
    }
  });
  // A menu that was opened closes when somebody looks elsewhere.
  document.addEventListener("click", (event) => {
    for (const open of document.querySelectorAll("details.pop[open]")) {
      if (!open.contains(event.target)) open.open = false;
    }
  });
}

/** Twice sent is twice done: a form that was sent says so and waits. */
function sending() {
  document.addEventListener("submit", (event) => {
    if (event.defaultPrevented || event.target.method !== "post") return;
    for (const button of event.target.querySelectorAll("button[type=submit]")) {
      setTimeout(() => { button.disabled = true; });
    }
  });
  // Back in history such a page comes as it was left.
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) for (const button of document.querySelectorAll("button[type=submit]")) button.disabled = false;
  });
}

const flash = document.querySelector(".flash")?.textContent;
prepare(document);
if (flash) {
  say(flash);
  const url = new URL(location.href);
  url.searchParams.delete("done");
  history.replaceState(null, "", url);
}
announce(main());
theme();
notes();
confirmations();
sending();
choices();
listen();
palette();
const help = document.getElementById("keys-button");
if (help) {
  help.hidden = false;
  help.addEventListener("click", () => document.getElementById("keys").showModal());
}
setInterval(() => tick(document), 1000);
setInterval(followActivity, 1500);
beforeAndAfter(prepare, (page) => {
  announce(page);
  filter();
});
connect();
