"""A tool's parameters as a compiled validator, and what bounds it.

The work is done by ``jsonschema-rs`` (the extra ``validate``): regular expressions run in linear time, or stop after a
number of steps where they look around; recursive schemas are remembered; nothing is ever fetched. What it does not
bound is refused here: schemas that are nested deeper than `MAX_DEPTH` or that, written out, have more than `MAX_SIZE`
parts, which would take as long to check as they are large.
"""

from __future__ import annotations

import marshal
from collections import OrderedDict
from collections.abc import Mapping
from hashlib import sha256
from importlib import import_module
from typing import Any, Final, cast

from ..errors import DefinitionError
from .references import DRAFT, References, unknown_keywords
from .walk import BRANCHES, MAPS, SINGLE, member, resolve, walk

__all__ = ["Compiled", "compile_schema"]

MAX_DEPTH: Final = 200
MAX_SIZE: Final = 100_000
BACKTRACKS: Final = 10_000
# Alternatives of an `enum`, by what they are: only strings are looked up, all others are compared one by one.
MAX_SCALARS: Final = 10_000
MAX_CONTAINERS: Final = 1_000
_KEPT: Final = 256  # compiled schemas
_URI: Final = "urn:toolglot:parameters"
# As Gemini's API writes types.
_CAPITALS: Final = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"})
_cache: OrderedDict[bytes, Compiled] = OrderedDict()


def engine() -> Any:
    """The validator's module. Raises `ModuleNotFoundError`, naming the extra, if it is not installed."""
    try:
        return import_module("jsonschema_rs")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "validation needs jsonschema-rs, which is Toolglot's extra `validate`:  pip install 'toolglot[validate]'",
            name=error.name,
        ) from None


class Compiled:
    """One schema, compiled. ``fits(value)`` tells whether a value does; shared and immutable but for what it keeps."""

    __slots__ = ("_draft", "_engine", "_options", "_registry", "_subs", "fits", "references", "root")

    def __init__(self, root: dict[str, Any], references: References) -> None:
        self._engine = rs = engine()
        self._options = {
            "offline": True,
            "validate_formats": False,
            "pattern_options": rs.FancyRegexOptions(backtrack_limit=BACKTRACKS),
        }
        self.root = root
        self.references = references
        whole = rs.validator_for(root, **self._options).is_valid

        def fits(value: Any) -> bool:
            try:
                return bool(whole(value))
            except UnicodeEncodeError:  # half of a surrogate pair, which only JSON that was read elsewhere can hold
                return False

        self.fits = fits
        draft = root.get("$schema")
        self._draft = draft if isinstance(draft, str) else DRAFT
        self._registry: Any = None
        self._subs: dict[Any, Any] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> Compiled:
        return self

    def known(self, node: Mapping[str, Any]) -> Mapping[str, Any]:
        """A schema without the keywords that its draft does not know."""
        draft = self.references.draft(node, self._draft)
        if "$ref" in node and any(name in draft for name in ("draft-04", "draft-06", "draft-07")):
            return {"$ref": node["$ref"]}  # beside it nothing counts in these
        unknown = unknown_keywords(draft)
        return node if unknown.isdisjoint(node) else {key: node[key] for key in node if key not in unknown}

    def sub(self, at: str) -> Any:
        """The same for the schema at a pointer (``#/properties/a``) in this one; for one that is nowhere, always so."""
        fits = self._subs.get(at)
        if fits is None:
            rs = self._engine
            if self._registry is None:
                self._registry = rs.Registry([(_URI, self.root)])
            try:
                outer = {"$schema": self._draft, "$ref": _URI + at}
                fits = rs.validator_for(outer, registry=self._registry, **self._options).is_valid
            except ValueError:
                fits = _always
            self._subs[at] = fits
        return fits

    def keyword(self, at: str, key: str, value: Any) -> Any:
        """The same for one keyword of the schema at a pointer, which holds no schemas itself."""
        fits = self._subs.get((at, key))
        if fits is None:
            try:
                fits = self._engine.validator_for({"$schema": self._draft, key: value}, **self._options).is_valid
            except ValueError:  # it means something beside another one only
                fits = _always
            self._subs[at, key] = fits
        return fits


def _always(value: Any) -> bool:
    return True


def compile_schema(schema: Mapping[str, Any], name: str) -> Compiled:
    """The parameters of the tool ``name``, compiled once a schema; the last `_KEPT` are kept.

    Raises `DefinitionError` (``schema.invalid``) for what is no JSON Schema or passes a bound.
    """
    try:
        # Equal bytes are equal schemas: what the caller changes is compiled anew.
        key = marshal.dumps(cast(Any, schema), 2)
    except ValueError:
        key = b""
    if len(key) > 4096:
        key = sha256(key).digest()
    found = _cache.get(key) if key else None
    if found is None:
        found = _compile(schema, name)
        if key:
            _cache[key] = found
            while len(_cache) > _KEPT:
                _cache.popitem(last=False)
    return found


def _compile(schema: Mapping[str, Any], name: str) -> Compiled:
    root = _normal(schema, name, "$", 0)
    references = References(root)
    _measure(root, references, name)
    try:
        return Compiled(root, references)
    except (ValueError, TypeError, OverflowError) as error:
        raise _invalid(name, *_where(root, error)) from None


def _invalid(name: str, path: str, why: str) -> DefinitionError:
    error = DefinitionError(f"tools: the schema of {name[:80]!r} is wrong at {path}: {why[:300]}", "schema.invalid")
    error.tool = name
    error.path = path
    return error


def _where(root: dict[str, Any], error: BaseException) -> tuple[str, str]:
    """The JSON path of what is wrong, and what it is."""
    why = str(getattr(error, "message", error)).partition("\n")[0]
    path = "$"
    for step in getattr(error, "instance_path", ()):
        path = member(path, step)
    if path == "$":
        for at, node in walk(root):
            reference = node.get("$ref")
            if isinstance(reference, str) and (
                reference in why or (reference.startswith("#/") and resolve(reference, root) is None)
            ):
                return member(at, "$ref"), f"the reference {reference[:80]!r} leads nowhere"
    return path, why


def _normal(schema: Any, name: str, path: str, depth: int) -> Any:
    """The schema as JSON Schema has it: types in lower case, what is nullable as a type, mappings as dicts."""
    if not isinstance(schema, Mapping):
        return schema
    if depth > MAX_DEPTH:
        raise _invalid(name, path[:80], f"it is nested deeper than {MAX_DEPTH} levels")
    made = {key: list(value) if isinstance(value, tuple) else value for key, value in schema.items()}
    type_ = made.get("type")
    if isinstance(type_, str) and type_ in _CAPITALS:
        type_ = made["type"] = type_.lower()
    elif isinstance(type_, list):
        made["type"] = [one.lower() if isinstance(one, str) and one in _CAPITALS else one for one in type_]
    if made.get("nullable") is True:
        if isinstance(type_, str) and type_ != "null":
            made["type"] = [type_, "null"]
        if isinstance(made.get("enum"), list) and None not in made["enum"]:
            made["enum"] = [*made["enum"], None]
    values = made.get("enum")
    if isinstance(values, (list, tuple)) and len(values) > MAX_CONTAINERS:
        containers = any(isinstance(one, (Mapping, list, tuple)) for one in values)
        most = MAX_CONTAINERS if containers else MAX_SCALARS
        if len(values) > most and not all(isinstance(one, str) for one in values):
            raise _invalid(name, member(path, "enum"), f"it has more than {most} values that are not all strings")
    for key in MAPS:
        inner = made.get(key)
        if isinstance(inner, Mapping):
            here = member(path, key)
            if not all(isinstance(name_, str) for name_ in inner):
                raise _invalid(name, here, "it has a name that is no string")
            made[key] = {name_: _normal(one, name, member(here, name_), depth + 1) for name_, one in inner.items()}
    for key in (*BRANCHES, "items"):
        inner = made.get(key)
        if isinstance(inner, (list, tuple)):
            here = member(path, key)
            made[key] = [_normal(one, name, member(here, number), depth + 1) for number, one in enumerate(inner)]
    for key in SINGLE:
        if isinstance(made.get(key), Mapping):
            made[key] = _normal(made[key], name, member(path, key), depth + 1)
    return made


def _measure(root: dict[str, Any], references: References, name: str) -> None:
    """Refuse a schema that is too large when its references are written out (those that lead back are not)."""
    sizes: dict[int, int] = {}

    def size(node: Mapping[str, Any], depth: int) -> int:
        known = sizes.get(id(node))
        if known is not None:
            return known
        if depth > MAX_DEPTH:
            raise _invalid(name, "$", f"its references go deeper than {MAX_DEPTH} levels")
        sizes[id(node)] = 1  # what leads back here
        total = 1
        inner: list[Any] = [target for _, target in references.targets(node)]
        for key in (*MAPS, *BRANCHES, *SINGLE, "dependencies"):
            if key in ("$defs", "definitions"):
                continue  # counted where they are referred to
            part = node.get(key)
            if key in (*MAPS, "dependencies"):
                inner += part.values() if isinstance(part, dict) else ()
            elif isinstance(part, list):
                inner += part
            else:
                inner.append(part)
        for part in inner:
            if isinstance(part, Mapping):
                total += size(part, depth + 1)
        if total > MAX_SIZE:
            raise _invalid(name, "$", f"with its references written out it has more than {MAX_SIZE} parts")
        sizes[id(node)] = total
        return total

    size(root, 0)
