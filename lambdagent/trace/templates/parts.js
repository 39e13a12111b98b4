// Elements from data. Whatever a model, a tool or a person said becomes a text node, never markup.

const SVG = "http://www.w3.org/2000/svg";
const byId = (name) => document.getElementById(name);

const OUTSIDE = 160; // characters of a frame on each side of what stands in it

// What has no shape of its own, or turns the text around it, shown by its number. What joins and
// parts letters stays: emoji and some scripts need it, and it moves nothing.
const HIDDEN = /@HIDDEN@/gu;
const STAYS = "\n\t\u200c\u200d";

function visible(text) {
  return text.replace(HIDDEN, (found) =>
    STAYS.includes(found) ? found : `\\u{${found.codePointAt(0).toString(16)}}`);
}

// An element with attributes and with children, which are elements or texts.
function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function drawn(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null) made.setAttribute(key, typeof value === "number" ? String(value) : value);
  }
  made.append(...children.map((child) => (typeof child === "string" ? visible(child) : child)));
  return made;
}

function say(place, text) {
  const shown = visible(text);
  if (place.textContent !== shown) place.textContent = shown;
}

// Whether `text` can stand next to others without parentheses.
function isAtom(text) {
  if (!text.includes(" ")) return true;
  const closing = { "(": ")", "[": "]", "{": "}", "⟨": "⟩" };
  const open = [];
  let quote = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (quote) {
      if (character === "\\") at += 1;
      else if (character === '"') quote = false;
    } else if (character === '"') {
      quote = true;
    } else if (closing[character]) {
      open.push(closing[character]);
    } else if (character === open.at(-1)) {
      open.pop();
    } else if (character === " " && !open.length) {
      return false;
    }
  }
  return true;
}

// Whether what stands in the hole after `before` needs parentheses if it is no atom.
function isTight(before, after) {
  return !(/(^|= |\. |[([{⟨,] ?)$/u.test(before) && /^($| in |[)\]}⟩,])/u.test(after));
}

// A term: what is marked, inside the frames around it, the innermost first.
function term(marked, mark, frames, isWhole) {
  let parts = [element("mark", { class: mark }, marked)];
  let inner = marked;
  frames.forEach(({ before, after }, depth) => {
    const [open, close] = isAtom(inner) || !isTight(before, after) ? ["", ""] : ["(", ")"];
    const left = `${cut(before, -OUTSIDE)}${open}`;
    parts = [around(left, depth), ...parts, around(`${close}${cut(after, OUTSIDE)}`, depth)];
    inner = `${before} ${after}`;
  });
  return isWhole ? parts : [around("… ", 3), ...parts, around(" …", 3)];
}

// The first characters of a text, or with a negative `most` the last ones.
function cut(text, most) {
  if (text.length <= Math.abs(most)) return text;
  return most > 0 ? `${text.slice(0, most)}…` : `…${text.slice(most)}`;
}

function around(text, depth) {
  return element("span", { class: `around-${Math.min(depth, 3)}` }, text);
}

// How much of a text the page has, and the rest in words.
function whole([text, length]) {
  const characters = Array.from(text).length;
  if (characters >= length) return [text];
  const left = (length - characters).toLocaleString("en");
  return [text, element("em", { class: "cut" }, ` … ${left} more characters are not in this page`)];
}

function bindings(place, pairs, nothing) {
  place.replaceChildren(
    ...(pairs.length
      ? pairs.map(([name, text]) =>
          element("div", {}, element("dt", {}, name), element("dd", { class: "term" }, text)))
      : [element("div", { class: "nothing" }, element("dt", { class: "unseen" }, "none"),
          element("dd", {}, nothing))]),
  );
}

function seconds(value) {
  if (value >= 100) return `${value.toFixed(0)} s`;
  if (value >= 1) return `${value.toFixed(1)} s`;
  return value >= 0.001 ? `${(value * 1000).toFixed(0)} ms` : `${(value * 1e6).toFixed(0)} µs`;
}

function counted(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
