"""Grammars in the engines that they are for: llama.cpp, XGrammar and llguidance accept what is rendered and refuse the
rest.

Needs the extra ``grammar``; an engine that is not installed is skipped. ``.ci/full`` runs it. As a script it prints how
many texts of each format each engine accepted and refused.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

import grammar_cases as cases_of
import toolglot
from grammar_cases import FORMATS, GENERAL, RIGHT, TOOLS

Accepts = Callable[[str], bool]


def xgrammar_ebnf(grammar: str) -> Accepts:
    xgrammar = pytest.importorskip("xgrammar")
    compiled = xgrammar.Grammar.from_ebnf(grammar)
    return lambda text: bool(xgrammar.testing._is_grammar_accept_string(compiled, text))


def xgrammar_tag(grammar: str) -> Accepts:
    xgrammar = pytest.importorskip("xgrammar")
    compiled = xgrammar.Grammar.from_structural_tag(grammar)
    return lambda text: bool(xgrammar.testing._is_grammar_accept_string(compiled, text))


class _Bytes:
    """The tokenizer whose tokens are bytes."""

    eos_token_id = 256
    bos_token_id = None
    special_token_ids = [256]  # noqa: RUF012 (llguidance reads attributes)
    tokens = [*(bytes((i,)) for i in range(256)), b"<eos>"]  # noqa: RUF012

    def __call__(self, text: str | bytes) -> list[int]:
        return list(text if isinstance(text, bytes) else text.encode())


@cache
def _tokenizer() -> Any:
    llguidance = pytest.importorskip("llguidance")
    wrapper = pytest.importorskip("llguidance._tokenizer").TokenizerWrapper(_Bytes())
    return llguidance.LLTokenizer(wrapper, n_vocab=257)


def llguidance_lark(grammar: str) -> Accepts:
    llguidance = pytest.importorskip("llguidance")
    compiled = llguidance.LLMatcher(_tokenizer(), llguidance.LLMatcher.grammar_from_lark(grammar))
    assert not compiled.is_error(), compiled.get_error()

    def accepts(text: str) -> bool:
        matcher = compiled.deep_copy()
        tokens = list(text.encode())
        count = matcher.try_consume_tokens(tokens)
        assert not matcher.is_error(), matcher.get_error()
        return count == len(tokens) and bool(matcher.is_accepting())

    return accepts


@cache
def _llama() -> tuple[Any, ...]:
    """llama.cpp's own functions: the wheel of ``xllamacpp`` holds the library with its symbols."""
    module = pytest.importorskip("xllamacpp.xllamacpp")
    library = ctypes.PyDLL(module.__file__)
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    init = library["_Z23llama_grammar_init_implPK11llama_vocabPKcS3_bPS3_mPKim"]
    init.restype = pointer
    init.argtypes = [pointer, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_bool, pointer, size, pointer, size]
    accept = library["_Z20llama_grammar_acceptP13llama_grammarj"]
    accept.restype, accept.argtypes = None, [pointer, ctypes.c_uint32]
    stacks = library["_Z24llama_grammar_get_stacksP13llama_grammar"]
    stacks.restype, stacks.argtypes = ctypes.POINTER(size * 3), [pointer]
    free = library["_Z23llama_grammar_free_implP13llama_grammar"]
    free.restype, free.argtypes = None, [pointer]
    return init, accept, stacks, free


def llama_gbnf(grammar: str) -> Accepts:
    init, accept, stacks, free = _llama()

    def accepts(text: str) -> bool:
        state = init(None, grammar.encode(), b"root", False, None, 0, None, 0)
        assert state, "llama.cpp cannot read the grammar"
        try:
            for char in text:
                accept(state, ord(char))
                begin, end, _ = stacks(state).contents
                if begin == end:
                    return False  # no stack is left
            begin, end, _ = stacks(state).contents
            # The text may end where a stack is empty. A stack is a vector: three pointers.
            vector = ctypes.c_size_t * 3
            ways = (vector.from_address(at) for at in range(begin, end, ctypes.sizeof(vector)))
            return any(way[0] == way[1] for way in ways)
        finally:
            free(state)

    return accepts


ENGINES: dict[str, tuple[Any, Callable[[str], Accepts]]] = {
    "llama.cpp": ("gbnf", llama_gbnf),
    "xgrammar-ebnf": ("gbnf", xgrammar_ebnf),
    "xgrammar-tag": ("structural_tag", xgrammar_tag),
    "llguidance": ("lark", llguidance_lark),
}
each_engine = pytest.mark.parametrize("engine", ENGINES)
each_format = pytest.mark.parametrize("format", GENERAL)


def compiled(engine: str, format: str, tools: Any, tool_choice: str = "required") -> Accepts:
    kind, compile = ENGINES[engine]
    return compile(toolglot.grammar(tools, format, kind, tool_choice=tool_choice))


def judged(engine: str, format: str) -> Iterator[tuple[str, str, bool, bool]]:
    """Each text of a format: what it is, the text, whether it has to be accepted, whether it is."""
    known: dict[str, Accepts] = {}
    for case in cases_of.cases(format):
        accepts = known.setdefault(repr(case.tools), compiled(engine, format, case.tools))
        if not cases_of.excused(format, case):
            yield case.name, case.text, True, accepts(case.text)
        yield case.name + "/cut", case.text[:-1], False, accepts(case.text[:-1])
    if format not in GENERAL:  # it writes no tool but its own
        return
    accepts = compiled(engine, format, cases_of.tools(format))
    for what, text in cases_of.right(format).items():
        yield what, text, True, accepts(text)
    for what, text in cases_of.wrong(format).items():
        yield what, text, False, accepts(text)
    for what, tool, right, wrong in cases_of.schema_cases(format):
        accepts = compiled(engine, format, [tool])
        for text in right:
            yield what, text, True, accepts(text)
        for text in wrong:
            yield what, text, False, accepts(text)


@each_engine
@pytest.mark.parametrize("format", FORMATS)
def test_calls_only(engine: str, format: str) -> None:
    found = list(judged(engine, format))
    assert [(what, text, "accepted" if is_ else "refused") for what, text, should, is_ in found if should != is_] == []
    assert sum(should for _, _, should, _ in found) > 10


@each_engine
@each_format
def test_samples(engine: str, format: str) -> None:
    """Every engine says what the tree says, of texts made from it and of the same with one character changed.

    Where XGrammar is given a JSON Schema it also takes other white space than ours.
    """
    schemas = [case.schema for case in cases_of.SCHEMAS.values()]
    tools = cases_of.tools(format)
    tools += ({"name": cases_of.named(format, f"f{i}"), "parameters": schema} for i, schema in enumerate(schemas))
    node, rules = cases_of.tree(tools, format)
    accepts = compiled(engine, format, tools)
    near = cases_of.hints(node, rules)
    for seed in range(40):
        sampler = cases_of.Sampler(rules, seed, near)
        text = sampler.text(node)
        assert accepts(text), text
        at = sampler.random.randrange(len(text))
        changed = text[:at] + sampler.random.choice(["", text[at] * 2, "x", '"', "<", " "]) + text[at + 1 :]
        if engine != "xgrammar-tag" or cases_of.accepts(node, rules, changed):
            assert accepts(changed) == cases_of.accepts(node, rules, changed), changed


@pytest.mark.parametrize("engine", ["xgrammar-tag", "llguidance"])
@each_format
def test_text_around_calls(engine: str, format: str) -> None:
    """With ``auto`` the same grammar leaves text alone until a trigger comes, and holds a call from there."""
    accepts = compiled(engine, format, cases_of.tools(format), "auto")
    start = toolglot.get_format(format).start
    triggers = toolglot.grammar_triggers(cases_of.tools(format), format)
    for prose in ("", "Hello.", "a < b, [c] {d} (e)\n\n", "<tool"):
        assert accepts(prose)
        for what, text in cases_of.right(format).items():
            assert accepts(prose + text) == (not start or not prose), (what, prose + text)
        for what, text in cases_of.wrong(format).items():
            if any(trigger in text for trigger in triggers):
                assert not accepts(prose + text), (what, prose + text)


@each_engine
@each_format
def test_one_tool_and_one_call(engine: str, format: str) -> None:
    choice = toolglot.ToolChoice("named", (cases_of.named(format, "ping"),), parallel=False)
    tools = cases_of.tools(format)
    ping, weather = (cases_of.calls(format, RIGHT[what]) for what in ("none", "required only"))
    kind, compile = ENGINES[engine]
    accepts = compile(toolglot.grammar(tools, format, kind, tool_choice=choice))
    one = toolglot.render(ping, format)
    two = cases_of.text_of(ping * 2, format)
    assert accepts(one)
    assert two is None or not accepts(two)
    assert not accepts(toolglot.render(weather, format))
    if engine in ("xgrammar-tag", "llguidance"):
        accepts = compile(toolglot.grammar(tools, format, kind, tool_choice=toolglot.ToolChoice(parallel=False)))
        assert accepts("Hello.")
        assert accepts(one)
        assert two is None or not accepts(two)


@pytest.mark.parametrize("engine", ["xgrammar-tag", "llguidance"])
@each_format
def test_content(engine: str, format: str) -> None:
    """With ``auto`` it holds what the format writes around text, with and without calls, behind the prompt or whole."""
    accepts = compiled(engine, format, cases_of.tools(format), "auto")
    fmt = toolglot.get_format(format)
    for calls in ([], cases_of.calls(format, RIGHT["none"])):
        text = toolglot.render(calls, format, content="Hello.", check=False)
        assert accepts(text) == (not fmt.start or not calls), text
        assert accepts(text.removeprefix(fmt.prompt)) == (not fmt.start or not calls), text


MANY = "hermes python pythonic dsml_v32 qwen3_coder minimax_m3 minicpm5 cohere_cofl cohere_command_r seed_oss cline_xml"


@each_engine
@pytest.mark.parametrize("format", [*MANY.split(), "sarashina", "muse_atem", "langchain_xml", "inkling"])
def test_many_tools(engine: str, format: str) -> None:
    """Forty tools of eight arguments each stay below the engines' limits, and are compiled in seconds."""
    schemas = [
        {"type": "string"},
        {"type": "integer"},
        {"type": "array", "items": {"type": "string"}},
        {"type": "object"},
    ]
    tools = [
        {"name": f"tool_{i}", "parameters": {"properties": {f"p{j}": schemas[(i + j) % 4] for j in range(8)}}}
        for i in range(40)
    ]
    text = toolglot.render([toolglot.ToolCall("tool_0", {"p0": "x", "p1": 1}, id="call00001")], format)
    for choice in ("required", "auto"):
        assert compiled(engine, format, tools, choice)(text)


@each_engine
def test_awkward_names(engine: str) -> None:
    """What has to be escaped in each language: quotes, backslashes, brackets, slashes, letters beyond ASCII."""
    for key in ('a"b', "a\\b", "a]b^c-d[", "/a/", "é\u2028😀", "a\nb", "#", "$x|y*"):
        tool = {
            "name": "f",
            "parameters": {"type": "object", "properties": {key: {"enum": [key, 1]}}, "required": [key]},
        }
        accepts = compiled(engine, "hermes", [tool])
        assert accepts(toolglot.render([toolglot.ToolCall("f", {key: key})], "hermes")), key
        assert not accepts(toolglot.render([toolglot.ToolCall("f", {key: key + "x"})], "hermes")), key
        assert not accepts(toolglot.render([toolglot.ToolCall("f", {key + "x": 1})], "hermes")), key


@each_engine
def test_names_of_tools(engine: str) -> None:
    """Rules are named after tools; a tool may be called anything."""
    for name in ("天気", "3d", "get-weather.v2", "start", "root", "_"):
        tools = [{**TOOLS[0], "name": name}, TOOLS[1]]
        accepts = compiled(engine, "mistral_v13", tools)
        assert accepts(toolglot.render([toolglot.ToolCall(name, {"city": "x", "days": 1})], "mistral_v13")), name


def matrix() -> None:
    """Prints the counts."""
    print(f"{'format':15}" + "".join(f"{engine:>22}" for engine in ENGINES))
    for format in FORMATS:
        row = []
        for engine in ENGINES:
            found = list(judged(engine, format))
            right = [is_ for _, _, should, is_ in found if should]
            wrong = [not is_ for _, _, should, is_ in found if not should]
            row.append(f"{sum(right)}/{len(right)} {sum(wrong)}/{len(wrong)}")
        print(f"{format:15}" + "".join(f"{cell:>22}" for cell in row), flush=True)


if __name__ == "__main__":
    sys.exit(matrix())
