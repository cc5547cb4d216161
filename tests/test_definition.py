"""`Tool`: from functions, classes and every API's definitions; `ToolChoice` from every API's words."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, NewType, Optional, TypedDict

import msgspec
import pydantic
import pytest

import toolglot
from toolglot import DefinitionError, Tool, ToolChoice
from toolglot.definition.reading import read_tools


class Unit(enum.Enum):
    C = "c"
    F = "f"


@dataclasses.dataclass
class Node:
    """A node of a tree."""

    value: int
    children: list[Node] = dataclasses.field(default_factory=list)


class Place(TypedDict, total=False):
    city: str
    country: str


class Point(NamedTuple):
    x: float
    y: float = 0.0


class MsgspecLeaf(msgspec.Struct):
    size: Annotated[int, msgspec.Meta(ge=1, description="How big.")] = 1


class MsgspecBranch(msgspec.Struct):
    """A branch."""

    leaf: MsgspecLeaf
    names: list[str]


UserId = NewType("UserId", int)


def parameters_of(annotation: Any) -> Any:
    def function(value: Any) -> None: ...

    function.__annotations__["value"] = annotation
    schema = Tool.from_function(function).parameters
    return schema["properties"]["value"]


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, {"type": "string"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (UserId, {"type": "integer"}),
        (dt.datetime, {"type": "string", "format": "date-time"}),
        (list, {"type": "array", "items": {}}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (Sequence[str], {"type": "array", "items": {"type": "string"}}),
        (set[int], {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (
            tuple[int, str],
            {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2},
        ),
        (dict, {"type": "object"}),
        (dict[str, Any], {"type": "object"}),
        (Mapping[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal["a", 1, None], {"type": ["string", "integer", "null"], "enum": ["a", 1, None]}),  # noqa: PYI061
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (Optional[int | str], {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]}),  # noqa: UP045
        (int | Any, {}),
        (Annotated[int, "How many."], {"type": "integer", "description": "How many."}),
        (Unit, {"$ref": "#/$defs/Unit"}),
    ],
)
def test_annotation(annotation: Any, schema: Any) -> None:
    assert parameters_of(annotation) == schema


@pytest.mark.parametrize("annotation", [complex, type, "NoSuchName", list[complex]])
def test_annotation_without_a_schema(annotation: Any) -> None:
    with pytest.raises(DefinitionError) as info:
        parameters_of(annotation)
    assert info.value.code == "definition.invalid_function"
    assert "value" in str(info.value) or "NoSuchName" in str(info.value)


def google(city: str, unit: Literal["c", "f"] = "c", *, days: int | None = None) -> dict[str, Any]:
    """Get the weather.

    For one city.

    Args:
        city (str): Where: a city,
            or a town.
        unit: The unit.
    Keyword Args:
        days (int, optional): How many.

    Returns:
        dict: nothing: of interest.
    """
    return {}


def numpy(city: str, unit: Literal["c", "f"] = "c", *, days: int | None = None) -> dict[str, Any]:
    """Get the weather.

    For one city.

    Parameters
    ----------
    city : str
        Where: a city,
        or a town.
    unit : {"c", "f"}
        The unit.
    days : int, optional
        How many.

    Returns
    -------
    city
        Nothing of interest.
    """
    return {}


def rest(city: str, unit: Literal["c", "f"] = "c", *, days: int | None = None) -> dict[str, Any]:
    """Get the weather.

    For one city.

    :param str city: Where: a city,
        or a town.
    :param unit: The unit.
    :type unit: str
    :param days: How many.
    :returns: Nothing of interest.
    :raises ValueError: never
    """
    return {}


WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Where: a city, or a town."},
        "unit": {"type": "string", "enum": ["c", "f"], "description": "The unit.", "default": "c"},
        "days": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "How many.", "default": None},
    },
    "required": ["city"],
}


@pytest.mark.parametrize("function", [google, numpy, rest])
def test_docstring_styles(function: Any) -> None:
    tool = Tool.from_function(function)
    assert tool == Tool(function.__name__, "Get the weather.\n\nFor one city.", WEATHER)


def test_prose_with_a_colon_is_no_section() -> None:
    def function(a: int) -> None:
        """Do it.

        Note: a: is not a parameter here.
        Args is not a heading either.
        """

    tool = Tool.from_function(function)
    assert tool.description.endswith("Args is not a heading either.")
    assert tool.parameters["properties"] == {"a": {"type": "integer"}}


def test_function_kinds() -> None:
    class Service:
        def method(self, a: int) -> None:
            """Bound."""

        def __call__(self, b: str) -> None:
            """Called."""

    async def later(c: bool) -> None: ...

    assert Tool.from_function(Service().method).parameters["required"] == ["a"]
    assert Tool.from_function(Service()).parameters["required"] == ["b"]
    assert Tool.from_function(Service()).name == "Service"
    assert Tool.from_function(later).parameters["required"] == ["c"]
    bound = Tool.from_function(functools.partial(google, "Oslo", unit="f"))
    assert bound.name == "google"
    assert list(bound.parameters["properties"]) == ["unit", "days"]
    assert bound.parameters["properties"]["unit"]["default"] == "f"


def test_keyword_arguments_are_additional_properties() -> None:
    def function(**rest: int) -> None: ...

    assert Tool.from_function(function).parameters["additionalProperties"] == {"type": "integer"}


def test_positional_only_is_refused() -> None:
    def function(a: int, /) -> None: ...

    with pytest.raises(DefinitionError, match=r"function\(a\).*positional only"):
        Tool.from_function(function)


def test_recursive_dataclass() -> None:
    def function(tree: Node) -> None: ...

    schema = Tool.from_function(function).parameters
    assert schema["properties"] == {"tree": {"$ref": "#/$defs/Node"}}
    assert schema["$defs"]["Node"] == {
        "type": "object",
        "properties": {
            "value": {"type": "integer"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
        },
        "required": ["value"],
    }


def test_dataclass() -> None:
    tool = Tool.from_model(Node)
    assert (tool.name, tool.description) == ("Node", "A node of a tree.")
    assert tool.parameters["required"] == ["value"]
    assert "Node" in tool.parameters["$defs"]


def test_typed_dict_and_named_tuple() -> None:
    assert Tool.from_model(Place).parameters == {
        "type": "object",
        "properties": {"city": {"type": "string"}, "country": {"type": "string"}},
    }
    point = Tool.from_model(Point, name="move", description="Move there.")
    assert (point.name, point.description) == ("move", "Move there.")
    assert point.parameters["required"] == ["x"]
    assert Tool.from_model(Point).description == ""


def test_pydantic_model() -> None:
    class Leaf(pydantic.BaseModel):
        size: Annotated[int, pydantic.Field(ge=1, description="How big.")] = 1

    class Branch(pydantic.BaseModel):
        """A branch."""

        leaf: Leaf
        inner: Branch | None = None

    Branch.model_rebuild(_types_namespace={"Branch": Branch, "Leaf": Leaf})
    tool = Tool.from_model(Branch)
    assert (tool.name, tool.description) == ("Branch", "A branch.")
    assert tool.parameters["properties"]["leaf"] == {"$ref": "#/$defs/Leaf"}
    assert tool.parameters["$defs"]["Leaf"]["properties"]["size"]["minimum"] == 1
    assert tool.parameters["properties"]["inner"]["anyOf"][0] == {"$ref": "#/$defs/Branch"}
    assert "leaf" in tool.parameters["$defs"]["Branch"]["properties"]
    assert parameters_of(Annotated[int, pydantic.Field(ge=1, le=9, description="x")]) == {
        "type": "integer",
        "minimum": 1,
        "maximum": 9,
        "description": "x",
    }


def test_msgspec_struct() -> None:
    tool = Tool.from_model(MsgspecBranch)
    assert (tool.name, tool.description) == ("MsgspecBranch", "A branch.")
    assert tool.parameters["required"] == ["leaf", "names"]
    assert tool.parameters["properties"]["leaf"] == {"$ref": "#/$defs/MsgspecLeaf"}
    assert tool.parameters["$defs"] == {
        "MsgspecLeaf": {
            "title": "MsgspecLeaf",
            "type": "object",
            "properties": {"size": {"type": "integer", "minimum": 1, "description": "How big.", "default": 1}},
            "required": [],
        }
    }


def test_a_model_that_its_library_cannot_describe() -> None:
    class Model(pydantic.BaseModel):
        call: Callable[[], None]

    class Struct(msgspec.Struct):
        value: Nowhere  # noqa: F821

    for model in (Model, Struct):
        with pytest.raises(DefinitionError, match=model.__name__):
            Tool.from_model(model)


def test_what_is_no_model() -> None:
    with pytest.raises(DefinitionError):
        Tool.from_model(int)


SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
BEDROCK = {"name": "w", "description": "Weather", "inputSchema": {"json": SCHEMA}}


@pytest.mark.parametrize(
    "definition",
    [
        {"type": "function", "function": {"name": "w", "description": "Weather", "parameters": SCHEMA}},
        {"type": "function", "name": "w", "description": "Weather", "parameters": SCHEMA},
        {"name": "w", "description": "Weather", "input_schema": SCHEMA},
        {"type": "custom", "name": "w", "description": "Weather", "input_schema": SCHEMA},
        {"name": "w", "description": "Weather", "parameters": SCHEMA},
        {"name": "w", "description": "Weather", "parametersJsonSchema": SCHEMA},
        {"functionDeclarations": [{"name": "w", "description": "Weather", "parametersJsonSchema": SCHEMA}]},
        [{"function_declarations": [{"name": "w", "description": "Weather", "parameters_json_schema": SCHEMA}]}],
        {"toolSpec": BEDROCK},
        {
            "toolConfig": {
                "tools": [{"toolSpec": {"name": "w", "description": "Weather", "inputSchema": {"json": SCHEMA}}}]
            }
        },
        {"tools": [{"name": "w", "description": "Weather", "inputSchema": SCHEMA}]},
        {
            "name": "w",
            "description": "Weather",
            "parameter_definitions": {"city": {"type": "str", "required": True}},
        },
    ],
)
def test_every_definition_shape(definition: Any) -> None:
    assert read_tools(definition) == [Tool("w", "Weather", SCHEMA)]


def test_what_else_a_definition_says_is_kept_for_its_api() -> None:
    tool = Tool.from_any({"name": "w", "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}})
    assert tool.extra == {"anthropic": {"cache_control": {"type": "ephemeral"}}}
    tool = Tool.from_any({"name": "w", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}})
    assert tool.extra == {"mcp": {"annotations": {"readOnlyHint": True}}}


def test_custom_and_server_tools() -> None:
    custom = Tool.from_any({"type": "custom", "name": "sql", "format": {"type": "text"}})
    assert (custom.kind, custom.extra) == ("custom", {"openai_responses": {"format": {"type": "text"}}})
    custom = Tool.from_any({"type": "custom", "custom": {"name": "sql"}})
    assert (custom.name, custom.kind) == ("sql", "custom")
    server = Tool.from_any({"type": "web_search", "filters": {}})
    assert (server.name, server.kind) == ("web_search", "server")
    assert server.extra == {"openai_responses": {"type": "web_search", "filters": {}}}
    server = Tool.from_any({"type": "web_search_20250305", "name": "web_search"})
    assert (server.name, server.extra) == (
        "web_search",
        {"anthropic": {"type": "web_search_20250305", "name": "web_search"}},
    )


@pytest.mark.parametrize(
    "definition",
    [{}, {"name": ""}, {"name": 1}, {"function": {}}, {"name": "w", "parameters": 3}, {"name": "w", "description": 1}],
)
def test_wrong_definition(definition: Any) -> None:
    with pytest.raises(DefinitionError) as info:
        Tool.from_any(definition)
    assert info.value.code == "definition.invalid_tool"


def test_the_text_engine_takes_functions() -> None:
    text = '<tool_call>{"name": "google", "arguments": {"city": "Oslo"}}</tool_call>'
    assert toolglot.parse(text, tools=google).tool_calls[0].name == "google"
    with pytest.raises(toolglot.ParseError, match="no tool 'google'"):
        toolglot.parse(text, tools=[numpy, rest])


@pytest.mark.parametrize(
    ("choice", "read"),
    [
        (None, ToolChoice("auto")),
        ("auto", ToolChoice("auto")),
        ("any", ToolChoice("required")),
        ("REQUIRED", ToolChoice("required")),
        ("validated", ToolChoice("auto")),
        ("get_weather", ToolChoice("named", ("get_weather",))),
        (["a", "b"], ToolChoice("named", ("a", "b"))),
        ({"type": "function", "function": {"name": "f"}}, ToolChoice("named", ("f",))),
        ({"type": "function", "name": "f"}, ToolChoice("named", ("f",))),
        ({"type": "custom", "custom": {"name": "f"}}, ToolChoice("named", ("f",))),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "f"}}]},
            },
            ToolChoice("auto", ("f",)),
        ),
        (
            {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "f"}]},
            ToolChoice("named", ("f",)),
        ),
        ({"type": "any", "disable_parallel_tool_use": True}, ToolChoice("required", (), False)),
        ({"type": "tool", "name": "f"}, ToolChoice("named", ("f",))),
        ({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}}, ToolChoice("named", ("f",))),
        ({"mode": "NONE"}, ToolChoice("none")),
        ({"allowed_tools": {"mode": "any", "tools": ["f"]}}, ToolChoice("named", ("f",))),
        ({"any": {}}, ToolChoice("required")),
        ({"tool": {"name": "f"}}, ToolChoice("named", ("f",))),
        ({"tool_choice": "required", "parallel_tool_calls": False}, ToolChoice("required", (), False)),
    ],
)
def test_tool_choice(choice: Any, read: ToolChoice) -> None:
    assert ToolChoice.from_any(choice) == read


@pytest.mark.parametrize("choice", [3, {}, {"type": "unheard"}, [], [1], {"tools": [1]}, {"name": 3}])
def test_what_is_no_tool_choice(choice: Any) -> None:
    with pytest.raises(TypeError, match="tool_choice"):
        ToolChoice.from_any(choice)


def test_a_name_is_declared_once() -> None:
    """Of two tools of a name the last one counted, silently, whatever the first one said."""
    city = {"name": "f", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
    days = {"name": "f", "parameters": {"type": "object", "properties": {"days": {"type": "integer"}}}}
    with pytest.raises(DefinitionError, match="'f' is declared twice, with different parameters") as info:
        toolglot.parse("text", tools=[city, days])
    assert info.value.code == "definition.invalid_tool"
    assert toolglot.parse("text", tools=[city, dict(city)]).content == "text"
    spaces = [{"type": "namespace", "name": name, "tools": [tool]} for name, tool in (("a", city), ("b", days))]
    assert toolglot.parse("text", tools=spaces).content == "text"
