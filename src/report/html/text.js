// Text on the page. Everything becomes text nodes, never markup, and what can't be seen is made visible.

/** What is hidden: what `untrusted.rs` escapes everywhere else. A test holds the two to each other. */
const HIDDEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|\p{Noncharacter_Code_Point}/gu;

/** How an invisible character is shown: by its number, for which every font has signs. */
const shown = (character) => `‹U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}›`;

/** One line of plain text with nothing invisible in it, for attributes and labels. */
const plain = (text) => String(text).replace(HIDDEN, shown);

/** Text as nodes: what is invisible becomes a mark of its own. Line breaks and tabs stay where `block` is set. */
function nodes(text, block = false) {
  const made = document.createDocumentFragment();
  let from = 0;
  for (const { 0: character, index } of text.matchAll(HIDDEN)) {
    if (block && (character === "\n" || character === "\t")) continue;
    made.append(text.slice(from, index), mark(shown(character)));
    from = index + character.length;
  }
  made.append(text.slice(from));
  return made;
}

function mark(text) {
  const made = document.createElement("span");
  made.className = "hidden-character";
  made.textContent = text;
  return made;
}

/** An element. Strings among its children become visible text; `false`, `null` and `undefined` are left out. */
function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value !== false && value != null) made.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child == null || child === false) continue;
    made.append(child instanceof Node ? child : nodes(String(child)));
  }
  return made;
}

/** A block of text that scrolls by itself, and can be reached with the keyboard to do so. */
function block(label, text) {
  const made = el("pre", { tabindex: 0, role: "region", "aria-label": label });
  made.append(nodes(text, true));
  return made;
}

/** A link, where the address is one of the web; else its text. */
function link(address, text = address) {
  return /^https?:\/\//i.test(address) ? el("a", { href: address, rel: "noreferrer" }, text) : el("span", {}, text);
}

const WIDTH = 76;
const DEPTH = 40;

/**
 * JSON on several lines, token by token as it was written: `1.0` stays, and so do doubled keys and broken numbers.
 * What fits on a line stays on it, and so does what is nested too deep to be indented.
 */
function layout(json) {
  const ends = closings(json);
  if (!ends) return json;
  let out = "";
  let depth = 0;
  const line = () => `\n${"  ".repeat(depth)}`;
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === '"') {
      const end = ends.get(at);
      out += json.slice(at, end + 1);
      at = end;
    } else if (character === "{" || character === "[") {
      const end = ends.get(at);
      if (end - at < WIDTH || depth === DEPTH) {
        out += json.slice(at, end + 1);
        at = end;
      } else {
        depth += 1;
        out += character + line();
      }
    } else if (character === "}" || character === "]") {
      depth -= 1;
      out += line() + character;
    } else if (character === ",") out += character + line();
    else if (character === ":") out += ": ";
    else if (!/\s/.test(character)) out += character;
  }
  return out;
}

/** Where each string, object and array ends, by where it begins; `undefined` where the text isn't whole. */
function closings(json) {
  const ends = new Map();
  const open = [];
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === '"') {
      const begin = at;
      for (at += 1; at < json.length && json[at] !== '"'; at++) if (json[at] === "\\") at += 1;
      if (at >= json.length) return undefined;
      ends.set(begin, at);
    } else if (character === "{" || character === "[") open.push(at);
    else if (character === "}" || character === "]") {
      if (!open.length) return undefined;
      ends.set(open.pop(), at);
    }
  }
  return open.length ? undefined : ends;
}

/** A number with its noun. */
const count = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

/** A time in microseconds, as people say it. */
function duration(micros) {
  if (micros < 1e6) return `${(micros / 1e3).toFixed(micros < 1e4 ? 1 : 0)} ms`;
  return `${(micros / 1e6).toFixed(1)} s`;
}
