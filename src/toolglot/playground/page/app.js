// The page: what is in its boxes is asked for, the newest always last, and drawn.

import { connect } from "./backend.js";
import { $, el, say, tabs, whole, write } from "./dom.js";
import * as link from "./link.js";
import { drawConverted, drawEvents, drawExplained, drawFeedback, drawLegend, drawRendered, drawResult, summary } from "./views.js";

const QUIET = 80; // milliseconds without a key before anything is asked
const backend = connect();
const VIEWS = { result: "Result", events: "Events", render: "Render", convert: "Convert", feedback: "Feedback" };

let facts; // what `about` says
let view = "result";
let parsed = null; // the newest answer, and what it is the answer to
let played = null; // the same of events
let timer = 0; // of what was typed and is not asked for yet
let under = 0; // how many requests are under way

// -- asking

/** A request's answer. While one is waited for, the output says that it is not the newest. */
async function ask(request) {
  under += 1;
  showBusy();
  try {
    return await backend.ask(request);
  } finally {
    under -= 1;
    showBusy();
  }
}

function showBusy() {
  $("output").setAttribute("aria-busy", String(timer !== 0 || under > 0));
}

/** The fields that say what is read. */
function input() {
  const tools = $("tools").value;
  return {
    text: $("text").value,
    tools: tools.trim() ? tools : null,
    format: $("format").value || null,
    on_error: checked("on_error"),
    validate: $("validate").checked,
    cut: $("cut").checked,
    prompt: { unknown: null, nothing: "", end: $("prompt").value }[checked("prompted")],
  };
}

const checked = (name) => document.querySelector(`[name=${name}]:checked`).value;

function check(name, value) {
  document.querySelector(`[name=${name}][value=${value}]`).checked = true;
}

/** Python does not answer; the next answer takes it away. */
function alarm(message) {
  say($("alert"), message);
}

/** What was wrong with a link; it stays until something is changed. */
function notice(message) {
  say($("notice"), message);
}

/** What can be corrected is said beside the box that it is in; what is right again is taken away. */
function problem(answer) {
  const where = answer.ok ? null : answer.problem;
  for (const place of ["text", "tools", "format"]) {
    const is = where?.where === place;
    say($(`${place}-problem`), is ? where.message : "");
    $(place).setAttribute("aria-invalid", String(is));
    if (is && place === "tools") $("tools-box").open = true;
  }
  if (where && !["text", "tools", "format"].includes(where.where)) alarm(where.message);
}

/** Why a view has nothing to show. */
function viewProblem(id, answer) {
  say($(`${id}-problem`), answer.ok ? "" : answer.problem.message);
}

/**
 * A function that asks for the newest request only: while one is under way, later ones replace each other. `draw` gets
 * no answer that is out of date.
 */
function newest(draw) {
  let wanted = null;
  let busy = false;
  return async (request) => {
    wanted = request;
    if (busy) return;
    busy = true;
    while (wanted) {
      const asked = wanted;
      wanted = null;
      try {
        const answer = await ask(asked);
        if (!wanted) {
          alarm("");
          draw(answer, asked);
        }
      } catch (error) {
        if (!wanted) alarm(error.message);
      }
    }
    busy = false;
  };
}

const askParse = newest((answer, asked) => {
  problem(answer);
  parsed = answer.ok ? { answer, asked } : null;
  const result = $("view-result");
  result.classList.toggle("stale", !answer.ok);
  if (!answer.ok) {
    say($("status"), "Nothing was read");
    say($("time"), "");
    return;
  }
  say($("status"), summary(answer));
  say($("time"), `read in ${answer.ms < 10 ? answer.ms.toFixed(2) : answer.ms.toFixed(0)} ms`);
  drawResult(answer, asked.text);
  drawFeedback(answer);
  const nothing = answer.how === "text" && answer.call_count + answer.error_count === 0;
  if (nothing && asked.text.trim()) askExplain({ ...asked, do: "explain" });
});

const askExplain = newest((answer, asked) => {
  // (What was typed meanwhile is explained when it has been read.)
  if (answer.ok && JSON.stringify({ ...asked, do: "parse" }) === JSON.stringify(parsed?.asked)) drawExplained(answer);
});

const askEvents = newest((answer, asked) => {
  viewProblem("events", answer);
  played = answer.ok ? { answer, text: asked.text } : null;
  pause();
  const slider = $("at");
  slider.disabled = $("play").disabled = !answer.ok;
  if (!answer.ok) {
    $("events").replaceChildren();
    write($("fed"), "");
    say($("at-said"), "");
    return;
  }
  slider.max = answer.deltas;
  slider.value = answer.deltas;
  drawEvents(answer, asked.text, answer.deltas);
});

const askRender = newest((answer) => {
  viewProblem("render", answer);
  drawRendered(answer.ok ? answer : { rendered: "", left_out: [] });
});

const askConvert = newest((answer) => {
  viewProblem("convert", answer);
  drawConverted(answer.ok ? answer : { converted: "", losses: [] });
});

function refresh() {
  clearTimeout(timer);
  timer = 0;
  if (!facts) return;
  const asked = input();
  const tooLong = asked.text.length > 2 * facts.limits.text; // more cannot be few enough characters
  if (tooLong) {
    const message = `text: it has ${asked.text.length.toLocaleString("en")} characters; the playground takes ${facts.limits.text.toLocaleString("en")}`;
    problem({ ok: false, problem: { where: "text", message } });
    say($("status"), "Nothing was read");
    showBusy();
    return;
  }
  if (!running) say($("run-time"), "");
  say($("tools-said"), asked.tools ? "(given)" : "");
  say($("prompt-said"), asked.prompt === null ? "" : asked.prompt === "" ? "(opened nothing)" : "(given)");
  askParse({ do: "parse", ...asked });
  if (view === "events") askEvents({ do: "events", ...asked, size: Number($("size").value) });
  if (view === "render") askRender({ do: "render", ...asked, target: $("target").value });
  if (view === "convert") askConvert({ do: "convert", ...asked, what: $("what").value, target: $("provider").value });
}

function changed() {
  clearTimeout(timer);
  timer = setTimeout(refresh, QUIET);
  showBusy();
}

// -- what a person does

const selectView = tabs($("views"), Object.entries(VIEWS).map(([id, title]) => ({ id, title, panel: `view-${id}` })), (id) => {
  view = id;
  for (const other of Object.keys(VIEWS)) $(`view-${other}`).hidden = other !== id;
  pause();
  refresh();
});
for (const id of Object.keys(VIEWS)) $(`view-${id}`).setAttribute("aria-labelledby", `tab-${id}`);

let selectSample = () => {};

/** Fill the boxes, as a sample or a link has it; what it does not say is as in the beginning. */
function fill({ text, tools = "", format = "", on_error = "collect", validate = false, cut = false, prompt = null }) {
  $("text").value = text;
  $("tools").value = tools;
  $("format").value = format;
  $("more").value = "";
  if ($("format").value !== format) {
    $("format").value = "";
    notice(`No format is called “${format.slice(0, 80)}”: it is detected.`);
  }
  check("on_error", ["raise", "repair"].includes(on_error) ? on_error : "collect");
  check("prompted", prompt === null ? "unknown" : prompt === "" ? "nothing" : "end");
  if (prompt) $("prompt").value = prompt;
  $("validate").checked = validate && !$("validate").disabled;
  $("cut").checked = cut;
  if (tools) $("tools-box").open = true;
}

function chooseSample(id) {
  const sample = facts.samples.find((one) => one.id === id);
  $("sample").setAttribute("aria-labelledby", `tab-${id}`);
  $("text").value = sample.text;
  $("format").value = sample.format ?? "";
  $("more").value = "";
  check("prompted", "unknown");
  forget();
  refresh();
}

async function chooseFormat() {
  const id = $("more").value;
  if (!id) return;
  try {
    const answer = await ask({ do: "sample", format: id });
    if ($("more").value !== id) return;
    selectSample(null, true);
    $("sample").setAttribute("aria-labelledby", "input-title");
    $("text").value = answer.text;
    $("format").value = id;
    check("prompted", answer.prompt === "" ? "nothing" : "unknown");
    if (answer.tools) $("tools").value = facts.tools;
    forget();
    refresh();
  } catch (error) {
    alarm(error.message);
  }
}

let running = false;

async function runMany() {
  if (running) return;
  running = true;
  // (A button that is disabled loses the focus.)
  $("run").setAttribute("aria-disabled", "true");
  say($("run-time"), "running…");
  let said = "";
  const asked = input();
  try {
    const answer = await ask({ do: "run_many", ...asked, times: 1000 });
    const now = JSON.stringify(asked) === JSON.stringify(input()); // else it is about what is not there any more
    if (now) problem(answer);
    if (now && answer.ok) {
      const runs = answer.runs === 1000 ? "" : ` (${answer.runs} runs)`;
      said = `${answer.ms.toFixed(0)} ms${runs}, ${answer.us_each.toFixed(1)} µs each`;
    }
  } catch (error) {
    alarm(error.message);
  }
  say($("run-time"), said);
  $("run").setAttribute("aria-disabled", "false");
  running = false;
}

/** The address says what is in the boxes only as long as that is so. */
function forget() {
  say($("link-said"), "");
  notice("");
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
}

async function copy(text, said) {
  try {
    await navigator.clipboard.writeText(text);
    said("Copied");
  } catch {
    said("The browser does not let the page copy");
  }
}

async function copyLink() {
  try {
    history.replaceState(null, "", link.write(input()));
  } catch (error) {
    say($("link-said"), error.message);
    return;
  }
  await copy(location.href, (said) => say($("link-said"), said === "Copied" ? "Copied" : "The link is in the address bar"));
}

/** Whether the address held an input. */
function readLink() {
  let held;
  try {
    held = link.read(location.hash);
  } catch (error) {
    notice(`The link cannot be read: ${error.message}.`);
    return false;
  }
  if (!held) return false;
  notice("");
  selectSample(null, true);
  $("sample").setAttribute("aria-labelledby", "input-title");
  fill(held);
  return true;
}

let playing = 0;

function pause() {
  clearInterval(playing);
  playing = 0;
  $("play").textContent = "Play";
}

function play() {
  if (playing || !played) return pause();
  const slider = $("at");
  if (Number(slider.value) >= Number(slider.max)) slider.value = 0;
  $("play").textContent = "Pause";
  playing = setInterval(() => {
    slider.value = Number(slider.value) + 1;
    slide();
    if (Number(slider.value) >= Number(slider.max)) pause();
  }, 80);
}

function slide() {
  if (played) drawEvents(played.answer, played.text, Number($("at").value));
}

for (const id of ["text", "tools", "prompt"]) {
  $(id).addEventListener("input", () => {
    if (id === "prompt") check("prompted", "end");
    forget();
    changed();
  });
}
for (const id of ["format", "cut", "validate"]) {
  $(id).addEventListener("change", () => {
    forget();
    refresh();
  });
}
for (const radio of document.querySelectorAll("[type=radio]")) {
  radio.addEventListener("change", () => {
    forget();
    refresh();
  });
}
for (const id of ["size", "target", "what", "provider"]) $(id).addEventListener("change", refresh);
$("more").addEventListener("change", chooseFormat);
$("run").addEventListener("click", runMany);
$("link").addEventListener("click", copyLink);
$("play").addEventListener("click", play);
$("at").addEventListener("input", () => {
  pause();
  slide();
});
$("sample-tools").addEventListener("click", () => {
  $("tools").value = facts.tools;
  forget();
  refresh();
});
for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", () =>
    copy(whole($(button.dataset.copy)), (said) => {
      button.textContent = said;
      setTimeout(() => (button.textContent = "Copy"), 2000);
    }),
  );
}
addEventListener("hashchange", () => facts && readLink() && refresh());

// -- the beginning

function options(select, items, title = (item) => item.id) {
  for (const item of items) {
    const option = el("option", "", title(item));
    option.value = item.id;
    select.append(option);
  }
}

async function begin() {
  drawLegend();
  selectView("result", true);
  say($("where"), backend.place === "in this page" ? "Loading Python into this page…" : "Asking Python on this machine…");
  let said;
  try {
    said = await ask({ do: "about" });
    if (!said.ok) throw new Error(said.problem.message);
  } catch (error) {
    alarm(error.message);
    say($("where"), "The playground could not be started.");
    return;
  }
  facts = said;
  options($("format"), facts.formats);
  options($("more"), facts.formats, (item) => `${item.id} – ${item.title}`);
  options($("target"), facts.formats);
  options($("provider"), facts.providers);
  $("target").value = "qwen3_coder";
  $("provider").value = "anthropic";
  if (facts.no_validation) {
    say($("no-validation"), `Arguments cannot be validated here: ${facts.no_validation}.`);
    $("validate").disabled = true;
  }
  selectSample = tabs($("samples"), facts.samples.map(({ id, title }) => ({ id, title, panel: "sample" })), chooseSample);
  say($("where"), `Toolglot ${facts.version}, Python ${facts.python} ${backend.place}: nothing that you type leaves it.`);
  if (!readLink()) {
    const first = facts.samples[0];
    const typed = $("text").value; // while Python was loaded
    selectSample(typed ? null : first.id, true);
    if (!typed) {
      $("text").value = first.text;
      $("sample").setAttribute("aria-labelledby", `tab-${first.id}`);
    }
  }
  refresh();
}

begin();
