"""The shape of the project: which way imports go, what is exported, codes, lengths."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest

import toolglot
from toolglot.errors import CODES

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src" / "toolglot"
MODULES = sorted(SRC.rglob("*.py"))

# A module may import from its own level and the levels before it. A package stands for all that is in it.
LEVELS: list[set[str]] = [
    {"types", "events", "errors"},
    {"pattern", "format"},
    {"engine", "values", "definition"},
    {"formats", "providers"},
    {"registry", "api"},
    {"convert", "tools", "batch"},
    {""},  # toolglot/__init__.py, the public surface
    {"cli"},
]

# Files of more than 400 lines: why.
LONG: dict[str, str] = {}

# Codes that nothing raises yet: the issue that will.
RESERVED: dict[str, str] = {}

_CODE = re.compile(r"(?:json|tool_call|reasoning|provider|schema|definition|conversion)\.[a-z_]+\Z")


def module_name(path: Path) -> str:
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def level(module: str) -> int:
    top = module.partition(".")[0]
    for number, names in enumerate(LEVELS):
        if top in names:
            return number
    raise AssertionError(f"{module}: say in LEVELS where it belongs")


def imports(path: Path, *, when_run: bool = False) -> Iterator[tuple[str, int]]:
    """Modules of toolglot that a file imports, with the line. ``when_run``: only those that importing it imports."""
    package = ["toolglot", *path.relative_to(SRC).parent.parts]
    for node in _nodes(ast.parse(path.read_text("utf-8")), when_run):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _inner(alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base += node.module.split(".") if node.module else []
            for alias in node.names:
                name = ".".join([*base, alias.name])
                known = (SRC.parent / name.replace(".", "/")).with_suffix(".py").exists() or (
                    SRC.parent / name.replace(".", "/")
                ).is_dir()
                yield from _inner(name if known else ".".join(base), node.lineno)


def _inner(name: str, line: int) -> Iterator[tuple[str, int]]:
    if name.split(".", maxsplit=1)[0] == "toolglot":
        yield name.partition(".")[2], line


def _nodes(tree: ast.AST, when_run: bool) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue  # types may be named in any direction
        if when_run and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        yield node
        yield from _nodes(node, when_run)


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_imports_go_one_way(path: Path) -> None:
    here = module_name(path)
    wrong = [
        f"{path.name}:{line} imports toolglot.{other}"
        for other, line in imports(path)
        if level(other) > level(here) and other != here
    ]
    assert wrong == []


def test_no_import_cycles() -> None:
    graph = {module_name(path): {other for other, _ in imports(path, when_run=True)} for path in MODULES}
    done: set[str] = set()

    def visit(module: str, trail: tuple[str, ...]) -> None:
        assert module not in trail, " -> ".join((*trail[trail.index(module) :], module))
        if module not in done:
            for other in sorted(graph.get(module, ())):
                if other != module:
                    visit(other, (*trail, module))
            done.add(module)

    for module in sorted(graph):
        visit(module, ())


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_only_the_standard_library(path: Path) -> None:
    """The library needs nothing; the command line needs its extra."""
    allowed = {*sys.stdlib_module_names, "toolglot"}
    if module_name(path).startswith("cli"):
        allowed |= {"typer", "rich"}
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        else:
            continue
        for name in names:
            assert name.split(".")[0] in allowed, f"{path.name}:{node.lineno} imports {name}"


def test_importing_loads_only_what_is_needed() -> None:
    code = "import sys, toolglot; print('\\n'.join(sorted(m.split('.')[0] for m in sys.modules)))"
    result = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=60)
    loaded = set(result.stdout.split())
    assert not loaded & {"typer", "rich", "click", "pydantic", "asyncio", "inspect", "unittest", "http", "ssl"}


# -- what is exported


def test_all_is_sorted_and_complete() -> None:
    names = toolglot.__all__
    assert names == sorted(set(names))
    assert [name for name in names if not hasattr(toolglot, name)] == []


@pytest.mark.parametrize("name", toolglot.__all__)
def test_export_has_a_docstring(name: str) -> None:
    value = getattr(toolglot, name)
    if not (inspect.isclass(value) or inspect.isfunction(value) or inspect.ismodule(value)):
        return  # an alias of a type, or a constant
    # A dataclass without one gets its signature.
    doc = inspect.getdoc(value) or ""
    assert doc, f"{name} has no docstring"
    assert not doc.startswith(f"{name}("), f"{name} has no docstring"
    if inspect.isclass(value):
        for attribute, member in vars(value).items():
            if attribute.startswith("_"):
                continue
            function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
            function = function.fget if isinstance(function, property) else function
            if inspect.isfunction(function):
                assert inspect.getdoc(function), f"{name}.{attribute} has no docstring"


def test_event_union_is_exported() -> None:
    assert {event.__name__ for event in typing.get_args(toolglot.Event)} <= set(toolglot.__all__)


# -- error codes


def codes_in_source() -> dict[str, list[str]]:
    """Code: the places in src/ that name it, apart from the table itself."""
    found: dict[str, list[str]] = {}
    for path in MODULES:
        if path.relative_to(SRC).as_posix() == "cli/hints.py":
            continue
        tree = ast.parse(path.read_text("utf-8"))
        table = next(
            (node for node in tree.body if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "CODES"),
            None,
        )
        in_table = set(map(id, ast.walk(table))) if table is not None else set()
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or id(node) in in_table:
                continue
            if isinstance(node.value, str) and _CODE.match(node.value):
                found.setdefault(node.value, []).append(f"{path.name}:{node.lineno}")
    return found


def test_every_code_in_the_source_is_in_the_table() -> None:
    assert {code: places for code, places in codes_in_source().items() if code not in CODES} == {}


def test_every_code_is_raised_or_reserved() -> None:
    used = set(codes_in_source())
    assert sorted(code for code in CODES if code not in used and code not in RESERVED) == []
    assert sorted(code for code in RESERVED if code in used) == [], "raised now: take it off RESERVED"


def test_every_code_is_documented() -> None:
    page = (ROOT / "docs" / "errors.md").read_text("utf-8")
    assert re.findall(r"^\| `([a-z_.]+)` \|", page, re.MULTILINE) == list(CODES)


# -- lengths


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_length(path: Path) -> None:
    name = path.relative_to(SRC).as_posix()
    lines = len(path.read_text("utf-8").splitlines())
    if path.parent.name == "formats" and path.name != "__init__.py":
        assert lines <= 60, f"{name} has {lines} lines; a format has at most 60"
    elif name in LONG:
        assert lines > 400, f"{name} has {lines} lines: take it off LONG"
    else:
        assert lines <= 400, f"{name} has {lines} lines: split it, or say why not in LONG"


def test_long_files_exist() -> None:
    assert [name for name in LONG if not (SRC / name).exists()] == []


def test_no_broad_except() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in [*MODULES, *sorted((ROOT / "scripts").glob("*.py"))]
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in ("Exception", "BaseException"))
    ]
    assert found == []


def test_nothing_is_evaluated() -> None:
    """Rule 10: text never becomes code, and data never names an import."""
    forbidden = {"eval", "exec", "compile", "__import__", "literal_eval"}
    found = []
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                if called in forbidden or called in ("ast.literal_eval", "pickle.loads", "marshal.loads"):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno} {called}")
    assert found == []
