// Text on the page. Nothing here, or anywhere in the page, makes HTML of a text: it only ever becomes a text node.

export const $ = (id) => document.getElementById(id);

/** An element with a class, and children that are texts or elements. */
export function el(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

/** Show `text` in an element, or hide the element if there is none. */
export function say(element, text) {
  if (element.textContent !== (text || "")) element.textContent = text || "";
  element.hidden = !text;
}

/** UTF-16 offsets of code points: `points` ascend. Python counts characters, a page's strings count halves of some. */
export function utf16(text, points) {
  const found = [];
  let point = 0;
  let offset = 0;
  for (const wanted of points) {
    while (point < wanted && offset < text.length) {
      offset += text.codePointAt(offset) > 0xffff ? 2 : 1;
      point += 1;
    }
    found.push(offset);
  }
  return found;
}

// What has no shape of its own, or would change the order of what is shown. Joiners belong to scripts and emoji.
const UNSEEN = /([^\P{C}\n\t\u200c\u200d]|[\u2028\u2029])\1*/gu;
const MOST_UNSEEN = 1000;

/** Nodes that show `text` with every character that cannot be seen named: as U+0000, or U+0000 ×12. */
export function visible(text, budget = { left: MOST_UNSEEN }) {
  const nodes = [];
  let last = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (budget.left-- <= 0) break;
    const code = match[1].codePointAt(0);
    const count = match[0].length / match[1].length;
    const name = "U+" + code.toString(16).toUpperCase().padStart(4, "0") + (count > 1 ? ` ×${count}` : "");
    nodes.push(text.slice(last, match.index), el("span", "unseen", name));
    last = match.index + match[0].length;
  }
  nodes.push(text.slice(last).replace(UNSEEN, "\ufffd"));
  return nodes;
}

const MOST_SHOWN = 20000; // characters: a browser needs seconds for the lines of a text of 200,000
const wholes = new WeakMap();

/** Nodes that show `text`, or its beginning and how much more there is. */
export function bounded(text) {
  if (text.length <= MOST_SHOWN) return visible(text);
  const more = (text.length - MOST_SHOWN).toLocaleString("en");
  return [...visible(text.slice(0, MOST_SHOWN)), el("span", "note", `… ${more} more characters`)];
}

/** Show `text` in an element; `whole` gives all of it. */
export function write(element, text) {
  wholes.set(element, text);
  element.replaceChildren(...bounded(text));
}

/** The text that an element shows, as it was given. */
export const whole = (element) => wholes.get(element) ?? "";

/**
 * A list of tabs as the ARIA practices describe it: one is in the tab order, arrows, Home and End move and choose.
 * `select(id, quietly)` chooses one; an unknown id chooses none.
 */
export function tabs(list, items, chosen) {
  const buttons = items.map(({ id, title, panel }) => {
    const button = el("button", "", title);
    button.type = "button";
    button.id = `tab-${id}`;
    button.dataset.id = id;
    button.setAttribute("role", "tab");
    button.setAttribute("aria-controls", panel);
    list.append(button);
    return button;
  });
  const select = (id, quietly) => {
    let current = null;
    buttons.forEach((button, i) => {
      const is = button.dataset.id === id;
      if (is) current = button;
      button.setAttribute("aria-selected", String(is));
      button.tabIndex = is || (i === 0 && !items.some((item) => item.id === id)) ? 0 : -1;
    });
    if (!quietly) chosen(id);
    return current;
  };
  list.addEventListener("click", (event) => {
    const button = event.target.closest("[role=tab]");
    if (button) select(button.dataset.id);
  });
  list.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const at = buttons.indexOf(document.activeElement);
    const last = buttons.length - 1;
    const to = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at <= 0 ? last : at - 1, Home: 0, End: last }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    buttons[to].focus();
    select(buttons[to].dataset.id);
  });
  return select;
}
