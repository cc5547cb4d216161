"""README.md and docs/ are executed: Python blocks as doctests or as code, console blocks that start with `toolglot`."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import toolglot

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "examples" / "README.md", *ROOT.glob("docs/*.md")])

_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


class Block(NamedTuple):
    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for match in _FENCE.finditer(text):
        yield Block(page, text.count("\n", 0, match.start(2)) + 1, match[1], match[2])


def pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if any(block.language == language for block in blocks(page))]


COMMANDS = [
    pytest.param(match[1], match[2], id=str(block._replace(line=block.line + block.text.count("\n", 0, match.start()))))
    for page in PAGES
    for block in blocks(page)
    if block.language == "console"
    for match in _COMMAND.finditer(block.text)
    if match[1].startswith("toolglot")
]


@pytest.mark.parametrize("page", pages_with("python"), ids=lambda page: str(page.relative_to(ROOT)))
def test_python(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page run in order and share their names, as a reader who types them in has it."""
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {"__name__": page.stem}
    runner = doctest.DocTestRunner(verbose=False)
    said: list[str] = []
    for block in blocks(page):
        if block.language != "python":
            continue
        if ">>>" in block.text:
            test = doctest.DocTestParser().get_doctest(block.text, names, str(block), str(page), block.line - 1)
            runner.run(test, out=said.append, clear_globs=False)
            names.update(test.globs)
        else:
            # Blank lines in front, so that a traceback shows the page's own line.
            source = "\n" * (block.line - 1) + block.text
            exec(compile(source, str(page), "exec", dont_inherit=True), names)
    assert runner.failures == 0, "".join(said)


@pytest.mark.parametrize(("command", "output"), COMMANDS)
@pytest.mark.skipif(os.name != "posix", reason="the transcripts are of a POSIX shell")
def test_console(command: str, output: str) -> None:
    scripts = Path(sys.executable).parent
    result = subprocess.run(
        ["/bin/sh", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"},
        timeout=60,
    )
    assert result.stdout.decode().rstrip("\n") == output.rstrip("\n")


def test_something_is_executed() -> None:
    assert len(COMMANDS) >= 3
    assert ROOT / "README.md" in pages_with("python")


def test_set_up_and_test_commands_are_those_of_ci() -> None:
    """What the README tells a newcomer to type is what CI runs."""
    readme = (ROOT / "README.md").read_text("utf-8")
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    for command in ("toolglot parse examples/hermes.txt", "pytest -n auto"):
        assert command in readme
        assert command in script.splitlines()
    assert "pip install -e '.[dev]'" in readme
    assert re.search(r"^pip install .*-e '\.\[dev\]'$", script, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_generated_pages_are_up_to_date() -> None:
    result = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "make_docs.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=60,
    )
    assert result.returncode == 0, result.stderr


def test_every_export_is_on_the_api_page() -> None:
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    named = set(re.findall(r"`([A-Za-z_]+)", page))
    assert [name for name in toolglot.__all__ if name not in named] == []
