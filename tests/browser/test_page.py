"""What a person can do with the page, in both ways of having it."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Browser, expect

import toolglot
from conftest import Desk, Site, fragment, opened
from toolglot.playground.samples import SAMPLES, TOOLS

HERMES = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
# Each tab: what the status says.
TABS = {
    "python": "python: 1 call",
    "hermes": "hermes: 2 calls",
    "mistral": "mistral_v13: 2 calls",
    "llama": "llama3_json: 1 call",
    "openai": "json: 1 call",
    "xml": "xml_invoke: 1 call",
    "broken": "hermes: 1 call, 1 error: json.trailing_comma at line 3, column 68",
}
VIEWS = ("result", "events", "render", "convert", "feedback")


@pytest.mark.parametrize("id", TABS)
def test_tab(desk: Desk, id: str) -> None:
    desk.click(f"#tab-{id}")
    (sample,) = [sample for sample in SAMPLES if sample.id == id]
    expect(desk("#text")).to_have_value(sample.text)
    assert desk.text("#status") == TABS[id]
    assert re.fullmatch(r"read in [\d.]+ ms", desk.text("#time"))
    assert desk.text("#runs") == sample.text
    expect(desk(f"#tab-{id}")).to_have_attribute("aria-selected", "true")
    expect(desk("#samples [aria-selected=true]")).to_have_count(1)
    # What is coloured as a name and as arguments is what was called.
    message = toolglot.parse(sample.text, format="python" if id == "python" else None, on_error="collect")
    assert desk("#runs .name").all_text_contents() == [call.name for call in message.tool_calls]
    assert desk("#runs .arguments").all_text_contents() == [call.raw_arguments for call in message.tool_calls]
    shown = [json.loads(text) for text in desk(".call-box pre").all_text_contents()]
    assert shown == [call.arguments for call in message.tool_calls]


def test_sample_of_every_other_format(desk: Desk) -> None:
    ids = [fmt.id for fmt in toolglot.formats()]
    assert desk("#more option").all_text_contents()[1:] == [f"{fmt.id} – {fmt.title}" for fmt in toolglot.formats()]
    for id in ids if desk.site.backend == "local" else ids[::6]:
        desk.select("#more", id)
        expect(desk("#format")).to_have_value(id)
        assert re.fullmatch(r"\w+: \d calls?", desk.text("#status")), id
    expect(desk("#samples [aria-selected=true]")).to_have_count(0)


def test_caret_of_the_broken_sample(desk: Desk) -> None:
    desk.click("#tab-broken")
    assert desk.text("#runs .at") == "}"
    line, caret = desk.text(".context").split("\n")
    assert line[caret.index("^") - 1 :] == ",}}"
    assert desk.text(".error-box h3") == "json.trailing_comma at line 3, column 68"
    assert "trailing comma" in desk.text(".error-box .message")
    # The caret is seen on a narrow screen as well.
    desk.page.set_viewport_size({"width": 360, "height": 800})
    desk.fill("#text", SAMPLES[-1].text + " ")
    left, width, all_ = desk("#found .context").evaluate("e => [e.scrollLeft, e.clientWidth, e.scrollWidth]")
    assert left < all_ * caret.index("^") / len(line) < left + width


def test_a_thousand_runs(desk: Desk) -> None:
    desk.click("#tab-hermes")
    desk.click("#run")
    said = desk.text("#run-time")
    match = re.fullmatch(r"(\d+) ms(?: \(\d+ runs\))?, ([\d.]+) µs each", said)
    assert match is not None, said
    print(f"{desk.site.backend}: {said}")
    desk.fill("#text", "other")
    expect(desk("#run-time")).to_be_hidden()
    # A run is no reason to wait with typing, and takes the focus from nobody.
    desk("#run").click()
    desk("#run").click()
    desk("#text").focus()
    desk.page.keyboard.type(HERMES)
    desk.settle()
    expect(desk("#text")).to_be_focused()
    assert desk.text("#status") == "hermes: 1 call"
    expect(desk("#run-time")).to_be_hidden()


HOSTILE = [
    "<script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    '"><svg onload="window.hacked = 1">',
    "&lt;script&gt; &amp; </pre></textarea><iframe src='javascript:window.hacked=1'>",
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_text_is_never_interpreted(desk: Desk, hostile: str) -> None:
    call = json.dumps({"name": hostile, "arguments": {hostile: hostile}})
    broken = json.dumps({"name": hostile, "arguments": 1})
    text = f"<think>{hostile}</think>{hostile}<tool_call>{call}</tool_call><tool_call>{broken}</tool_call>"
    elements = "document.querySelectorAll('script, img, svg, iframe').length"
    before = desk.page.evaluate(elements)
    desk.load(text=text, tools=json.dumps([{"name": hostile, "description": hostile}]))
    desk.click("#tab-convert")
    desk.select("#provider", "openai")
    for view in VIEWS:
        desk.click(f"#tab-{view}")
        assert desk.page.evaluate(elements) == before
        assert desk.page.evaluate("window.hacked") is None
    assert hostile in json.loads(desk.text("#converted"))["content"]
    assert hostile in desk.text("#rendered") or "read back" in desk.text("#render-problem")
    desk.click("#tab-result")
    assert desk.text("#runs") == text
    assert desk.text(".call-box h3 code") == hostile
    for field in ("tools", "format"):
        desk.page.goto(desk.url + fragment(text=hostile, **{field: hostile}))
        desk.settle()
        assert desk.page.evaluate(elements) == before
        assert desk.page.evaluate("window.hacked") is None
    assert hostile[:20] in desk.text("#notice")


def test_tools(desk: Desk) -> None:
    desk.fill("#text", HERMES.replace('"f"', '"serch"'))
    assert desk.text("#status") == "hermes: 1 call"
    desk("#tools-box summary").click()
    desk.click("#sample-tools")
    assert json.loads(desk("#tools").input_value()) == TOOLS
    assert "tool_call.unknown_tool" in desk.text("#status")
    desk.click("#tab-feedback")
    assert "search" in desk.text("#feedback")
    desk.fill("#tools", "[{")
    assert desk.text("#tools-problem").startswith("tools: not JSON")
    expect(desk("#tools")).to_have_attribute("aria-invalid", "true")
    expect(desk("#status")).to_have_text("Nothing was read")
    desk.fill("#tools", "")
    expect(desk("#tools-problem")).to_be_hidden()
    assert desk.text("#status") == "hermes: 1 call"


def test_validation(desk: Desk) -> None:
    text = '<tool_call>{"name": "search", "arguments": {"query": 1, "limit": 500}}</tool_call>'
    desk.load(text=text, tools=json.dumps(TOOLS), validate=True)
    if desk.site.backend == "local":
        assert "schema.violation" in desk.text("#status")
        assert len(desk(".error-box li").all()) == 2
        assert desk.text("#runs .at") == "1"
        desk("#validate").uncheck()
        desk.settle()
        assert desk.text("#status") == "hermes: 1 call"
    else:
        expect(desk("#validate")).to_be_disabled()
        assert "cannot be validated here" in desk.text("#no-validation")
        assert "toolglot playground" in desk.text("#no-validation")
        assert desk.text("#status") == "hermes: 1 call"


def test_events_follow_the_slider(desk: Desk) -> None:
    text = "Hi \U0001f600! " + HERMES
    desk.load(text=text)
    desk.click("#tab-events")
    desk.select("#size", "16")
    deltas = -(-len(text) // 16)
    parser = toolglot.StreamParser()
    counts = [0]
    for start in range(0, len(text), 16):
        counts.append(counts[-1] + len(parser.feed(text[start : start + 16])))
    counts[-1] += len(parser.close())
    slider = desk("#at")
    expect(slider).to_have_value(str(deltas))
    slider.press("Home")
    for delta in range(deltas + 1):
        expect(desk("#events li")).to_have_count(counts[delta])
        assert desk.text("#fed") == text[: delta * 16]
        said = f"{delta} of {deltas} deltas, {counts[delta]} event{'' if counts[delta] == 1 else 's'}"
        assert desk.text("#at-said") == said
        expect(slider).to_have_attribute("aria-valuetext", said)
        slider.press("ArrowRight")
    assert "is complete: f" in desk.text("#events li:last-child")
    desk("#play").click()
    expect(desk("#play")).to_have_text("Pause")
    expect(desk("#play")).to_have_text("Play")
    expect(slider).to_have_value(str(deltas))


def test_events_of_what_raises(desk: Desk) -> None:
    desk.load(text=SAMPLES[-1].text, on_error="raise")
    desk.click("#tab-events")
    assert "raised: trailing comma" in desk.text("#at-said")
    assert "json.trailing_comma" in desk.text("#events li:last-child")


def test_on_error(desk: Desk) -> None:
    desk.click("#tab-broken")
    desk("[value=repair]").check()
    desk.settle()
    assert desk.text("#status") == "hermes: 2 calls, 1 repaired"
    assert "read as" in desk.text("#found")
    desk("[value=raise]").check()
    desk.settle()
    assert "1 error" in desk.text("#status")


def test_why_nothing_was_found(desk: Desk) -> None:
    desk.load(text='Use {"city": "Oslo"}.')
    assert "not in the shape of a call" in desk.text("#found")
    desk.load(text="<tool_call>ping</tool_call>")
    assert "shape of a call" not in desk.text("#found")


def test_cut_off_and_prompt(desk: Desk) -> None:
    desk.load(text=HERMES.removesuffix("</tool_call>"))
    assert desk.text("#status") == "hermes: 1 call"
    desk("#cut").check()
    desk.settle()
    assert "tool_call.truncated" in desk.text("#status")
    desk.load(text="I think.</think>" + HERMES)
    desk("#prompt-box summary").click()
    desk.fill("#prompt", "<think>\n")
    assert desk.text("#runs .reasoning") == "I think."
    assert desk.text("#prompt-said") == "(given)"


def test_render(desk: Desk) -> None:
    desk.click("#tab-hermes")
    desk.click("#tab-render")
    message = toolglot.parse(SAMPLES[1].text)
    for target in ("qwen3_coder", "mistral_v13", "harmony"):
        desk.select("#target", target)
        expected = toolglot.render(message.tool_calls, target, content=message.content, reasoning=message.reasoning)
        assert desk.text("#rendered") == expected
    desk.select("#target", "llama3_json")
    assert len(desk("#left-out li").all()) == 2
    desk.fill("#text", "prose")
    assert desk.text("#render-problem") == "there is no call to write"
    assert desk.text("#rendered") == ""
    desk.fill("#text", HERMES)
    expect(desk("#render-problem")).to_be_hidden()


def without_ids(text: str) -> str:
    """Ids that are made up are made anew each time."""
    return re.sub(r"call_[0-9a-f]+", "call", text)


def test_convert(desk: Desk) -> None:
    desk.click("#tab-hermes")
    desk.click("#tab-convert")
    for target in ("anthropic", "google", "bedrock"):
        desk.select("#provider", target)
        message = toolglot.parse(SAMPLES[1].text, ids="synthesize")
        expected = json.dumps(toolglot.get_provider(target).assistant(message), ensure_ascii=False, indent=2)
        assert without_ids(desk.text("#converted")) == without_ids(expected)
    desk.select("#what", "response")
    assert "not written" in desk.text("#convert-problem")
    desk.select("#provider", "openai")
    back = toolglot.parse_response(json.loads(desk.text("#converted")))
    assert [call.name for call in back.tool_calls] == ["search", "get_weather"]
    desk.select("#what", "tools")
    assert "tools box" in desk.text("#convert-problem")
    desk("#tools-box summary").click()
    desk.click("#sample-tools")
    desk.select("#provider", "google")
    assert json.loads(desk.text("#converted")) == toolglot.get_provider("google").request(TOOLS)
    assert "home/get_weather" in desk.text("#losses")
    # A response of one API becomes a message of another.
    whole = toolglot.get_provider("openai").response(toolglot.parse(SAMPLES[1].text, ids="synthesize"), model="m")
    desk.load(text=json.dumps(whole))
    desk.select("#what", "message")
    assert "functionCall" in desk.text("#converted")
    desk.click("#tab-result")
    assert desk.text("#status") == "openai (response): 2 calls"


def test_feedback(desk: Desk) -> None:
    desk.click("#tab-broken")
    desk.click("#tab-feedback")
    message = toolglot.parse(SAMPLES[-1].text, on_error="collect")
    assert desk.text("#feedback") == message.feedback()
    desk("#view-feedback button").click()
    expect(desk("#view-feedback button")).to_have_text("Copied")
    assert desk.page.evaluate("navigator.clipboard.readText()") == message.feedback()


LINKED = ["\U0001f600 é \u2028 " + HERMES, "a\ud800b", "\x00", "<script>", "x" * 20_000]


@pytest.mark.parametrize("text", LINKED, ids=lambda text: ascii(text[:8]))
def test_link_carries_the_input(desk: Desk, text: str) -> None:
    desk.load(text=text, tools=json.dumps(TOOLS), on_error="repair", cut=True, format="hermes", prompt="")
    desk("#link").click()
    expect(desk("#link-said")).to_have_text("Copied")
    link = desk.page.evaluate("navigator.clipboard.readText()")
    assert link == desk.page.url
    desk.load(text="")
    expect(desk("#tools")).to_have_value("")
    desk.page.goto(link)
    expect(desk("#format")).to_have_value("hermes")
    desk.settle()
    # (The protocol between test and browser has no halves of surrogate pairs.)
    codes = desk.page.evaluate("[...document.querySelector('#text').value].map(c => c.codePointAt(0))")
    assert codes == [ord(char) for char in text]
    expect(desk("#tools")).to_have_value(json.dumps(TOOLS))
    expect(desk("[value=repair]")).to_be_checked()
    expect(desk("#cut")).to_be_checked()
    expect(desk("[value=nothing]")).to_be_checked()
    # What is typed is not what the address says any more.
    desk.fill("#text", "other")
    assert desk.page.url == desk.url


def test_link_that_is_too_long(desk: Desk) -> None:
    desk.load(text="")
    desk.fill("#text", "x" * 60_000)
    desk("#link").click()
    assert "too long" in desk.text("#link-said")


BROKEN_LINKS = ["#v1=", "#v1=%%%", "#v1=e30", "#v1=bnVsbA", "#v1=eyJ0ZXh0IjoxfQ", "#v1=gICA", "#v1=eyJ0ZXh0Ijoi"]


@pytest.mark.parametrize("broken", BROKEN_LINKS)
def test_broken_link(desk: Desk, broken: str) -> None:
    desk.fill("#text", "kept")
    desk.page.goto(desk.url + broken)
    expect(desk("#notice")).to_contain_text("The link cannot be read")
    expect(desk("#text")).to_have_value("kept")
    desk.fill("#text", HERMES)
    assert desk.text("#status") == "hermes: 1 call"
    expect(desk("#notice")).to_be_hidden()


def test_back_button(desk: Desk) -> None:
    desk.load(text="first")
    desk.load(text="second")
    desk.page.go_back()
    expect(desk("#text")).to_have_value("first")
    desk.page.go_forward()
    expect(desk("#text")).to_have_value("second")
    desk.page.goto(desk.url + "#elsewhere")
    expect(desk("#text")).to_have_value("second")


def test_keyboard_alone(desk: Desk) -> None:
    page = desk.page
    desk("#tab-python").focus()
    page.keyboard.press("ArrowLeft")  # from the first to the last
    desk.settle()
    expect(desk("#tab-broken")).to_be_focused()
    assert "json.trailing_comma" in desk.text("#status")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    desk.settle()
    assert desk.text("#status") == TABS["hermes"]
    # One stop for the tabs, then every control in the order of the page; each shows that it has the focus.
    stops = []
    for _ in range(30):
        page.keyboard.press("Tab")
        stops.append(
            page.evaluate(
                "document.activeElement.id || document.activeElement.name || document.activeElement.localName"
            )
        )
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none", stops
        if stops[-1] == "view-result":
            break
    assert stops == [
        "more",
        "text",
        "format",
        "run",
        "link",
        "on_error",
        "cut",
        "summary",
        "summary",
        "tab-result",
        "view-result",
    ]
    desk("#tab-result").focus()
    for view in ("events", "render", "convert", "feedback"):
        page.keyboard.press("ArrowRight")
        expect(desk(f"#view-{view}")).to_be_visible()
        expect(desk(f"#tab-{view}")).to_be_focused()
    page.keyboard.press("Home")
    desk.settle()
    desk("#text").focus()
    page.keyboard.press("Control+a")
    page.keyboard.type(HERMES)
    desk.settle()
    assert desk.text("#status") == "hermes: 1 call"
    desk("#run").focus()
    page.keyboard.press("Enter")
    desk.settle()
    expect(desk("#run-time")).to_contain_text("each")
    expect(desk("#run")).to_be_focused()


NAMES = [
    ("tablist", "Samples"),
    ("tab", "Hermes / Qwen"),
    ("combobox", "Another format:"),
    ("textbox", "Model output, or an API’s response"),
    ("combobox", "Read as"),
    ("button", "Run 1,000×"),
    ("group", "Broken calls"),
    ("radio", "repair"),
    ("region", "Output"),
    ("tablist", "What to show"),
    ("tab", "Events"),
    ("tabpanel", "Result"),
]


def test_roles_and_names(desk: Desk) -> None:
    page = desk.page
    # What a screen reader calls things.
    for role, name in NAMES:
        expect(page.get_by_role(role, name=name, exact=True)).to_have_count(1)  # type: ignore[arg-type]
    expect(page.get_by_role("status").filter(has_text="no tool call")).to_have_count(1)
    unnamed = page.evaluate("""[...document.querySelectorAll('input, select, textarea, button')].filter(e =>
        !e.labels?.length && !e.getAttribute('aria-label') && !e.textContent.trim()).map(e => e.id)""")
    assert unnamed == []
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    for tab in desk("[role=tab]").all():
        assert desk(f"#{tab.get_attribute('aria-controls')}").count() == 1


def test_narrow_screen(desk: Desk) -> None:
    desk.page.set_viewport_size({"width": 360, "height": 740})
    long = "<tool_call>" + json.dumps({"name": "n" * 300, "arguments": {"k" * 300: "v" * 3000}}) + "</tool_call>"
    for text in (SAMPLES[1].text, SAMPLES[-1].text, long, long.replace('"}}', '",}}'), "\x00" * 500):
        desk.load(text=text, tools=json.dumps(TOOLS), prompt="<think>")
        for view in VIEWS:
            desk.click(f"#tab-{view}")
            assert desk.fits(), (view, text[:40])


def test_spans_of_characters_beyond_sixteen_bits(desk: Desk) -> None:
    arguments = '{"\U0001f600": "\U0001f468\u200d\U0001f469"}'
    text = f'\U0001f600\U0001f600 <tool_call>{{"name": "\U0001d7d8f", "arguments": {arguments}}}</tool_call> \U0001f600'
    desk.load(text=text)
    assert desk.text("#runs") == text
    assert desk.text("#runs .name") == "\U0001d7d8f"
    assert desk.text("#runs .arguments") == arguments
    broken = '\U0001f600<tool_call>{"name": "f", "arguments": {"\U0001f600": 1,}}</tool_call>'
    desk.load(text=broken)
    assert desk.text("#runs .at") == "}"
    line, caret = desk.text(".context").split("\n")
    assert list(line)[caret.index("^")] == "}"


def test_what_cannot_be_seen_is_named(desk: Desk) -> None:
    desk.load(text="a\x00\x00\x00b\u202ec\u200bd\ufeff\x1b[31m e\u0301 \U0001f468\u200d\U0001f469 \u3000")
    assert desk("#runs .unseen").all_text_contents() == ["U+0000 ×3", "U+202E", "U+200B", "U+FEFF", "U+001B"]


def test_huge_input(desk: Desk) -> None:
    desk.page.evaluate("document.querySelector('#text').value = 'x'.repeat(300000)")
    desk("#text").press("End")
    desk("#text").press("x")
    expect(desk("#text-problem")).to_contain_text("300,001 characters")
    desk.page.evaluate("document.querySelector('#text').value = 'x'.repeat(3000000)")
    desk("#text").press("x")
    expect(desk("#text-problem")).to_contain_text("3,000,001 characters")
    desk.page.evaluate("document.querySelector('#text').value = '\\u0000a'.repeat(50000) + '<tool_call>'.repeat(9000)")
    desk("#text").press("x")
    expect(desk("#text-problem")).to_be_hidden()
    desk.settle()
    assert "error" in desk.text("#status")
    expect(desk("#runs .unseen")).to_have_count(1000)
    assert "more" in desk.text("#runs")
    desk.click("#tab-events")
    desk.click("#tab-result")
    desk.fill("#text", "short")
    assert desk.text("#runs") == "short"


def test_long_values_are_shown_in_part_and_copied_whole(desk: Desk) -> None:
    text = '<tool_call>{"name": "f", "arguments": {"a": [' + "1, " * 30_000 + "1]}}</tool_call>"
    desk.load(text=text)
    assert "more characters" in desk.text(".call-box pre")
    desk.click("#tab-render")
    desk.select("#target", "hermes")
    assert "more characters" in desk.text("#rendered")
    desk("#view-render button").click()
    expect(desk("#view-render button")).to_have_text("Copied")
    copied = desk.page.evaluate("navigator.clipboard.readText()")
    assert toolglot.parse(copied).tool_calls == toolglot.parse(text).tool_calls


def test_typing_while_it_reads(desk: Desk) -> None:
    text = HERMES * 20
    desk("#text").focus()
    desk.page.keyboard.type(text, delay=1)
    for view in VIEWS[1:]:
        desk(f"#tab-{view}").click()
        desk("#text").press("End")
        desk.page.keyboard.type(" ", delay=1)
    desk("#tab-result").click()
    desk.settle()
    assert desk.text("#status") == "hermes: 20 calls"
    assert desk.text("#runs") == text + " " * 4


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(desk: Desk, scheme: str) -> None:
    """At least 4.5 to 1 for every text, as WCAG's AA has it."""
    desk.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    try:
        for text in (SAMPLES[1].text, SAMPLES[-1].text):
            desk.load(text=text, tools="[{")
            desk.fill("#tools", "")
            for view in VIEWS:
                desk.click(f"#tab-{view}")
                low = desk.page.evaluate(CONTRAST)
                assert low == [], (scheme, view)
    finally:
        desk.page.emulate_media(color_scheme=None)


CONTRAST = """(() => {
  const parse = (color) => {
    const parts = color.match(/[\\d.]+/g).map(Number);
    return parts.length < 4 ? [...parts, 1] : parts;
  };
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode;
    const element = text.parentElement;
    if (!text.data.trim() || !element.checkVisibility() || element.closest(":disabled, option")) continue;
    let back = element;
    while (back && parse(getComputedStyle(back).backgroundColor)[3] === 0) back = back.parentElement;
    const a = light(parse(getComputedStyle(element).color));
    const b = light(back ? parse(getComputedStyle(back).backgroundColor) : [255, 255, 255]);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.push([element.className || element.id || element.localName, text.data.slice(0, 20), ratio]);
  }
  return found;
})()"""


def test_both_ways_give_the_same(browser: Browser, static_url: str, folder: object) -> None:
    """The page says the same, whoever answers it."""
    from conftest import Playground, serve

    with Playground() as server:
        serve(server)
        said = []
        for site in (Site("local", server.url), Site("pyodide", static_url)):
            wrong: list[str] = []
            context, page = opened(browser, site, wrong)
            desk = Desk(page, site)
            shown = []
            for sample in SAMPLES:
                desk.load(text=sample.text, tools=json.dumps(TOOLS))
                for view in VIEWS:
                    desk.click(f"#tab-{view}")
                    text = without_ids(desk.text(f"#view-{view}"))
                    shown.append((sample.id, view, desk.text("#status"), text))
            said.append(shown)
            context.close()
            assert wrong == []
        server.shutdown()
    assert said[0] == said[1]
