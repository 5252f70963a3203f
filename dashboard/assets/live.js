// Keeps the page as it is on the server: every change is announced, the page is fetched again, what differs is swapped.
import { morph } from "./morph.js";

const FIRST_PAUSE = 400;
const LONGEST_PAUSE = 8000;
/** Changes often come in groups; one look after them is enough. */
const GATHER = 60;

const hooks = [];

/** Calls `hook` with the new `<main>` before it is swapped in, and with the page's own after that. */
export function beforeAndAfter(prepare, done) {
  hooks.push({ prepare, done });
}

export function main() {
  return document.getElementById("main");
}

let source, retry, pause = FIRST_PAUSE;
let busy = false, again = false, timer;

export function connect() {
  clearTimeout(retry);
  source = new EventSource("/api/changes");
  source.addEventListener("hello", (event) => {
    pause = FIRST_PAUSE;
    connected(true);
    // What changed while nobody listened is not announced again.
    refresh(version(event));
  });
  source.addEventListener("change", (event) => refresh(version(event)));
  source.onerror = () => {
    source.close();
    connected(false);
    retry = setTimeout(connect, pause + Math.random() * 200);
    pause = Math.min(pause * 1.8, LONGEST_PAUSE);
  };
}

function version(event) {
  try {
    return Number(JSON.parse(event.data).version);
  } catch {
    return NaN;
  }
}

function connected(yes) {
  const live = document.getElementById("live");
  live.hidden = false;
  live.classList.toggle("lost", !yes);
  live.textContent = yes ? "Live" : "Offline";
  document.getElementById("offline").hidden = yes;
}

/** Fetches the page again unless it shows that version already. */
export function refresh(newest) {
  if (String(newest) === main().dataset.version) return;
  again = true;
  if (busy || timer) return;
  timer = setTimeout(fetchPage, GATHER);
}

async function fetchPage() {
  timer = undefined;
  busy = true;
  again = false;
  try {
    const url = new URL(location.href);
    url.hash = "";
    url.searchParams.delete("done");
    url.searchParams.set("fragment", "1");
    const answer = await fetch(url, { headers: { accept: "text/html" }, credentials: "same-origin" });
    if (answer.status === 401 || answer.status === 403) return locked();
    if (answer.ok) swap(await answer.text());
  } catch {
    // The stream notices as well, and tries again.
  } finally {
    busy = false;
    if (again) refresh(NaN);
  }
}

function locked() {
  const bar = document.getElementById("offline");
  bar.hidden = false;
  bar.querySelector("span").textContent = "The dashboard was started anew with another token: open the address that it printed.";
}

function swap(text) {
  const fresh = new DOMParser().parseFromString(text, "text/html").querySelector("main");
  if (!fresh) return;
  const focused = document.activeElement;
  const place = focused?.closest("[id]")?.id;
  const link = focused?.getAttribute?.("href");
  for (const hook of hooks) hook.prepare?.(fresh);
  morph(main(), fresh);
  // A card that went to another column is another element; who was on it still is.
  if (focused && !focused.isConnected && place) {
    const holder = document.getElementById(place);
    const same = link && holder ? [...holder.querySelectorAll("a[href]")].find((a) => a.getAttribute("href") === link) : null;
    (same ?? holder)?.focus({ preventScroll: true });
  }
  for (const hook of hooks) hook.done?.(main());
}

/** An agent's transcript is no part of the database: nobody announces that it grows. */
export async function followActivity() {
  const list = document.getElementById("activity");
  if (!list || document.hidden || busy) return;
  try {
    const url = `${list.dataset.activity}?limit=1&after=${encodeURIComponent(list.dataset.cursor)}`;
    const answer = await fetch(url, { credentials: "same-origin" });
    if (answer.ok && (await answer.json()).items.length > 0) refresh(NaN);
  } catch {
    // The stream of changes notices as well.
  }
}

/** The same words as in `pages/time.rs`. */
export function age(seconds) {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

/** Writes how long ago each time below `root` was. */
export function tick(root) {
  const now = Date.now();
  for (const time of root.querySelectorAll("time[datetime]")) {
    const then = Date.parse(time.dateTime);
    if (Number.isNaN(then)) continue;
    const text = age(Math.max(0, Math.floor((now - then) / 1000)));
    if (time.textContent !== text) time.textContent = text;
  }
}
