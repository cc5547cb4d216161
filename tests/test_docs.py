"""README.md and docs/ are executed: Python blocks as doctests or as code, console blocks that start with `toolglot`.

A page's Python blocks run in a process of their own (``python tests/test_docs.py PAGE``): what one registers or changes
is gone with it.
"""

from __future__ import annotations

import dataclasses
import doctest
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import toolglot
from toolglot import pattern

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


def run_python(page: Path) -> str:
    """Run the blocks of a page in order, sharing their names, as a reader who types them in has it; what failed."""
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
    return "".join(said)


@pytest.mark.parametrize("page", pages_with("python"), ids=lambda page: str(page.relative_to(ROOT)))
def test_python(page: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-W", "error", str(Path(__file__)), str(page)],
        capture_output=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        timeout=60,
    )
    assert (result.returncode, result.stdout.decode() + result.stderr.decode()) == (0, "")


def test_own_format_is_short_and_does_not_leak() -> None:
    """The README's promise: a format of one's own, declared, parsed, streamed and rendered, in at most 30 lines."""
    (block,) = [block for block in blocks(ROOT / "README.md") if "register_format(" in block.text]
    assert len(block.text.splitlines()) <= 30
    for word in ("Format(", "parse(", "stream(", "render("):
        assert word in block.text
    name = re.search(r'id="(\w+)"', block.text)
    assert name is not None
    assert name[1] not in [fmt.id for fmt in toolglot.formats()]


@pytest.mark.parametrize(("command", "output"), COMMANDS)
@pytest.mark.skipif(os.name != "posix", reason="the transcripts are of a POSIX shell")
def test_console(command: str, output: str) -> None:
    scripts = Path(sys.executable).parent
    # Without an installation (`PYTHONPATH=src`) the module stands for the script.
    module = "" if (scripts / "toolglot").exists() else f'toolglot() {{ "{sys.executable}" -m toolglot "$@"; }}\n'
    result = subprocess.run(
        ["/bin/sh", "-c", module + command],
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
    for command in ("toolglot parse examples/hermes.txt", "pytest -n 2 --dist worksteal"):
        assert command in readme
        assert command in script.splitlines()
    assert "pip install -e '.[dev]'" in readme
    assert re.search(r"^pip install .*-e '\.\[dev\]'$", script, re.MULTILINE)


def test_ci_asks_the_sdks() -> None:
    """Without them their tests are skipped, which nobody would see."""
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert re.search(r'^dev = \[.*"toolglot\[sdk,[a-z,]*test\]".*\]$', project, re.MULTILINE)


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


def first_cells(page: Path) -> list[str]:
    """The names in the first cells of a page's tables: each code span up to what is not part of a name."""
    cells = re.findall(r"^\| (`[^|]*) \|", page.read_text("utf-8"), re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([\w.]+)[^`]*`", cell)]


def test_api_page_is_the_public_surface() -> None:
    named = first_cells(ROOT / "docs" / "api.md")
    assert sorted(named) == sorted([*toolglot.__all__, "toolglot.batch", "toolglot.pattern", "toolglot.tools"])


def test_formats_page_has_the_vocabulary() -> None:
    """Every function of `toolglot.pattern` and every field of `Format` is on docs/formats.md, once."""
    words = [
        name
        for name, value in vars(pattern).items()
        if inspect.isfunction(value) and value.__module__ == pattern.__name__ and not name.startswith("_")
    ]
    fields = [field.name for field in dataclasses.fields(toolglot.Format)]
    assert sorted(first_cells(ROOT / "docs" / "formats.md")) == sorted([*words, *fields])


def test_formats_page_shows_formats_that_exist() -> None:
    page = (ROOT / "docs" / "formats.md").read_text("utf-8")
    for name in re.findall(r"formats/([a-z0-9_]+)\.py", page):
        assert (ROOT / "src" / "toolglot" / "formats" / f"{name}.py").exists(), name


if __name__ == "__main__":
    failed = run_python(Path(sys.argv[1]).resolve())
    sys.stdout.write(failed)
    sys.exit(bool(failed))
