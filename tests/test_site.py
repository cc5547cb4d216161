"""The documentation as a site: the pages that are made for it, and what its builder changes and checks."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import toolglot

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))  # it is built by programs of their own
import build_docs  # noqa: E402
from pages import benchmark, markdown  # noqa: E402


def test_a_page_a_format_and_a_page_a_provider() -> None:
    """Those that are made from the declarations while the site is built."""
    found = build_docs.all_pages()
    made = {path: page for path, page in found.items() if "/" in path}
    names = [f"formats/{fmt.id}.md" for fmt in toolglot.formats()]
    names += [f"providers/{provider.value}.md" for provider in toolglot.providers()]
    assert sorted(made) == sorted(["formats/index.md", "providers/index.md", *names])
    for fmt in toolglot.formats():
        page = made[f"formats/{fmt.id}.md"]
        for words in (*fmt.aliases, *(name for names in fmt.engines.values() for name in names)):
            assert markdown.code(words) in page, fmt.id
        assert ("## What it looks like" in page) != fmt.parse_only, fmt.id
    hermes = made["formats/hermes.md"]
    assert '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich", "days": 2}}\n</tool_call>' in hermes
    assert f"At the end of the output {markdown.code(chr(10) + '</tool_call>')} may be missing" in hermes
    assert "| [`hermes`](formats/hermes.md) |" in found["matrix.md"]
    assert "| `qwen3_xml` | [`qwen3_coder`](formats/qwen3_coder.md) |" in found["coming-from-engines.md"]
    assert "has no word for" in made["providers/ollama.md"]
    assert "wants reasoning back in `reasoning_content`" in made["providers/deepseek.md"]


def test_a_page_of_the_site() -> None:
    """What the site shows otherwise than a code host: sessions, bars in tables, links that leave docs/."""
    source = (
        "| `a\\|b` | [tour](../README.md#more) [code](../src/toolglot/api.py) |\n\n"
        "```python\n>>> '[x](../README.md)'\n```\n[out](https://example.org)\n"
    )
    assert build_docs.site_page(source, "docs/x.md", "x.md") == (
        "| <code>a&#124;b</code> | [tour](tour.md#more) code |\n\n"
        "```pycon\n>>> '[x](../README.md)'\n```\n[out](https://example.org)\n"
    )


def test_the_site_fetches_nothing_and_leads_somewhere(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<link href="https://example.org/a.css"><script src="//example.org/a.js"></script><img src="gone.png">'
        '<a href="https://example.org">out</a> <a href="b.html#here">b</a>'
        '<a href="b.html#gone">b</a> <a href="#x">x</a>',
        "utf-8",
    )
    (tmp_path / "b.html").write_text('<h1 id="here">B</h1>', "utf-8")
    assert build_docs.wrong_links(tmp_path) == [
        "a.html fetches https://example.org/a.css",
        "a.html fetches //example.org/a.js",
        "a.html leads to gone.png, which is no file",
        "a.html leads to b.html#gone, where no such place is",
        "a.html leads to #x, where no such place is",
    ]


def test_the_navigation_has_every_page() -> None:
    shown = set(build_docs.paths(build_docs.NAV))
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} | set(build_docs.ELSEWHERE.values())
    assert {path for path in shown if "/" not in path} == pages


def test_the_benchmarks_drawings() -> None:
    """Each has its place on the page, and its text the colour of the page around it."""
    page = (ROOT / "docs" / "benchmark.md").read_text("utf-8")
    drawings = benchmark.drawings()
    assert drawings
    for place, drawing in drawings.items():
        assert page.count(place) == 1
        svg = ET.fromstring(drawing)[0]
        assert svg.get("fill") == "currentColor"
        assert len(svg.findall("rect")) >= 2
