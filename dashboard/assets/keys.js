// The keyboard: j and k between entries, h and l between columns, w to who waits, / to filter, ? for help.
import { nextWaiting } from "./palette.js";

const PAGES = { b: "/", t: "/tasks", p: "/pulls", a: "/analysis", e: "/events", l: "/launch" };
let waitsForPage = 0;

export function listen() {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select, [contenteditable], dialog")) {
      if (event.key === "Escape" && event.target.id === "find") leaveFilter(event.target);
      return;
    }
    // Who types at a terminal means the terminal, in control or not.
    if (event.target.closest("[data-terminal]")) return;
    if (press(event.key)) event.preventDefault();
  });
}

function press(key) {
  if (Date.now() - waitsForPage < 1200) {
    waitsForPage = 0;
    if (PAGES[key]) {
      location.assign(PAGES[key]);
      return true;
    }
  }
  switch (key) {
    case "j":
    case "ArrowDown":
      return step(1);
    case "k":
    case "ArrowUp":
      return step(-1);
    case "l":
    case "ArrowRight":
      return side(1);
    case "h":
    case "ArrowLeft":
      return side(-1);
    case "/":
      return focusFilter();
    case "g":
      waitsForPage = Date.now();
      return true;
    case "w":
      nextWaiting();
      return true;
    case "n":
      location.assign("/launch");
      return true;
    case "?":
      document.getElementById("keys").showModal();
      return true;
    default:
      return false;
  }
}

function focusFilter() {
  const field = document.querySelector("#find:not([hidden]), main form.filters input[type=search]");
  field?.focus();
  field?.select();
  return Boolean(field);
}

function leaveFilter(field) {
  field.value = "";
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.blur();
}

function entries() {
  return [...document.querySelectorAll("main [data-card]")].filter((card) => card.offsetParent !== null);
}

/** What in an entry takes the focus: its link, or what opens it. */
function handle(card) {
  return card.querySelector(".card-link, .row-link, summary") ?? card;
}

function focus(card) {
  const target = handle(card);
  target.focus({ preventScroll: true, focusVisible: true });
  card.scrollIntoView({ block: "nearest", inline: "nearest" });
  return true;
}

function step(by) {
  const cards = entries();
  if (cards.length === 0) return false;
  const current = document.activeElement?.closest("[data-card]");
  const at = cards.indexOf(current);
  // Arrow keys scroll the page until somebody has begun to walk.
  if (at < 0 && document.activeElement?.closest(".scroll, .term-view")) return false;
  return focus(cards[at < 0 ? 0 : Math.min(cards.length - 1, Math.max(0, at + by))]);
}

function side(by) {
  const columns = [...document.querySelectorAll(".column")].filter((column) => column.querySelector("[data-card]"));
  const current = document.activeElement?.closest(".column");
  if (columns.length === 0 || !current) return false;
  const target = columns[columns.indexOf(current) + by];
  const card = target?.querySelector("[data-card]:not([hidden])");
  return card ? focus(card) : false;
}
