// What an answer looks like.

import { $, bounded, el, say, utf16, visible, write } from "./dom.js";

const MOST_COLOURED = 50000; // characters of the text
const KINDS = {
  content: "content",
  reasoning: "reasoning",
  call: "call",
  name: "name",
  arguments: "arguments",
  markup: "separator",
  error: "broken",
  at: "error",
};

export function drawLegend() {
  const items = Object.entries(KINDS).map(([kind, title]) => el("li", "", el("span", `run ${kind}`, title)));
  $("legend").replaceChildren(...items);
}

/** One line that says what was found: the one that a screen reader says. */
export function summary(answer) {
  const calls = answer.call_count;
  const errors = answer.error_count;
  const parts = [calls === 0 ? "no tool call" : `${calls} call${calls === 1 ? "" : "s"}`];
  if (errors) parts.push(`${errors} error${errors === 1 ? "" : "s"}: ${answer.errors[0].code}${where(answer.errors[0])}`);
  if (answer.repairs.length) parts.push(`${answer.repairs.length} repaired`);
  const format = answer.format ? `${answer.format}${answer.how === "response" ? " (response)" : ""}` : "no format detected";
  return `${format}: ${parts.join(", ")}`;
}

function where(error) {
  if (error.line != null) return ` at line ${error.line}, column ${error.column}`;
  return error.position == null ? "" : ` at position ${error.position}`;
}

export function drawResult(answer, text) {
  drawRuns(answer, text);
  const found = $("found");
  found.replaceChildren();
  answer.errors.forEach((error) => found.append(drawError(error)));
  // On a narrow screen the caret would stand beyond the edge.
  for (const caret of found.querySelectorAll(".context")) {
    const column = caret.textContent.length - caret.textContent.lastIndexOf("\n");
    const width = Math.max(...caret.textContent.split("\n").map((line) => line.length));
    caret.scrollLeft = (caret.scrollWidth * column) / width - caret.clientWidth / 2;
  }
  rest(found, answer.error_count - answer.errors.length, "errors");
  if (answer.how === "response") {
    block(found, "Reasoning", answer.reasoning);
    block(found, "Content", answer.content);
  }
  answer.calls.forEach((call) => found.append(drawCall(call, `Call ${call.index}`)));
  rest(found, answer.call_count - answer.calls.length, "calls");
  answer.server_calls.forEach((call) => found.append(drawCall(call, "Call of the server")));
  list(found, "Repairs", answer.repairs.map((one) => `${one.code}${spanned(one.span)}: ${quoted(one.before)} read as ${quoted(one.after)}`));
  list(found, "Losses", answer.losses.map(lossLine));
  list(found, "Notes", answer.notes);
}

/** Why nothing was found. */
export function drawExplained(answer) {
  list($("found"), "What looks like a call, and is none", answer.lines);
}

function drawRuns(answer, text) {
  const runs = $("runs");
  const budget = { left: 1000 };
  const shown = answer.runs.filter(([start]) => start < MOST_COLOURED).slice(0, 4000);
  const points = utf16(text, shown.flatMap(([start, end]) => [start, Math.min(end, MOST_COLOURED)]));
  const nodes = shown.map(([, , kind, call], i) => {
    const piece = text.slice(points[2 * i], points[2 * i + 1]);
    const span = el("span", `run ${kind}`, ...visible(piece, budget));
    span.title = KINDS[kind] + (call == null ? "" : ` (call ${call})`);
    if (kind === "at" && !piece.trim()) span.classList.add("blank");
    return span;
  });
  const end = shown.length ? points.at(-1) : 0;
  if (answer.how === "response") nodes.push(...visible(text.slice(0, MOST_COLOURED), budget));
  else if (end < text.length) nodes.push(el("span", "note", `… ${(text.length - end).toLocaleString("en")} more`));
  runs.replaceChildren(...nodes);
  $("legend").hidden = answer.how === "response" || text === "";
}

function drawError(error) {
  const box = el("article", "error-box", el("h3", "", el("code", "", error.code), where(error)));
  box.append(el("p", "message", ...visible(error.message)));
  if (error.context) {
    const caret = el("pre", "context", ...visible(error.context));
    caret.tabIndex = 0;
    caret.setAttribute("aria-label", "The line, and below it a caret");
    box.append(caret);
  }
  if (error.violations?.length > 1) list(box, "", error.violations);
  if (error.expected) box.append(el("p", "", "Expected: ", ...visible(error.expected)));
  if (error.hint) box.append(el("p", "note", error.hint));
  return box;
}

function drawCall(call, title) {
  const facts = [call.format, call.id == null ? null : `id ${call.id}`].filter(Boolean).join(", ");
  const box = el("article", "call-box", el("h3", "", `${title}: `, el("code", "", ...visible(call.name))));
  if (facts) box.append(el("p", "note", ...visible(facts)));
  box.append(el("pre", "text", ...bounded(call.input ?? call.arguments)));
  return box;
}

function rest(into, count, what) {
  if (count > 0) into.append(el("p", "note", `… and ${count} more ${what}`));
}

function block(into, title, text) {
  if (text != null) into.append(el("h3", "", title), el("pre", "text", ...bounded(text)));
}

function list(into, title, lines) {
  if (!lines.length) return;
  if (title) into.append(el("h3", "", title));
  into.append(el("ul", "", ...lines.map((line) => el("li", "", ...visible(line)))));
}

const spanned = (span) => (span ? ` at ${span[0]} to ${span[1]}` : "");
const quoted = (text) => JSON.stringify(text);
const lossLine = (loss) => `${loss.path}: ${loss.detail} (${loss.code})`;

// -- events

const MOST_EVENTS = 300; // that are shown before the slider's place

/** What the slider shows: the text up to `delta`, and the events that came with it and before. */
export function drawEvents(answer, text, delta) {
  write($("fed"), text.slice(0, utf16(text, [delta * answer.size])[0]));
  const come = answer.events.filter((event) => event.delta <= delta || (delta === answer.deltas && event.delta > delta));
  const shown = come.slice(-MOST_EVENTS);
  const list = $("events");
  list.replaceChildren(...shown.map(drawEvent));
  list.start = come.length - shown.length + 1;
  list.scrollTop = list.scrollHeight;
  const said = `${delta} of ${answer.deltas} deltas, ${come.length} event${come.length === 1 ? "" : "s"}`;
  say($("at-said"), delta === answer.deltas && answer.raised ? `${said}; raised: ${answer.raised}` : said);
  $("at").setAttribute("aria-valuetext", said);
}

function drawEvent(event) {
  const what = {
    text_delta: () => ["text", quoted(event.text), "content"],
    reasoning_delta: () => ["reasoning", quoted(event.text), "reasoning"],
    reasoning_reclassified: () => ["reasoning", `characters ${event.span.join(" to ")} were reasoning`, "reasoning"],
    tool_call_start: () => [`call ${event.index}`, `begins: ${event.name}`, "name"],
    tool_call_delta: () => [`call ${event.index}`, event.arguments, "arguments"],
    tool_call_end: () => [`call ${event.index}`, `is complete: ${event.call.name} ${event.call.arguments}`, "call"],
    error: () => ["error", `${event.error.code}: ${event.error.message}`, "error"],
  }[event.type];
  const [title, body, kind] = what ? what() : [event.type, "", ""];
  return el("li", "", el("span", `run ${kind}`, title), " ", el("span", "body", ...visible(body.slice(0, 2000))));
}

// -- the other views

export function drawRendered(answer) {
  write($("rendered"), answer.rendered);
  $("left-out").replaceChildren(...answer.left_out.map((line) => el("li", "", "Left out ", ...visible(line))));
}

export function drawConverted(answer) {
  write($("converted"), answer.converted);
  $("losses").replaceChildren(...answer.losses.map((loss) => el("li", "", "Lost: ", ...visible(lossLine(loss)))));
}

export function drawFeedback(answer) {
  write($("feedback"), answer.feedback || (answer.error_count ? answer.errors[0].message : "Nothing is wrong, so there is nothing to say."));
}
