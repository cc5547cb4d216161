"""Schemas within a provider's subset, strict mode, and names."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import toolglot
from toolglot.errors import DefinitionError
from toolglot.schema.adapt import adapt
from toolglot.schema.names import NameRule, Names
from toolglot.schema.pieces import NotStrictError
from toolglot.schema.strict import adapt_strict, drop_forced_nulls
from toolglot.schema.subset import ANY, Subset
from toolglot.schema.walk import walk

KEYWORDS = frozenset({"type", "description", "properties", "required", "items", "enum", "anyOf", "minimum", "maximum"})
# The narrowest: no references, no lists of types, strings in enums, a type everywhere.
NARROW = Subset(
    KEYWORDS | {"nullable"},
    references="inline",
    type_lists=False,
    nullable=True,
    string_enums=True,
    untyped=False,
    bare_arrays=False,
    root_unions=False,
    upper=True,
)
CLOSED = Subset(
    KEYWORDS | {"const", "additionalProperties", "$ref"},
    references="bare",
    untyped=False,
    bare_arrays=False,
    root_unions=False,
    closed=True,
)


def object_of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def one(schema: Any, subset: Subset, **root: Any) -> tuple[Any, list[str]]:
    """What becomes of the schema of one member, and the codes of what was lost."""
    adapted = adapt({**object_of(x=schema), **root}, subset)
    return adapted.schema["properties"]["x"], [loss.code for loss in adapted.losses]


def test_everything_passes_where_everything_is_taken() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A", "title": "x"}, "b": {"type": ["string", "null"], "format": "date"}},
        "required": ["a"],
        "$defs": {"A": {"oneOf": [{"const": 1}, {"type": "array", "items": {"$ref": "#/$defs/A"}}]}},
    }
    assert adapt(schema, ANY) == (schema, ())


@pytest.mark.parametrize(
    ("schema", "adapted", "losses"),
    [
        ({"type": "string"}, {"type": "STRING"}, []),
        ({"type": ["string", "null"]}, {"type": "STRING", "nullable": True}, []),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"type": "INTEGER", "nullable": True}, []),
        (
            {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "n"},
            {"type": "INTEGER", "nullable": True, "description": "n"},
            [],
        ),
        (
            {"type": ["string", "integer", "null"], "description": "d"},
            {"description": "d", "nullable": True, "anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]},
            [],
        ),
        ({"const": "a"}, {"type": "STRING", "enum": ["a"]}, []),
        ({"enum": ["a", None]}, {"type": "STRING", "enum": ["a"], "nullable": True}, []),
        ({"enum": [1, 2]}, {"type": "INTEGER", "description": "(one of 1, 2)"}, ["loss.schema_enum"]),
        (
            {"oneOf": [{"type": "string"}, {"type": "integer"}]},
            {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]},
            ["loss.schema_union"],
        ),
        (
            {"allOf": [object_of(a={"type": "string"}), {"required": ["a"]}]},
            {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}, "required": ["a"]},
            [],
        ),
        (
            {"allOf": [{"type": "string"}, {"type": "integer"}]},
            {"type": "STRING"},
            ["loss.schema_union"],
        ),
        ({"type": "integer", "exclusiveMinimum": 0}, {"type": "INTEGER", "minimum": 1}, []),
        (
            {"type": "number", "exclusiveMinimum": 0, "description": "How much."},
            {"type": "NUMBER", "description": "How much. (exclusiveMinimum: 0)"},
            ["loss.schema_keyword"],
        ),
        (
            {"type": "string", "format": "date", "x-mine": 1},
            {"type": "STRING", "description": '(format: "date")'},
            ["loss.schema_keyword", "loss.schema_keyword"],
        ),
        (
            {},
            {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}, {"type": "BOOLEAN"}]},
            ["loss.schema_untyped"],
        ),
        ({"properties": {}}, {"type": "OBJECT", "properties": {}}, []),
        (
            {"type": "array"},
            {
                "type": "ARRAY",
                "items": {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}, {"type": "BOOLEAN"}]},
            },
            ["loss.schema_untyped"],
        ),
        (
            {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
            {"type": "ARRAY", "items": {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}},
            ["loss.schema_tuple"],
        ),
        ({"type": "STRING", "nullable": True}, {"type": "STRING", "nullable": True}, []),
        ({"$ref": "#/$defs/Gone", "type": "string"}, {"type": "STRING"}, ["loss.schema_reference"]),
        ({"type": "string", "anyOf": 3}, {"type": "STRING"}, ["loss.schema_keyword"]),
    ],
)
def test_narrow(schema: Any, adapted: Any, losses: list[str]) -> None:
    assert one(schema, NARROW) == (adapted, losses)


@pytest.mark.parametrize("required", [None, True, "a", ["a", 3], {"a": True}])
def test_required_that_is_no_list_of_names(required: Any) -> None:
    """As of older drafts, or by mistake: no API takes it."""
    schema = {"type": "object", "properties": {"a": {"type": "string", "required": required}}, "required": required}
    adapted = adapt(schema, Subset(), "$")
    assert adapted.schema == {"type": "object", "properties": {"a": {"type": "string"}}}
    assert [loss.path for loss in adapted.losses] == ["$.required", "$.properties.a.required"]


def test_references_are_written_out() -> None:
    defs = {"Unit": {"type": "string", "enum": ["c", "f"]}}
    schema, losses = one({"$ref": "#/$defs/Unit", "description": "The unit."}, NARROW, **{"$defs": defs})
    assert schema == {"type": "STRING", "enum": ["c", "f"], "description": "The unit."}
    assert losses == []


def test_a_schema_that_mentions_itself_is_cut_off_once() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    schema, losses = one({"$ref": "#/$defs/Node"}, NARROW, **{"$defs": {"Node": node}})
    assert schema == {"type": "OBJECT", "properties": {"next": {"type": "OBJECT"}}}
    assert losses == ["loss.schema_recursion"]
    kept, losses = one({"$ref": "#/$defs/Node"}, CLOSED, **{"$defs": {"Node": node}})
    assert (kept, losses) == ({"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}, [])


def test_inlining_is_bounded() -> None:
    defs = {f"D{n}": object_of(a={"$ref": f"#/$defs/D{n + 1}"}, b={"$ref": f"#/$defs/D{n + 1}"}) for n in range(40)}
    defs["D40"] = {"type": "string"}
    adapted = adapt({**object_of(x={"$ref": "#/$defs/D0"}), "$defs": defs}, NARROW)
    assert {loss.code for loss in adapted.losses} == {"loss.schema_size"}


def test_losses_have_a_path() -> None:
    schema = object_of(**{"a": {"type": "array", "items": {"type": "string", "format": "date"}}, "b c": {"not": {}}})
    losses = adapt(schema, NARROW).losses
    assert [(loss.path, loss.detail) for loss in losses if loss.code == "loss.schema_keyword"] == [
        ("$.properties.a.items.format", "said in the description"),
        ("$.properties['b c'].not", "dropped"),
    ]


def test_a_union_at_the_top_becomes_one_object() -> None:
    schema = {
        "anyOf": [
            {**object_of(id={"type": "integer"}, x={"type": "string"}), "required": ["id", "x"]},
            {**object_of(id={"type": "string"}), "required": ["id"]},
        ]
    }
    adapted = adapt(schema, Subset(root_unions=False))
    assert adapted.schema == {
        "properties": {"id": {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "x": {"type": "string"}},
        "required": ["id"],
        "type": "object",
    }
    assert [(loss.code, loss.path) for loss in adapted.losses] == [("loss.schema_root_union", "$.anyOf")]
    either = {**object_of(a={}, b={}), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    assert adapt(either, Subset(root_unions=False)).schema["description"] == '(required together: "a or b")'


def test_what_openai_refuses_in_any_mode() -> None:
    """Arrays without items, and enum and not at the top, are answered with 400."""
    subset = Subset(bare_arrays=False, root_unions=False)
    schema = {
        **object_of(x={"type": ["string", "array"]}, y={"type": "array", "prefixItems": [{}]}),
        "not": {},
        "enum": [],
    }
    adapted = adapt(schema, subset)
    assert adapted.schema == object_of(
        x={"type": ["string", "array"], "items": {}}, y={"type": "array", "prefixItems": [{}], "items": {}}
    )
    assert [loss.path for loss in adapted.losses] == ["$.enum", "$.not"]


@pytest.mark.parametrize("schema", [{"type": "string"}, {"type": "array", "items": {}}, {"type": ["object", "null"]}])
def test_parameters_are_an_object(schema: Any) -> None:
    with pytest.raises(DefinitionError, match="must be an object"):
        adapt(schema, NARROW)


# -- strict


def test_strict_closes_every_object() -> None:
    schema = {
        **object_of(
            city={"type": "string"},
            unit={"type": "string", "enum": ["c", "f"], "description": "The unit."},
            days={"type": "integer"},
            place={**object_of(x={"type": "number"}), "required": ["x"]},
        ),
        "required": ["city"],
    }
    adapted, strict = adapt_strict(schema, CLOSED, ANY)
    assert strict
    assert adapted.losses == ()
    place = {
        "type": "object",
        "properties": {"x": {"type": "number"}},
        "required": ["x"],
        "additionalProperties": False,
    }
    assert adapted.schema == {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "unit": {"anyOf": [{"type": "string", "enum": ["c", "f"]}, {"type": "null"}], "description": "The unit."},
            "days": {"type": ["integer", "null"]},
            "place": {"anyOf": [place, {"type": "null"}]},
        },
        "required": ["city", "unit", "days", "place"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"type": "object"}, "$.properties.x"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "$.properties.x"),
        ({}, "$.properties.x"),
        ({"type": "array"}, "$.properties.x.items"),
        ({"type": "object", "properties": {}, "patternProperties": {"a": {}}}, "$.properties.x.patternProperties"),
    ],
)
def test_what_cannot_be_strict_says_so(schema: Any, path: str) -> None:
    with pytest.raises(NotStrictError):
        adapt(object_of(x=schema), CLOSED)
    adapted, strict = adapt_strict(object_of(x=schema), CLOSED, ANY)
    assert not strict
    assert adapted.schema == object_of(x=schema)
    assert [(loss.code, loss.path) for loss in adapted.losses] == [("loss.strict", path)]


def test_forced_nulls_come_out_again() -> None:
    schema = {
        **object_of(
            a={"type": "string"},
            b={"type": ["string", "null"]},
            c={"type": "array", "items": {"$ref": "#/$defs/C"}},
            d={"type": "string"},
            e={},
        ),
        "required": ["a"],
        "$defs": {"C": object_of(x={"type": "integer"}, y={"$ref": "#/$defs/Y"}), "Y": {"enum": [1, None]}},
    }
    arguments = {"a": None, "b": None, "c": [{"x": None, "y": None}, 3], "d": None, "e": None, "other": None}
    assert drop_forced_nulls(arguments, schema) == {
        "a": None,  # required: the model broke the schema, which is not ours to mend
        "b": None,
        "c": [{"y": None}, 3],
        "e": None,
        "other": None,
    }


# -- any schema at all

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["string", "object", "#/$defs/A", "a"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "properties",
                    "items",
                    "anyOf",
                    "oneOf",
                    "allOf",
                    "$ref",
                    "enum",
                    "const",
                    "required",
                    "A",
                    "$defs",
                ]
                + [
                    "nullable",
                    "additionalProperties",
                    "prefixItems",
                    "not",
                    "format",
                    "description",
                    "exclusiveMinimum",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=25,
)


@given(st.dictionaries(st.sampled_from(["a", "b"]), JSON), JSON, st.sampled_from([ANY, NARROW, CLOSED]))
def test_any_schema_is_adapted_or_refused(properties: Any, extra: Any, subset: Subset) -> None:
    schema = {**(extra if isinstance(extra, dict) else {}), "type": "object", "properties": properties}
    before = json.dumps(schema)
    try:
        adapted = adapt(schema, subset)
    except (DefinitionError, NotStrictError):
        return
    finally:
        assert json.dumps(schema) == before, "the caller's schema was changed"
    for path, node in walk(adapted.schema):
        if subset.keywords is not None:
            assert set(node) <= subset.keywords | {"$defs"}, path
        if subset is NARROW and "anyOf" not in node:
            assert isinstance(node["type"], str), path


SIMPLE = st.sampled_from(
    [{"type": "string"}, {"type": "integer"}, {"type": ["string", "null"]}, {"type": "string", "enum": ["a"]}]
)
OBJECTS = st.recursive(
    SIMPLE,
    lambda inner: (
        st.builds(
            lambda properties, required: {
                "type": "object",
                "properties": properties,
                "required": [name for name in properties if name in required],
                "additionalProperties": False,
            },
            st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            st.sets(st.sampled_from("abc")),
        )
        | st.builds(lambda items: {"type": "array", "items": items}, inner)
    ),
    max_leaves=6,
)


def example(schema: Any, full: bool) -> Any:
    """A value of a closed schema: optional members (they may be null) are given only if ``full``."""
    if "anyOf" in schema:
        return example(schema["anyOf"][0], full) if full else None
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if "null" in types and not full:
        return None
    if types[0] == "object":
        return {name: example(inner, full) for name, inner in schema["properties"].items()}
    return {"array": [], "integer": 1, "string": schema.get("enum", ["a"])[0]}[types[0]]


@given(st.dictionaries(st.sampled_from("abc"), OBJECTS, min_size=1), st.sets(st.sampled_from("abc")), st.booleans())
def test_what_strict_mode_allows_is_valid_again_without_its_nulls(properties: Any, required: Any, full: bool) -> None:
    schema = {**object_of(**properties), "required": sorted(required & set(properties)), "additionalProperties": False}
    closed = adapt(schema, CLOSED).schema
    value = example(closed, full)
    jsonschema.validate(value, closed)
    jsonschema.validate(drop_forced_nulls(value, schema), schema)


# -- names


def test_names() -> None:
    rule = NameRule()
    names = Names(rule, ["get_weather", "files.read", "files/read", "x" * 65, "été", "日本"])
    made = [names.forth(name) for name in ("files.read", "files/read", "x" * 65, "été", "日本")]
    assert len(set(made)) == 5
    assert all(rule.takes(name) for name in made)
    assert names.forth("get_weather") == "get_weather"
    assert [names.back(name) for name in made] == ["files.read", "files/read", "x" * 65, "été", "日本"]
    assert set(names.changed) == {"files.read", "files/read", "x" * 65, "été", "日本"}
    # The same in every run and whatever other tools there are (sha256 of the name, its first eight digits).
    assert made[0] == "files_read_601e4eb6" == Names(rule).forth("files.read")


def test_a_collision_is_resolved() -> None:
    rule = NameRule()
    taken = rule.fit("files.read")
    names = Names(rule, ["files.read", taken])
    assert names.forth(taken) == taken
    assert names.forth("files.read") not in (taken, "files.read")
    assert names.back(names.forth("files.read")) == "files.read"


@given(
    st.text(min_size=1, max_size=80),
    st.sampled_from([NameRule(), NameRule("A-Za-z0-9", 9, least=9), NameRule("a-z0-9_", 12, "a-z")]),
)
def test_every_name_fits(name: str, rule: NameRule) -> None:
    made = rule.fit(name)
    assert rule.takes(made)
    assert made == (name if rule.takes(name) else made)


_STRUCTURE = ("oneOf", "anyOf", "allOf", "items", "prefixItems", "properties", "additionalProperties", "not", "$ref")
_KEYWORDS = (*_STRUCTURE, "$defs", "enum", "const", "type", "required", "description", "format")


@pytest.mark.parametrize("provider", toolglot.providers())
@pytest.mark.parametrize("key", _KEYWORDS)
def test_a_keyword_of_a_wrong_type(key: str, provider: toolglot.Provider) -> None:
    """Whatever stands there, and wherever: a schema, or an error of ours."""
    wire = toolglot.get_provider(provider)
    for value in (True, 1, "x", None, [], {}, [1], [True]):
        node = {key: value}
        for properties in ({"a": node}, {"a": {"$ref": "#/$defs/x"}}, {"a": {"type": "array", "items": node}}):
            schema = {"type": "object", "properties": properties, "$defs": {"x": node}}
            for strict in (True, False):
                with contextlib.suppress(toolglot.ToolglotError):
                    json.dumps(wire.tools([{"name": "f", "strict": strict, "parameters": schema}]))
