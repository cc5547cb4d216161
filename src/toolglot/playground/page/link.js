// A link that carries the input in its fragment, which no browser sends to a server.

const MARK = "#v1=";
const MOST = 60000; // characters of a fragment; longer ones do not survive mail and chats
const FIELDS = { text: "string", tools: "string", format: "string", on_error: "string", validate: "boolean", cut: "boolean", prompt: "string" };

/** The fragment for an input; an Error if it is too long for one. */
export function write(input) {
  const kept = {};
  for (const field of Object.keys(FIELDS)) if (input[field] || (field === "prompt" && input.prompt === "")) kept[field] = input[field];
  // JSON.stringify escapes halves of surrogate pairs, which UTF-8 has no bytes for.
  const bytes = new TextEncoder().encode(JSON.stringify(kept));
  const fragment = MARK + base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  if (fragment.length > MOST) throw new Error(`too long for a link: it would have ${fragment.length.toLocaleString("en")} characters`);
  return fragment;
}

/** The input in a fragment, null if it is none of ours; an Error if it is one and broken. */
export function read(fragment) {
  if (!fragment.startsWith(MARK)) return null;
  let value;
  try {
    const text = atob(fragment.slice(MARK.length).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(text, (char) => char.charCodeAt(0));
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Error("it is damaged or cut off");
  }
  if (value === null || typeof value !== "object" || typeof value.text !== "string") throw new Error("it holds no text");
  const input = {};
  for (const [field, type] of Object.entries(FIELDS)) {
    if (!(field in value)) continue;
    if (typeof value[field] !== type) throw new Error(`its ${field} is not a ${type}`);
    input[field] = value[field];
  }
  return input;
}

function base64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}
