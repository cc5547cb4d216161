"""The shape of the project: which way imports go, what is exported, codes, lengths."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import typing
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import toolglot
from batches import BATCHES
from toolglot.errors import CODES, LOSSES, PROBLEMS, REPAIRS, Fault, ToolglotError
from toolglot.values.dialect import PYTHON
from toolglot.values.literal import LiteralReader

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
    {""},  # toolglot/__init__.py, the public surface
    {"cli", "__main__"},
]

# Files of more than 400 lines: why.
LONG: dict[str, str] = {
    "api.py": "the public functions on text with their options and docstrings",
    "errors.py": "the tree of errors and the tables of all codes, which the documentation is made from",
    "pattern.py": "the vocabulary: each word is a class, for what reads it, and a function, for who writes it",
    "engine/compile.py": "a pattern becomes a program in one walk over its nodes",
    "engine/machine.py": "the state that every operation shares: buffer, positions, events, calls, errors, recovery",
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


def _hermes(arguments: str) -> str:
    return f'<tool_call>{{"name": "f", "arguments": {arguments}}}</tool_call>'


# Code: a text that has it, read without any options.
BROKEN: dict[str, str] = {
    "json.expected_value": _hermes('{"a": }'),
    "json.expected_key": _hermes("{a: 1}"),
    "json.expected_colon": _hermes('{"a" 1}'),
    "json.expected_comma": _hermes('{"a": 1 "b": 2}'),
    "json.trailing_comma": _hermes('{"a": 1,}'),
    "json.trailing_characters": '<tool_call>{"name": "f", "arguments": {}} x</tool_call>',
    "json.unexpected_end": '<tool_call>{"name": "f", "arguments": {"a": 1',
    "json.unterminated_string": '<tool_call>{"name": "f", "arguments": {"a": "b',
    "json.control_character": _hermes('{"a": "\n"}'),
    "json.invalid_escape": _hermes(r'{"a": "\x"}'),
    "json.invalid_unicode_escape": _hermes(r'{"a": "\u12"}'),
    "json.lone_surrogate": _hermes(r'{"a": "\ud800"}'),
    "json.invalid_literal": _hermes('{"a": nul}'),
    "json.invalid_number": _hermes('{"a": 01}'),
    "json.number_out_of_range": _hermes('{"a": 1e999}'),
    "json.number_too_long": _hermes('{"a": ' + "9" * 4301 + "}"),
    "json.duplicate_key": _hermes('{"a": 1, "a": 2}'),
    "json.too_deep": _hermes('{"a": ' + "[" * 513 + "]" * 513 + "}"),
    "tool_call.unrecognized": '<tool_call>{"a": 1}</tool_call>',
    "tool_call.invalid_name": '<tool_call>{"name": "", "arguments": {}}</tool_call>',
    "tool_call.invalid_arguments": _hermes("[1]"),
    "tool_call.ambiguous_arguments": '<tool_call>{"name": "f", "arguments": {}, "parameters": {}}</tool_call>',
    "tool_call.positional_argument": "<|python_tag|>f.call(a=1, 2)",
    "tool_call.duplicate_argument": "<|python_tag|>f.call(a=1, a=2)",
    "tool_call.expected_value": "<|python_tag|>f.call(a=)",
    "tool_call.expected_key": "<|python_tag|>f.call(a={1: 2})",
    "tool_call.expected_colon": '<|python_tag|>f.call(a={"a" 2})',
    "tool_call.expected_comma": "<|python_tag|>f.call(a=1 b=2)",
    "tool_call.expected_markup": '<invoke name="f">x</invoke>',
    "tool_call.duplicate_key": '<|python_tag|>f.call(a={"a": 1, "a": 2})',
    "tool_call.invalid_escape": r'<|python_tag|>f.call(a="\xg")',
    "tool_call.unterminated_string": '<|python_tag|>f.call(a="b\n")',
    "tool_call.unexpected_end": "<|python_tag|>f.call(a=[",
    "reasoning.unclosed": "<think>I call it. <|python_tag|>f.call()",
}


def _ambiguous() -> None:
    """A parser name that two engines give to different formats; the registry is one of its own."""
    from toolglot.registry import Registry

    registry = Registry()
    pattern = toolglot.get_format("glm47").pattern
    registry.add(toolglot.Format(pattern, id="another", engines={"another_engine": ("qwen25",)}))
    registry.resolve("qwen25")


def _broken(stream: bytes) -> None:
    """What stands in a stream for an event that is none."""
    from toolglot.providers._frames import Frames

    frames = Frames(100)
    [broken] = frames.feed(stream) + frames.close()
    raise broken.error


def _tool(type_: str) -> toolglot.Tool:
    return toolglot.Tool("f", parameters={"properties": {"a": {"type": type_}}})


# Code: what raises it, where a text alone does not.
RAISES: dict[str, Callable[[], object]] = {
    "tool_call.not_found": lambda: toolglot.parse_tool_call("prose"),
    "tool_call.multiple": lambda: toolglot.parse_tool_call("f(a=1) g(a=1)"),
    "tool_call.unknown_tool": lambda: toolglot.parse(_hermes("{}"), tools=["g"]),
    # Of Python's dialect; no format has a value that is one number and nothing else, so only the reader says it.
    "tool_call.trailing_characters": lambda: LiteralReader(PYTHON, 0).feed("1-2", 0, final=True),
    "tool_call.truncated": lambda: toolglot.parse('<tool_call>{"name": "f', finish_reason="length"),
    "tool_call.limit": lambda: toolglot.parse(_hermes("{}") * 3, limits=toolglot.Limits(calls=2)),
    "provider.invalid_encoding": lambda: toolglot.parse_response(b"\xff"),
    "provider.invalid_event": lambda: _broken(b"data: {,}\n\n"),
    "provider.truncated_event": lambda: _broken(b'data: {"a'),
    "provider.event_after_end": lambda: list(
        toolglot.iter_events([{"message": {"content": "a"}, "done": True}, {"message": {"content": "b"}}], "ollama")
    ),
    "provider.stream_incomplete": lambda: list(toolglot.iter_events([{"message": {"content": "a"}}], "ollama")),
    "provider.error_response": lambda: toolglot.parse_response({"error": {"message": "Overloaded"}}),
    "schema.violation": lambda: toolglot.parse(_hermes('{"a": 1}'), tools=[_tool("string")], validate=True),
    "schema.invalid": lambda: toolglot.parse("prose", tools=[_tool("strin")], validate=True),
    "definition.unknown_provider": lambda: toolglot.get_provider("no such provider"),
    "definition.unknown_format": lambda: toolglot.get_format("no such format"),
    "definition.ambiguous_name": _ambiguous,
    "definition.invalid_pattern": lambda: toolglot.Format("<call>"),
    "definition.invalid_tool": lambda: toolglot.Tool.from_any({}),
    "definition.invalid_function": lambda: toolglot.Tool.from_function(lambda *arguments: None),
    "conversion.unsafe_value": lambda: toolglot.render([toolglot.ToolCall("f", {"a": '<|"|>, b'})], "gemma4"),
    "conversion.missing_id": lambda: toolglot.get_provider("openai").results(toolglot.ToolResult(None, "x")),
    "conversion.missing_name": lambda: toolglot.get_provider("google").results(toolglot.ToolResult("a", "x")),
    "conversion.lossy": lambda: toolglot.get_provider("openai").tools(toolglot.Tool("a.b"), strict=True),
    "conversion.unsupported": lambda: toolglot.render([toolglot.ToolCall("f", kind="custom", input="x")], "hermes"),
}

RAISES |= BATCHES

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
        if path.relative_to(SRC).as_posix() == "cli/hints.py":
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
        RAISES[code]()
    assert info.value.code == code


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
