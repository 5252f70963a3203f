// A live terminal: shows what tmux shows, and types into it once somebody has taken control.
const CSRF = document.querySelector("meta[name=csrf]")?.content ?? "";
/** Control ends by itself unless it is renewed; the server says when. */
const RENEW = 8000;
const HISTORY = 2000;
const LOOK_AGAIN = 5000;
/** Width of a character as a part of its height, in the fonts that terminals use. */
const ASPECT = 0.602;
const LARGEST = 13.5, SMALLEST = 8;
/** On a phone smaller letters can't be read: the terminal scrolls sideways instead. */
const PHONE = matchMedia("(max-width: 820px)"), SMALLEST_ON_PHONE = 11;
/** However little stands in it, it looks like a terminal. */
const LEAST_COLUMNS = 80, LEAST_ROWS = 18;
/** From here on the letters would be too small beside anything else. */
const WIDE = 120;

/** Names of keys, where ours differ from the browser's. */
const NAMED = {
  Enter: "Enter", Backspace: "Backspace", Tab: "Tab", Escape: "Escape", Delete: "Delete", Home: "Home", End: "End",
  PageUp: "PageUp", PageDown: "PageDown", ArrowUp: "Up", ArrowDown: "Down", ArrowLeft: "Left", ArrowRight: "Right",
};
/** Letters that mean something to programs together with Ctrl. */
const WITH_CTRL = "abcdefgklnoprtuw";

class Terminal {
  constructor(box) {
    this.box = box;
    this.id = box.dataset.terminal;
    this.part = Object.fromEntries([...box.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]));
    this.rows = [];
    this.mine = false;
    this.following = true;
    this.scrolled = 0;
    this.pause = 400;
    this.queue = [];
    this.watchScrolling();
    this.watchKeys();
    this.part.control?.addEventListener("click", () => (this.mine ? this.release() : this.take()));
    new ResizeObserver(() => this.fit()).observe(this.part.view);
    window.addEventListener("pagehide", () => this.mine && this.release(true));
    this.open();
  }

  address(part) {
    return `/api/instances/${encodeURIComponent(this.id)}/${part}`;
  }

  // What it shows

  open() {
    this.source = new EventSource(this.address("terminal"));
    this.source.addEventListener("screen", (event) => {
      this.pause = 400;
      this.box.classList.add("is-live");
      this.draw(JSON.parse(event.data));
    });
    this.source.addEventListener("gone", () => this.ended());
    this.source.onerror = () => {
      this.source.close();
      this.box.classList.remove("is-live");
      setTimeout(() => this.open(), this.pause);
      this.pause = Math.min(this.pause * 1.8, 8000);
    };
  }

  /** There is no terminal (any more). A resumed agent has one again. */
  ended() {
    this.source.close();
    this.box.classList.remove("is-live");
    this.box.classList.add("is-dead");
    if (this.mine) this.lost();
    this.part.who.textContent = "There is no terminal now.";
    this.part.cursor.hidden = true;
    if (this.part.control) this.part.control.disabled = true;
    setTimeout(() => this.open(), LOOK_AGAIN);
  }

  draw(screen) {
    if (screen.whole || screen.height !== this.rows.length) this.resize(screen);
    for (const { n, html } of screen.rows) {
      // The server escapes all text and makes no tag but span.
      if (this.rows[n]) this.rows[n].innerHTML = html;
    }
    this.box.classList.toggle("is-dead", !screen.alive);
    if (this.part.control) this.part.control.disabled = !screen.alive;
    // Until a program names it, a terminal is called like its machine.
    this.part.title.textContent = /\s/.test(screen.title) ? screen.title : this.id;
    this.measure(screen);
    this.place(screen.cursor);
    this.who(screen.controller);
    if (screen.scrolled !== this.scrolled) {
      this.scrolled = screen.scrolled;
      this.stale = true;
      if (!this.following) this.loadHistory();
    }
    if (this.following) this.toEnd();
  }

  resize(screen) {
    this.columns = screen.columns;
    const sheet = document.createDocumentFragment();
    this.rows = Array.from({ length: screen.height }, () => {
      const row = document.createElement("div");
      row.className = "tr";
      sheet.append(row);
      return row;
    });
    this.part.screen.replaceChildren(sheet);
  }

  /** Terminals are larger than what stands in them: the empty right and bottom are not shown. */
  measure(screen) {
    let used = LEAST_COLUMNS, last = LEAST_ROWS - 1;
    for (const [n, row] of this.rows.entries()) {
      const length = row.textContent.length;
      if (length === 0) continue;
      used = Math.max(used, length + row.querySelectorAll(".w2").length);
      last = Math.max(last, n);
    }
    if (screen.cursor.visible) last = Math.max(last, screen.cursor.y);
    for (const [n, row] of this.rows.entries()) row.hidden = n > last;
    this.used = Math.min(used, this.columns);
    // Once wide, it stays: a page that rearranges itself with every line is hard to read.
    if (this.used > WIDE) this.box.classList.add("is-wide");
    this.fit();
  }

  /** Makes the letters as large as the width allows. */
  fit() {
    if (!this.used) return;
    const width = this.part.view.clientWidth - 26;
    const smallest = PHONE.matches ? SMALLEST_ON_PHONE : SMALLEST;
    const size = Math.max(smallest, Math.min(LARGEST, width / this.used / ASPECT));
    const text = `${Math.floor(size * 10) / 10}px`;
    if (text !== this.size) {
      this.size = text;
      this.part.sheet.style.setProperty("--t-size", text);
      this.part.sheet.style.setProperty("--t-row", `${Math.round(size * 1.32)}px`);
    }
    if (this.following) this.toEnd();
  }

  place(cursor) {
    const mark = this.part.cursor;
    mark.hidden = !cursor.visible;
    mark.style.left = `${cursor.x}ch`;
    mark.style.top = `calc(${this.part.screen.offsetTop}px + ${cursor.y} * var(--t-row, 17px))`;
    this.cursor = cursor;
  }

  // What has scrolled away

  watchScrolling() {
    const view = this.part.view;
    view.addEventListener("scroll", () => {
      const atEnd = view.scrollHeight - view.scrollTop - view.clientHeight < 24;
      if (this.following && !atEnd && !this.moving) this.loadHistory();
      this.following = atEnd;
      if (this.part.follow) this.part.follow.hidden = atEnd;
      this.moving = false;
    }, { passive: true });
    view.addEventListener("wheel", (event) => {
      if (event.deltaY < 0 && view.scrollTop === 0) this.loadHistory();
    }, { passive: true });
    this.part.follow?.addEventListener("click", () => {
      this.following = true;
      this.toEnd();
    });
    if (this.part.follow) this.part.follow.hidden = true;
  }

  toEnd() {
    const view = this.part.view;
    if (view.scrollHeight - view.scrollTop - view.clientHeight > 1) {
      this.moving = true;
      view.scrollTop = view.scrollHeight;
    }
  }

  async loadHistory() {
    if (this.loading || (!this.stale && this.part.history.childElementCount > 0)) return;
    this.loading = true;
    this.stale = false;
    try {
      const answer = await fetch(`${this.address("screen")}?history=${HISTORY}`, { headers: { accept: "application/json" } });
      if (!answer.ok) return;
      const screen = await answer.json();
      const view = this.part.view;
      const fromEnd = view.scrollHeight - view.scrollTop;
      const sheet = document.createDocumentFragment();
      for (const html of screen.rows.slice(0, screen.scrolled)) {
        const row = document.createElement("div");
        row.className = "tr";
        row.innerHTML = html;
        sheet.append(row);
      }
      this.part.history.replaceChildren(sheet);
      this.moving = true;
      view.scrollTop = view.scrollHeight - fromEnd;
      if (this.cursor) this.place(this.cursor);
    } finally {
      this.loading = false;
    }
  }

  // Typing

  async call(method, part, body) {
    const answer = await fetch(this.address(part), {
      method,
      credentials: "same-origin",
      headers: { "content-type": "application/json", accept: "application/json", "x-codex-csrf": CSRF, ...(this.lease ? { "x-codex-lease": this.lease } : {}) },
      body: body === undefined ? undefined : JSON.stringify(body),
      keepalive: part === "control",
    });
    const said = answer.status === 204 ? {} : await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error([said.message, said.hint].filter(Boolean).join(" ") || `HTTP ${answer.status}`);
    return said;
  }

  async take() {
    try {
      this.lease = undefined;
      const taken = await this.call("POST", "control", { name: ownName(), takeOver: Boolean(this.controller) });
      this.lease = taken.lease;
    } catch (error) {
      this.part.who.textContent = error.message;
      return;
    }
    this.mine = true;
    this.renewal = setInterval(() => {
      this.call("POST", "control", { name: ownName() }).catch(() => this.lost());
    }, RENEW);
    this.show();
    this.part.input.focus({ preventScroll: true });
  }

  async release(leaving = false) {
    this.mine = false;
    clearInterval(this.renewal);
    this.queue = [];
    if (!leaving) this.show();
    await this.call("DELETE", "control").catch(() => {});
  }

  lost() {
    clearInterval(this.renewal);
    this.mine = false;
    this.queue = [];
    this.show();
    this.part.who.textContent = "Control was lost.";
  }

  /** Tells who is in control. Whoever is in control here hears from the next key if somebody else took over. */
  who(controller) {
    this.controller = controller;
    if (!this.mine) this.show();
  }

  show() {
    this.box.classList.toggle("is-mine", this.mine);
    const label = this.part.control?.querySelector("span");
    if (label) label.textContent = this.mine ? "Release" : this.controller ? "Take over" : "Take control";
    this.part.who.textContent = this.mine
      ? "You are in control. Messages to the agent wait."
      : this.controller ? `${this.controller.name} is in control` : "";
  }

  watchKeys() {
    const { input, view, keys } = this.part;
    keys?.addEventListener("click", async (event) => {
      const key = event.target.closest("[data-key]")?.dataset.key;
      if (!key) return;
      // One who presses a key means to type.
      if (!this.mine) await this.take();
      if (this.mine) this.send({ key });
    });
    view.addEventListener("focus", () => this.mine && input.focus({ preventScroll: true }));
    view.addEventListener("click", () => {
      if (this.mine && !String(getSelection())) input.focus({ preventScroll: true });
    });
    input.addEventListener("keydown", (event) => {
      if (!this.mine || event.isComposing) return;
      const key = keyName(event);
      if (!key) return;
      event.preventDefault();
      this.send({ key });
    });
    // Letters come as text, so that every keyboard and input method works.
    input.addEventListener("input", (event) => {
      if (event.isComposing) return;
      this.typed();
    });
    input.addEventListener("compositionend", () => this.typed());
    input.addEventListener("paste", (event) => {
      event.preventDefault();
      // Control characters in a paste would act as keys.
      const text = (event.clipboardData?.getData("text") ?? "").replace(/\r\n?/g, "\n").replace(/[^\P{Cc}\n\t]/gu, "");
      if (this.mine && text) this.send({ paste: text });
    });
  }

  typed() {
    const { input } = this.part;
    const text = input.value;
    input.value = "";
    if (this.mine && text) this.send({ text });
  }

  /** One after the other, in the order in which they were pressed; letters that wait go together. */
  async send(what) {
    const last = this.queue.at(-1);
    if (this.sending && last?.text && what.text) last.text += what.text;
    else this.queue.push({ ...what });
    if (this.sending) return;
    this.sending = true;
    try {
      while (this.queue.length > 0 && this.mine) await this.call("POST", "keys", this.queue.shift());
    } catch (error) {
      this.lost();
      this.part.who.textContent = error.message;
    } finally {
      this.sending = false;
    }
  }
}

/** The name of a key; nothing for keys that make text, and for those that are the browser's own. */
function keyName(event) {
  if (event.metaKey || event.altKey) return undefined;
  if (event.key === "Tab" && event.shiftKey) return "BackTab";
  if (NAMED[event.key] && !event.ctrlKey) return NAMED[event.key];
  if (!event.ctrlKey || event.shiftKey) return undefined;
  if (event.key === "c" && String(getSelection())) return undefined;
  return WITH_CTRL.includes(event.key) ? `C-${event.key}` : undefined;
}

/** What others are told of who is in control. */
function ownName() {
  const brand = navigator.userAgentData?.brands?.find(({ brand }) => !/not.?a.?brand/i.test(brand))?.brand;
  const browser = brand ?? (/Firefox/.test(navigator.userAgent) ? "Firefox" : "a browser");
  return `Somebody in ${browser}`;
}

for (const box of document.querySelectorAll("[data-terminal]")) new Terminal(box);
