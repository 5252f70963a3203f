// Review of a diff: a click on the number of a line opens a comment, which is stored until the review is sent.

function element(name, attributes = {}, text) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** The line that a row shows of the reviewed commit, if it does. */
function lineOf(row) {
  const cell = row.cells[row.closest("table").classList.contains("split") ? 2 : 1];
  return cell?.dataset.n;
}

async function store(diff, comment) {
  const { comments, repository } = diff.dataset;
  const answer = await fetch(`${comments}/comments`, {
    method: "POST", credentials: "same-origin",
    headers: { "content-type": "application/json", "x-codex-csrf": document.querySelector("meta[name=csrf]").content },
    body: JSON.stringify(repository ? { ...comment, repository } : comment),
  });
  if (answer.ok) return undefined;
  const problem = await answer.json().catch(() => ({}));
  return [problem.message ?? "The comment could not be stored.", problem.hint].filter(Boolean).join(". ");
}

function ask(diff, file, line, text) {
  // The page may show a newer commit by the time that the comment is written.
  const { commit } = diff.dataset;
  const dialog = element("dialog", { id: "comment-dialog", "aria-label": `Comment on ${file}, line ${line}` });
  const form = element("form", { method: "dialog" });
  const field = element("textarea", { name: "text", rows: "4", required: "", maxlength: "4000", "aria-label": "Comment", placeholder: "What is wrong, and what would be right" });
  const problem = element("p", { class: "problem-text small", role: "alert" });
  const row = element("div", { class: "row" });
  const cancel = element("button", { type: "button", class: "btn" }, "Cancel");
  const add = element("button", { type: "submit", class: "btn primary" }, "Add comment");
  row.append(cancel, add);
  form.append(element("p", { class: "mono path" }, `${file}:${line}`), element("pre", {}, text), field, problem, row);
  dialog.append(form);
  cancel.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit(add);
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    add.disabled = true;
    // The page shows the comment as soon as the change is announced.
    const refused = await store(diff, { file, line: Number(line), text: field.value, commit }).catch(() => "The dashboard can't be reached.");
    add.disabled = false;
    if (refused) problem.textContent = refused;
    else dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
  field.focus();
}

document.addEventListener("click", (event) => {
  const row = event.target.closest?.(".code td.no")?.parentElement;
  const diff = row?.closest("[data-comments]");
  const line = diff && lineOf(row);
  if (!line) return;
  ask(diff, row.closest("[data-path]").dataset.path, line, row.lastElementChild.textContent);
});
