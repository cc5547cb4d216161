"""The playground in headless Chromium, answered in both ways: by this Python, and by Pyodide in the page.

Needs the extra ``browser`` and a Chromium (``chromium`` on the path, or `TOOLGLOT_CHROMIUM`); Pyodide is the folder
that `TOOLGLOT_PYODIDE` names, else npm fetches it. ``.ci/full`` runs these tests; what is not there is skipped.
"""

from __future__ import annotations

import base64
import functools
import http.server
import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

from toolglot.playground.build import build, precompile
from toolglot.playground.server import Playground

PYODIDE = "pyodide@314.0.7"
# The browser is to contact nobody by itself.
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync"]  # fmt: skip
PATIENCE = 60_000  # milliseconds: other work may have the machine
expect.set_options(timeout=PATIENCE)
_numbers = count()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.timeout(600))


def reference() -> float:
    """How many times longer than its own time a loop takes: 1 on a machine that has nothing else to do."""
    began, used = time.perf_counter(), time.process_time()
    total = 0
    for number in range(10_000_000):
        total += number
    return (time.perf_counter() - began) / (time.process_time() - used)


def fragment(**input: Any) -> str:
    """What a link to the page ends with. The number makes each another one, so that the page reads it."""
    data = json.dumps({**input, "number": next(_numbers)}).encode()
    return "#v1=" + base64.urlsafe_b64encode(data).decode().rstrip("=")


class Site(NamedTuple):
    """One way of having the page."""

    backend: str
    url: str


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Any web server."""

    def log_message(self, format: str, *args: object) -> None:
        pass


class Desk:
    """A page in use, and what is done to it again and again."""

    def __init__(self, page: Page, site: Site) -> None:
        self.page = page
        self.site = site
        self.url = site.url

    def __call__(self, selector: str) -> Locator:
        return self.page.locator(selector)

    def settle(self) -> None:
        """Wait until what is shown is the newest."""
        expect(self("#output")).to_have_attribute("aria-busy", "false")

    def load(self, **input: Any) -> None:
        """Follow a link to an input."""
        self.page.goto(self.url + fragment(**input))
        expect(self("#text")).to_have_value(input["text"].replace("\r\n", "\n"))
        self.settle()

    def fill(self, selector: str, text: str) -> None:
        self(selector).fill(text)
        self.settle()

    def click(self, selector: str) -> None:
        self(selector).click()
        self.settle()

    def select(self, selector: str, value: str) -> None:
        self(selector).select_option(value)
        self.settle()

    def text(self, selector: str) -> str:
        return self(selector).text_content() or ""

    def fits(self) -> bool:
        """Whether nothing stands beyond the right edge."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


@pytest.fixture(scope="session")
def pyodide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of npm's package."""
    named = os.environ.get("TOOLGLOT_PYODIDE")
    if named:
        return Path(named)
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no npm, and TOOLGLOT_PYODIDE names no folder")
    folder = tmp_path_factory.mktemp("npm")
    command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder), PYODIDE]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return folder / "node_modules" / "pyodide"


@pytest.fixture(scope="session")
def folder(pyodide: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The static folder."""
    made = tmp_path_factory.mktemp("site")
    build(made, pyodide)
    assert precompile(made) == ""
    return made


def serve(server: http.server.ThreadingHTTPServer) -> None:
    threading.Thread(target=server.serve_forever, daemon=True).start()


@pytest.fixture(scope="session")
def static_url(folder: Path) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        serve(server)
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = os.environ.get("TOOLGLOT_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="session", params=["local", "pyodide"])
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    if request.param == "pyodide":
        yield Site("pyodide", request.getfixturevalue("static_url"))
        return
    with Playground() as server:
        serve(server)
        yield Site("local", server.url)
        server.shutdown()


def opened(browser: Browser, site: Site, wrong: list[str], **options: Any) -> tuple[BrowserContext, Page]:
    """A page that notes into ``wrong`` what it must not do: ask another address, say anything in the console."""
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    context.on(
        "request", lambda asked: wrong.append(asked.url) if not asked.url.startswith((site.url, "data:,")) else None
    )
    page.on("console", lambda said: wrong.append(said.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(site.url)
    expect(page.locator("#output")).to_have_attribute("aria-busy", "false")
    return context, page


@pytest.fixture(scope="session")
def shared(browser: Browser, site: Site) -> Iterator[tuple[Page, list[str]]]:
    """One page for all tests: Python is loaded into it once."""
    wrong: list[str] = []
    context, page = opened(browser, site, wrong, permissions=["clipboard-read", "clipboard-write"])
    yield page, wrong
    context.close()


@pytest.fixture
def desk(shared: tuple[Page, list[str]], site: Site) -> Iterator[Desk]:
    """The page with nothing in it, on its first view; in the end nothing may have gone wrong."""
    page, wrong = shared
    page.set_viewport_size({"width": 1280, "height": 900})
    made = Desk(page, site)
    made.load(text="")
    made.click("#tab-result")
    page.evaluate("document.querySelectorAll('details').forEach((details) => (details.open = false))")
    yield made
    assert wrong == []
