// Makes one tree of elements equal to another, and leaves alone what a person is using: focus, open details, what is
// typed, and whatever a script owns (data-keep).

/** Changes `from` into `to`. Both are elements with the same name. */
export function morph(from, to) {
  if (from.hasAttribute("data-keep")) return;
  attributes(from, to);
  if (from.localName === "textarea" || from.localName === "select") {
    // Its children are its default value; what is chosen in it is the person's.
    return;
  }
  children(from, to);
}

function attributes(from, to) {
  for (const { name, value } of to.attributes) {
    if (isPersonal(from, name)) continue;
    if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
  for (const { name } of [...from.attributes]) {
    if (!to.hasAttribute(name) && !isPersonal(from, name)) from.removeAttribute(name);
  }
}

/** Attributes that a person changes by using the element. */
function isPersonal(element, name) {
  switch (element.localName) {
    case "details":
    case "dialog":
      return name === "open";
    case "input":
      return name === "value" || name === "checked";
    default:
      return false;
  }
}

function children(from, to) {
  const keyed = new Map();
  for (const child of from.children) {
    if (child.id) keyed.set(child.id, child);
  }
  let next = from.firstChild;
  for (const wanted of [...to.childNodes]) {
    const id = wanted.nodeType === Node.ELEMENT_NODE ? wanted.id : "";
    const known = id ? keyed.get(id) : undefined;
    if (known && known.localName === wanted.localName) {
      keyed.delete(id);
      if (known === next) next = next.nextSibling;
      else move(from, known, next);
      morph(known, wanted);
      continue;
    }
    // What has no name is taken for what stands in the same place, if it is of the same kind.
    if (!id && next && isLike(next, wanted)) {
      const current = next;
      next = next.nextSibling;
      if (current.nodeType === Node.ELEMENT_NODE) morph(current, wanted);
      else if (current.data !== wanted.data) current.data = wanted.data;
      continue;
    }
    // Or for the next such, if what stands before it is going away and nothing in that has to stay.
    const later = id ? null : nextLike(next, wanted);
    if (later) {
      while (next !== later) {
        const gone = next;
        next = next.nextSibling;
        gone.remove();
      }
      next = later.nextSibling;
      if (later.nodeType === Node.ELEMENT_NODE) morph(later, wanted);
      else if (later.data !== wanted.data) later.data = wanted.data;
      continue;
    }
    if (id) wanted.classList.add("fresh");
    from.insertBefore(wanted, next);
  }
  while (next) {
    const gone = next;
    next = next.nextSibling;
    // Those that are still known by name were moved, or are not wanted any more.
    gone.remove();
  }
  for (const left of keyed.values()) left.remove();
}

/** The first like it after `from`, before anything that has a name or is to be kept. */
function nextLike(from, wanted) {
  for (let node = from; node; node = node.nextSibling) {
    if (isLike(node, wanted)) return node;
    if (node.nodeType === Node.ELEMENT_NODE && (node.id || node.querySelector("[id], [data-keep]"))) return null;
  }
  return null;
}

function isLike(one, other) {
  if (one.nodeType !== other.nodeType) return false;
  if (one.nodeType !== Node.ELEMENT_NODE) return true;
  return !one.id && one.localName === other.localName && one.namespaceURI === other.namespaceURI;
}

/** Moves a child without losing its focus, where the browser can. */
function move(parent, child, before) {
  if (parent.moveBefore) parent.moveBefore(child, before);
  else parent.insertBefore(child, before);
}
