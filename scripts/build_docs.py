"""Builds the documentation as a static site: ``python scripts/build_docs.py [FOLDER]`` (``build/site``).

The pages of docs/, README.md and their like, and a page a format and a page a provider, which are made here
(``scripts/pages``). Needs the extra ``docs``, and Python 3.11 for it. A warning is an error, as is a link that leads
nowhere, or an image, a script or a font that would be fetched from elsewhere.

The generator is Zensical, by the authors of Material for MkDocs, which has reached its end of life, as MkDocs 1 has.
It runs no plugins, so pages are made before it runs; its configuration is that of MkDocs.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from pages import benchmark, formats, markdown, providers

ROOT: Final = Path(__file__).resolve().parent.parent
SITE: Final = ROOT / "build" / "site"
# Pages that stand elsewhere, and what they are called here.
ELSEWHERE: Final = {
    "README.md": "tour.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "examples/README.md": "examples.md",
}
NAV: Final[list[Any]] = [
    {"Toolglot": "index.md"},
    {"Tour": "tour.md"},
    {
        "Ten minutes": [
            {"Several APIs": "start-apis.md"},
            {"Open models": "start-open-models.md"},
            {"Agents": "start-agents.md"},
            {"Data sets": "start-data.md"},
            {"Serving engines": "start-engines.md"},
        ]
    },
    {
        "Guides": [
            {"Streams": "streams.md"},
            {"Histories": "histories.md"},
            {"Validation": "validation.md"},
            {"Mends of broken calls": "repair.md"},
            {"Feedback for the model": "feedback.md"},
            {"Grammars": "grammars.md"},
            {"Batches": "batch.md"},
            {"Command line": "command-line.md"},
            {"Playground": "playground.md"},
            {"Control tokens": "control-tokens.md"},
            {"Limits and security": "security.md"},
        ]
    },
    {
        "Formats": [
            {"All formats": "formats/index.md"},
            {"How one is found and declared": "formats.md"},
            {"Add a format": "add-a-format.md"},
            {"What each can do": "matrix.md"},
            {"By name": "formats/"},
        ]
    },
    {"Providers": [{"All providers": "providers/index.md"}, {"By name": "providers/"}]},
    {
        "Reference": [
            {"API": "api.md"},
            {"Guarantees": "guarantees.md"},
            {"Error codes": "errors.md"},
            {"Benchmark": "benchmark.md"},
            {"Examples": "examples.md"},
        ]
    },
    {
        "Coming from": [
            {"vLLM and SGLang": "coming-from-engines.md"},
            {"LiteLLM": "coming-from-litellm.md"},
            {"LangChain": "coming-from-langchain.md"},
            {"llm-beacon": "coming-from-beacon.md"},
            {"llm.tools (Zerda)": "coming-from-llm-tools.md"},
            {"ToolCallParser (.NET)": "coming-from-toolcallparser.md"},
        ]
    },
    {"Project": [{"Contributing": "contributing.md"}, {"Changes": "changes.md"}]},
]
CONFIG: Final[dict[str, Any]] = {
    "site_name": "Toolglot",
    "site_description": "Reads the tool calls of every model family, and writes them back.",
    "docs_dir": "pages",
    "site_dir": "site",
    "use_directory_urls": False,  # so that the folder can be opened without a server
    "theme": {
        "name": "material",
        "font": False,  # those of the system: nothing is fetched from elsewhere
        "features": ["content.code.copy", "navigation.footer", "navigation.indexes", "navigation.prune", "toc.follow"],
        "palette": [
            {
                "media": f"(prefers-color-scheme: {mode})",
                "scheme": scheme,
                "toggle": {"icon": icon, "name": f"Switch to {other}"},
            }
            for mode, scheme, icon, other in (
                ("light", "default", "lucide/sun", "dark"),
                ("dark", "slate", "lucide/moon", "light"),
            )
        ],
    },
    "extra": {"generator": False},
    "extra_css": ["extra.css"],
    "markdown_extensions": [
        "admonition",
        "attr_list",
        "md_in_html",
        "tables",
        {"toc": {"permalink": True}},
        {"pymdownx.highlight": {"pygments_lang_class": True}},
        "pymdownx.details",
        "pymdownx.superfences",
    ],
}
_FENCED: Final = re.compile(r"^(`{3,})[^\n]*\n.*?^\1`*$", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"\[((?:`[^`]*`|[^\[\]`])*)\]\(([^)\s]+)\)")
_CODE: Final = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")


# -- a page of the repository becomes one of the site -----------------------------------------------------------------


def site_page(source: str, path: str, here: str) -> str:
    """The text of the file ``path`` of the repository, as the page ``here`` of the site."""

    def link(found: re.Match[str]) -> str:
        label, target = found.groups()
        url = urlsplit(target)
        if url.scheme or not url.path:
            return found[0]
        file = (ROOT / path).parent.joinpath(unquote(url.path)).resolve().relative_to(ROOT).as_posix()
        page = ELSEWHERE.get(file, file.removeprefix("docs/") if file.startswith("docs/") else "")
        if not page:
            return label  # a file of the repository that is no page
        up = "../" * here.count("/")
        return f"[{label}]({up}{page}{'#' + url.fragment if url.fragment else ''})"

    def prose(piece: str) -> str:
        # In a table a bar in code has a backslash before it, which Python's Markdown would show.
        rows = (_CODE.sub(_bars, row) if row.startswith("|") and "\\|" in row else row for row in piece.split("\n"))
        return _LINK.sub(link, "\n".join(rows))

    parts, at = [], 0
    for fence in _FENCED.finditer(source):
        block = fence[0]
        if block.startswith("```python\n") and ">>> " in block:
            block = "```pycon" + block.removeprefix("```python")  # with prompts: coloured as a session
        parts += [prose(source[at : fence.start()]), block]
        at = fence.end()
    return "".join([*parts, prose(source[at:])])


def _bars(found: re.Match[str]) -> str:
    return markdown.code(found[2].strip().replace("\\|", "|")) if "\\|" in found[2] else found[0]


def all_pages() -> dict[str, str]:
    """Every page of the site, by its path."""
    files = {f"docs/{file.name}": file.name for file in sorted((ROOT / "docs").glob("*.md"))} | ELSEWHERE
    found = {here: site_page((ROOT / path).read_text("utf-8"), path, here) for path, here in files.items()}
    made: list[Callable[[], dict[str, str]]] = [formats.pages, providers.pages]
    for make in made:
        found |= make()
    for place, drawing in benchmark.drawings().items():
        found["benchmark.md"] = found["benchmark.md"].replace(place, drawing)
    # Where a format is in a table, it leads to its own page.
    for page, cell in (("matrix.md", r"^(\| )(`\w+`)"), ("coming-from-engines.md", r"^(\| `[^`]+` \| )([^|]+)")):
        found[page] = re.sub(cell, partial(_to_formats, found), found[page], flags=re.MULTILINE)
    return found


def _to_formats(found: dict[str, str], cell: re.Match[str]) -> str:
    """The ids in the second group, as links."""

    def link(id: re.Match[str]) -> str:
        page = f"formats/{id[1]}.md"
        return f"[{id[0]}]({page})" if page in found else id[0]

    return cell[1] + re.sub(r"`(\w+)`", link, cell[2])


def navigation(nav: list[Any], found: dict[str, str]) -> list[Any]:
    """The navigation, with the pages of whole folders."""
    kept: list[Any] = []
    for entry in nav:
        ((title, target),) = entry.items()
        if isinstance(target, list):
            kept.append({title: navigation(target, found)})
        elif target.endswith("/"):
            pages = [path for path in found if path.startswith(target) and path != f"{target}index.md"]
            kept.append({title: [{Path(path).stem: path} for path in pages]})
        else:
            kept.append(entry)
    return kept


def paths(nav: list[Any]) -> Iterator[str]:
    """The pages of a navigation."""
    for entry in nav:
        for target in entry.values():
            if isinstance(target, list):
                yield from paths(target)
            else:
                yield target


# -- the built site is looked at --------------------------------------------------------------------------------------


class _Page(HTMLParser):
    """What a page fetches, where it leads, and the places in it."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note it."""
        said = {name: value or "" for name, value in attrs}
        self.ids |= {said[name] for name in ("id", "name") if name in said}
        if tag == "a":
            self.links += [said["href"]] if "href" in said else []
            return
        self.fetched += [said[name] for name in ("src", "href", "data", "poster") if said.get(name)]
        self.fetched += [item.split()[0] for item in said.get("srcset", "").split(",") if item.strip()]


def wrong_links(site: Path) -> list[str]:
    """What a built site would fetch from elsewhere, and its links that lead nowhere."""
    pages = {}
    for file in site.rglob("*.html"):
        pages[file] = _Page()
        pages[file].feed(file.read_text("utf-8"))
    wrong = []
    for file, page in pages.items():
        name = file.relative_to(site).as_posix()
        if name == "404.html":
            continue  # shown under any address, so its links begin at the root
        for target in page.fetched + page.links:
            url = urlsplit(target)
            if url.scheme or url.netloc:
                wrong += [f"{name} fetches {target}"] if target in page.fetched and url.scheme != "data" else []
                continue
            there = (file.parent / unquote(url.path)).resolve() if url.path else file
            if not there.is_file():
                wrong.append(f"{name} leads to {target}, which is no file")
            elif url.fragment and there in pages and unquote(url.fragment) not in pages[there].ids:
                wrong.append(f"{name} leads to {target}, where no such place is")
    for file in site.rglob("*.css"):
        outside = re.findall(r"url\(['\"]?(https?:)?//[^)]*", file.read_text("utf-8"))
        wrong += [f"{file.relative_to(site)} fetches from elsewhere"] if outside else []
    return wrong


def build(target: Path) -> list[str]:
    """Write the site; what is wrong with it."""
    with tempfile.TemporaryDirectory() as work:
        return _build(Path(work), target)


def _build(work: Path, target: Path) -> list[str]:
    found = all_pages()
    for path, page in found.items():
        file = work / "pages" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page, "utf-8")
    shutil.copyfile(Path(__file__).with_name("pages") / "extra.css", work / "pages" / "extra.css")
    nav = navigation(NAV, found)
    wrong = [f"docs/{path} is not in the navigation" for path in sorted(set(found) - set(paths(nav)))]
    wrong += [f"the navigation has {path}, which is no page" for path in paths(nav) if path not in found]
    (work / "mkdocs.yml").write_text(json.dumps({**CONFIG, "nav": nav}), "utf-8")  # JSON is YAML
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict", "--config-file", "mkdocs.yml"]
    result = subprocess.run(  # noqa: S603 - our own interpreter
        command, cwd=work, capture_output=True, text=True, check=False, timeout=300
    )
    if result.returncode:
        return [*wrong, re.sub(r"\x1b\[[\d;]*m", "", result.stderr).partition("Traceback")[0]]
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(work / "site", target)
    print(f"{len(found)} pages in {target}")
    return wrong + wrong_links(target)


if __name__ == "__main__":
    problems = build(Path(sys.argv[1]) if len(sys.argv) > 1 else SITE)
    print(*problems, sep="\n", file=sys.stderr)
    sys.exit(bool(problems))
