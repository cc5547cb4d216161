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
from toolglot.codes import BROKEN, RAISES, code_info
from toolglot.errors import CODES, LOSSES, PROBLEMS, REPAIRS, Fault, ToolglotError
from toolglot.feedback import REMEDIES

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src" / "toolglot"
MODULES = sorted(SRC.rglob("*.py"))

# A module may import from its own level and the levels before it. A package stands for all that is in it.
LEVELS: list[set[str]] = [
    {"types", "events", "errors", "feedback", "finish", "history"},
    {"pattern"},
    {"format"},
    {"definition", "values", "engine", "repair", "response_template", "schema"},
    {"formats"},
    {"registry"},
    {"api", "grammars", "models", "rendering", "validation"},
    {"providers"},  # which read text inside a provider's content
    {"convert", "golden", "tools", "batch"},
    {"codes", "explanation"},
    {""},  # toolglot/__init__.py, the public surface
    {"cli", "playground", "__main__"},  # the playground answers with what the command line writes as JSON
]

# Files of more than 400 lines: why.
LONG: dict[str, str] = {
    "api.py": "the public functions on text with their options and docstrings",
    "errors.py": "the tree of errors and the tables of all codes, which the documentation is made from",
    "format.py": "what a format says of itself, and what of it cannot be meant",
    "pattern.py": "the vocabulary: each word is a class, for what reads it, and a function, for who writes it",
    "engine/compile.py": "a pattern becomes a program in one walk over its nodes",
    "engine/machine.py": "the state that every operation shares: feeding, the call being read, errors and recovery",
    "engine/ops.py": "the operations of the flat program: one small class each, all of one interface",
    "engine/finders.py": "the JSON and call-syntax tiers: three finders that share how candidates live and die",
    "engine/valueops.py": "the operations that read arguments: a value's closer depends on everything that may follow",
    "providers/_assembly.py": "what a stream has said so far: its calls begin, grow and end in one place",
    "providers/_base.py": "what every wire format does alike, in the order of its sections",
    "providers/_reading.py": "one message while it is read: what is found, what is lost, what is wrong",
    "providers/_write_stream.py": "how events become a stream: what waits, what is written, how it ends",
    "values/literal.py": "one resumable reader for six dialects of literals; its states belong together",
}

# Codes that nothing raises yet: the issue that will.
RESERVED: dict[str, str] = {}


_CODE = re.compile(
    r"(?:json|tool_call|reasoning|provider|schema|definition|conversion|batch|loss|history|coerce|repair)\.[a-z_]+\Z"
)


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
    if module_name(path) in ("batch.arrow", "batch.parquet", "batch.work"):
        allowed |= {"pyarrow"}
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
    # Isolated from the environment, so the path is given.
    code = "import sys; sys.path.insert(0, sys.argv[1]); import toolglot; print(*sys.modules)"
    command = [sys.executable, "-I", "-c", code, str(SRC.parent)]
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    loaded = {name.partition(".")[0] for name in result.stdout.split()}
    assert "toolglot" in loaded
    # (`inspect` comes with `dataclasses`.)
    assert not loaded & {"typer", "rich", "click", "pydantic", "asyncio", "unittest", "http", "ssl", "doctest"}


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


def test_no_submodule_hides_a_name() -> None:
    """`toolglot.formats` is a function, and a package is called so too: importing it must not take the name."""
    code = (
        "import importlib, sys, types\nimport toolglot\n"
        "for name in sys.argv[1:]: importlib.import_module(name)\n"
        "print([n for n in toolglot.__all__ if isinstance(getattr(toolglot, n), types.ModuleType)\n"
        "       and not (callable(getattr(toolglot, n)) and getattr(toolglot, n)())])"
    )
    names = [f"toolglot.{module_name(path)}".rstrip(".") for path in MODULES if path.parts[-2] != "cli"]
    command = [sys.executable, "-c", code, *names]
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout.strip() == "[]"


# -- error codes


def codes_in_source() -> dict[str, list[str]]:
    """Code: the places in src/ that spell it out, apart from the table itself."""
    found: dict[str, list[str]] = {}
    for path in MODULES:
        if path.relative_to(SRC).as_posix() == "codes.py":
            continue
        tree = ast.parse(path.read_text("utf-8"))
        tables = [
            node
            for node in tree.body
            if isinstance(node, ast.AnnAssign)
            and ast.unparse(node.target) in ("CODES", "LOSSES", "PROBLEMS", "REMEDIES", "REPAIRS")
        ]
        in_table = {id(node) for table in tables for node in ast.walk(table)}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or id(node) in in_table:
                continue
            if isinstance(node.value, str) and _CODE.match(node.value):
                found.setdefault(node.value, []).append(f"{path.name}:{node.lineno}")
    return found


def test_every_code_in_the_source_is_in_the_table() -> None:
    known = {**CODES, **LOSSES, **PROBLEMS, **REPAIRS}
    assert {code: places for code, places in codes_in_source().items() if code not in known} == {}


def test_every_code_is_raised_or_reserved() -> None:
    assert sorted([*BROKEN, *RAISES, *RESERVED]) == sorted(CODES)
    assert sorted(code for code in RESERVED if code in codes_in_source()) == [], "raised now: take it off RESERVED"


def test_every_loss_is_made() -> None:
    """Where each is made is tested in tests/test_schema.py and tests/test_providers.py."""
    assert sorted(set(LOSSES) - set(codes_in_source())) == []


def test_every_repair_is_made() -> None:
    """Where each is made is tested in tests/test_repair.py."""
    assert sorted(set(REPAIRS) - set(codes_in_source())) == []


@pytest.mark.parametrize("code", BROKEN)
def test_text_with_code(code: str) -> None:
    message = toolglot.parse(BROKEN[code], on_error="collect")
    assert [error.code for error in message.errors] == [code]
    assert message.tool_calls == []


@pytest.mark.parametrize("code", RAISES)
def test_raises_code(code: str) -> None:
    with pytest.raises((ToolglotError, Fault)) as info:
        RAISES[code].run()
    assert info.value.code == code


@pytest.mark.parametrize("code", RAISES)
def test_what_is_shown_raises_code(code: str) -> None:
    """What stands in the documentation for Python can be typed in; the rest is words."""
    try:
        shown = compile(RAISES[code].shown, code, "eval")
    except SyntaxError:
        assert code.startswith("batch.") or code in ("tool_call.trailing_characters", "definition.ambiguous_name")
        return
    with pytest.raises(ToolglotError) as info:
        eval(shown, {name: getattr(toolglot, name) for name in toolglot.__all__})
    assert info.value.code == code


def test_every_code_is_explained() -> None:
    for kind, table in (("error", CODES), ("loss", LOSSES), ("problem", PROBLEMS), ("repair", REPAIRS)):
        for code, meaning in table.items():
            found = code_info(code)
            assert found is not None
            assert (found.code, found.kind, found.meaning) == (code, kind, meaning)
            assert bool(found.example and found.advice and found.error) == (kind == "error")
            if code in REMEDIES:
                assert REMEDIES[code] in str(found.feedback)
            else:
                assert found.feedback is None
    assert code_info("json.no_such_code") is None


def test_every_code_is_documented() -> None:
    page = (ROOT / "docs" / "errors.md").read_text("utf-8")
    assert re.findall(r"^\| `([a-z_.]+)` \|", page, re.MULTILINE) == [*CODES, *LOSSES, *PROBLEMS, *REPAIRS]


# -- lengths


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_length(path: Path) -> None:
    name = path.relative_to(SRC).as_posix()
    lines = len(path.read_text("utf-8").splitlines())
    if path.parent.name == "formats" and path.name != "__init__.py":
        assert lines <= 60, f"{name} has {lines} lines; a format has at most 60"
    elif path.parent.name == "providers" and not path.name.startswith("_"):
        assert lines <= 480, f"{name} has {lines} lines; a wire format is one file of at most 480"
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
