// The palette (Ctrl-K or ⌘K): one field that finds agents, tasks, pull requests and actions. Also who waits next.
const MOST = 40;
/** Lists of more repositories than this would take too long. */
const REPOSITORIES = 6;

let dialog, field, list, entries = [], shown = [], at = 0;

export function palette() {
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
      // In a terminal under control, Ctrl-K is the terminal's.
      if (event.ctrlKey && event.target.closest(".is-mine")) return;
      event.preventDefault();
      open();
    }
  });
  const button = document.getElementById("palette-button");
  if (button) {
    button.hidden = false;
    button.addEventListener("click", open);
  }
}

async function get(path) {
  try {
    const answer = await fetch(path, { headers: { accept: "application/json" }, credentials: "same-origin" });
    return answer.ok ? await answer.json() : undefined;
  } catch {
    return undefined;
  }
}

/** Goes to the agent that waits for a person, after the one whose page this is. */
export async function nextWaiting() {
  const board = await get("/api/board");
  const cards = board?.columns.find(({ key }) => key === "waiting")?.cards ?? [];
  const here = cards.findIndex(({ id }) => location.pathname === `/agents/${id}`);
  const next = cards[(here + 1) % Math.max(1, cards.length)];
  if (next) location.assign(`/agents/${next.id}`);
  return Boolean(next);
}

function element(name, attributes = {}, text) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function build() {
  dialog = element("dialog", { id: "palette", "aria-label": "Find anything" });
  field = element("input", {
    type: "text", role: "combobox", "aria-expanded": "true", "aria-controls": "palette-list", "aria-autocomplete": "list",
    "aria-label": "Find agents, tasks, pull requests and actions", placeholder: "Find agents, tasks, pull requests, actions", autocomplete: "off", spellcheck: "false",
  });
  list = element("ul", { id: "palette-list", role: "listbox", "aria-label": "Found" });
  dialog.append(field, list);
  field.addEventListener("input", () => { at = 0; show(); });
  field.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by && shown.length > 0) {
      at = (at + by + shown.length) % shown.length;
      mark();
    } else if (event.key === "Enter") choose(shown[at]);
    else return;
    event.preventDefault();
  });
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) choose(shown[Number(option.dataset.index)]);
  });
  // Beside the box is the backdrop.
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  document.body.append(dialog);
}

function open() {
  if (!dialog) build();
  if (dialog.open) return dialog.close();
  field.value = "";
  at = 0;
  entries = actions();
  show();
  dialog.showModal();
  field.focus();
  load();
}

function actions() {
  const pages = [["Board", "/"], ["Tasks", "/tasks"], ["Pull requests", "/pulls"], ["Analysis", "/analysis"], ["Events", "/events"]];
  const found = pages.map(([name, path]) => ({ kind: "page", name, run: () => location.assign(path) }));
  found.push({ kind: "action", name: "Go to who waits next", run: nextWaiting });
  if (document.querySelector("a.launch")) found.push({ kind: "action", name: "Launch an agent", run: () => location.assign("/launch") });
  // What the page itself offers: the question before it, if there is one, comes with the button.
  for (const button of document.querySelectorAll("main .actions form.inline > button[type=submit]:not(:disabled), main .actions > a.btn, #review button:not(:disabled)")) {
    found.push({ kind: "action", name: `${button.textContent.trim()} (this page)`, run: () => button.click() });
  }
  // What asks for more first opens its form.
  for (const pop of document.querySelectorAll("main .actions details.pop")) {
    found.push({
      kind: "action", name: `${pop.querySelector("summary").textContent.trim()} (this page)`,
      // After the click that chose it, which closes whatever is open elsewhere.
      run: () => setTimeout(() => { pop.open = true; pop.querySelector("input:not([type=hidden]), textarea, select, button")?.focus(); }),
    });
  }
  found.push({ kind: "action", name: "Light or dark", run: () => document.getElementById("theme")?.click() });
  return found;
}

async function load() {
  const board = await get("/api/board");
  const cards = (board?.columns ?? []).flatMap(({ cards }) => cards);
  const agents = cards.map((card) => ({
    kind: "agent", name: card.task?.title || card.title || card.id, more: card.id, run: () => location.assign(`/agents/${card.id}`),
  }));
  entries = [...agents, ...entries];
  show();
  const repositories = (board?.repositories ?? []).slice(0, REPOSITORIES);
  for (const repository of repositories.length > 0 ? repositories : [undefined]) {
    const query = repository ? `?repository=${encodeURIComponent(repository)}` : "";
    const [tasks, pulls] = await Promise.all([get(`/api/tasks${query}`), get(`/api/pulls${query}`)]);
    for (const entry of tasks?.tasks ?? []) {
      entries.push({ kind: "task", name: entry.title, more: entry.id, run: () => location.assign(`/tasks${query}#task-${entry.id}`) });
    }
    for (const entry of pulls?.pulls ?? []) {
      entries.push({ kind: "pull", name: entry.title, more: `#${entry.number}`, run: () => location.assign(`/pulls/${entry.number}${query}`) });
    }
    show();
  }
}

function show() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  shown = entries.filter(({ kind, name, more = "" }) => {
    const text = `${kind} ${name} ${more}`.toLowerCase();
    return words.every((word) => text.includes(word));
  }).slice(0, MOST);
  at = Math.min(at, Math.max(0, shown.length - 1));
  list.replaceChildren(...shown.map(({ kind, name, more }, index) => {
    const option = element("li", { role: "option", id: `palette-${index}`, "data-index": index });
    option.append(element("span", { class: "palette-kind" }, kind), element("span", { class: "cut" }, name));
    if (more) option.append(element("span", { class: "mono muted cut" }, more));
    return option;
  }));
  if (shown.length === 0) list.append(element("li", { class: "empty" }, "Nothing is called so."));
  mark();
}

function mark() {
  for (const [index, option] of [...list.querySelectorAll("[role=option]")].entries()) {
    option.setAttribute("aria-selected", String(index === at));
    if (index === at) option.scrollIntoView({ block: "nearest" });
  }
  if (shown.length > 0) field.setAttribute("aria-activedescendant", `palette-${at}`);
  else field.removeAttribute("aria-activedescendant");
}

function choose(entry) {
  if (!entry) return;
  dialog.close();
  entry.run();
}
