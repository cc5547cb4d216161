"""README.md and docs/ are executed: Python blocks as doctests or as code, console blocks that start with `toolglot`.

A page's Python blocks run in a process of their own (``python tests/test_docs.py PAGE``): what one registers or changes
is gone with it. ``python tests/test_docs.py`` prints how much of each page is executed.
"""

from __future__ import annotations

import dataclasses
import doctest
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

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


PYTHON = ("python", "pycon")
SHOWN = ("bash", "sh")  # commands of a shell: set-up, which `.ci/run` runs, and what needs the reader's own files
HEAVY = ("py",)  # what needs packages that the tests do not bring: tests/heavy runs these


def pages_with(*languages: str) -> list[Path]:
    return [page for page in PAGES if any(block.language in languages for block in blocks(page))]


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
        if block.language not in PYTHON:
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


@pytest.mark.parametrize("page", pages_with(*PYTHON), ids=lambda page: str(page.relative_to(ROOT)))
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
    assert ROOT / "README.md" in pages_with(*PYTHON)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_is_executed(page: Path) -> None:
    """A language that nothing runs, or a transcript of another command, would be shown and never tried."""
    for block in blocks(page):
        assert block.language in (*PYTHON, *HEAVY, *SHOWN, "console"), block
        if block.language == "console":
            assert all(match[1].startswith("toolglot ") for match in _COMMAND.finditer(block.text)), block
            assert block.text.startswith("$ "), block


def test_how_to_add_a_format_is_followed(tmp_path: Path) -> None:
    """The file at the end of the tutorial, put into a copy of the package, with the cases of the tutorial."""
    page = ROOT / "docs" / "add-a-format.md"
    shutil.copytree(
        ROOT / "src" / "toolglot", tmp_path / "src" / "toolglot", ignore=shutil.ignore_patterns("__pycache__")
    )
    [declaration] = re.findall(r'^    """Orchid.*?^    \)$', page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    source = textwrap.dedent(declaration) + "\n"
    assert len(source.splitlines()) <= 60
    (tmp_path / "src" / "toolglot" / "formats" / "orchid.py").write_text(source, "utf-8")
    names: dict[str, Any] = {}
    for block in blocks(page):
        for example in doctest.DocTestParser().get_examples(block.text):
            if example.source.startswith(("cases = ", "source = ", "nothing = ")):
                exec(example.source, names)
    folder = tmp_path / "orchid"
    folder.mkdir()
    tags = set()
    for name, (text, sheet) in names["cases"].items():
        tags.update(sheet["tags"])
        (folder / f"{name}.txt").write_bytes(text.encode())
        sheet = {**names["nothing"], "source": names["source"], **sheet}
        (folder / f"{name}.json").write_text(json.dumps(sheet), "utf-8")
    assert {"single", "hostile", "truncated", "malformed"} <= tags, "what tests/test_golden.py wants of a folder"
    code = (
        "import sys; from pathlib import Path; import toolglot; from toolglot import golden\n"
        "assert 'orchid' in [fmt.id for fmt in toolglot.formats()]\n"
        "assert toolglot.format_for_model('example/orchid-2-instruct') == 'orchid'\n"
        "for case in golden.load_folder(Path(sys.argv[1])):\n"
        "    print(case.name, *(check for check, said in golden.check(case).items() if said))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "src")},
        timeout=60,
    )
    assert result.stdout.split() == sorted(names["cases"])


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


def anchors(page: Path) -> set[str]:
    """The places of a page that a code host makes of its headings."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """As the page reads on a code host; the site's own links are checked where it is built."""
    for target, place in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", _FENCE.sub("", page.read_text("utf-8"))):
        if "://" in target:
            continue
        there = page.parent / target if target else page
        assert there.exists(), f"{page.name} links to {target}"
        if place:
            assert place in anchors(there), f"{page.name} links to {target}#{place}"


def test_tests_that_pages_name_exist() -> None:
    for page in PAGES:
        for path, name in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", page.read_text("utf-8")):
            assert f"def {name}(" in (ROOT / path).read_text("utf-8"), f"{page.name}: {path}::{name}"


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


def print_counts() -> None:
    """How many blocks of each page are executed, and commands in them."""
    total: Counter[str] = Counter()
    for page in PAGES:
        counts = Counter("python" if block.language in PYTHON else block.language for block in blocks(page))
        counts["commands"] = sum(
            len(_COMMAND.findall(block.text)) for block in blocks(page) if block.language == "console"
        )
        total += counts
        print(f"{page.relative_to(ROOT)!s:<38}{counts['python']:>4} Python {counts['commands']:>4} commands")
    print(f"{'all':<38}{total['python']:>4} Python {total['commands']:>4} commands")


if __name__ == "__main__" and len(sys.argv) == 1:
    print_counts()
elif __name__ == "__main__":
    failed = run_python(Path(sys.argv[1]).resolve())
    sys.stdout.write(failed)
    sys.exit(bool(failed))
