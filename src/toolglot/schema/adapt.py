"""A schema as a provider takes it, with what was lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ..errors import DefinitionError
from ..types import Loss, json_text
from .pieces import NotStrictError, closed, fitting, kind, mapping, strings, type_list, without_null
from .subset import SAYABLE, SILENT, Subset
from .walk import BRANCHES, MAPS, SINGLE, member, resolve

__all__ = ["Adapted", "NotStrictError", "adapt"]

_MAX_NODES: Final = 20_000  # inlining can blow up a small schema
_MAX_DEPTH: Final = 100
_ANYTHING: Final = [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]


class Adapted(NamedTuple):
    """A schema, and what it no longer says."""

    schema: dict[str, Any]
    losses: tuple[Loss, ...]


def adapt(schema: Mapping[str, Any], subset: Subset, path: str = "$") -> Adapted:
    """``schema``, that of a tool's parameters, within ``subset``. Losses have JSON paths that begin with ``path``.

    Raises `DefinitionError` if it is no schema of an object, `NotStrictError` if ``subset`` is closed and it cannot be.
    """
    return _Adapter(schema, subset).root(path)


class _Adapter:
    def __init__(self, root: Mapping[str, Any], subset: Subset) -> None:
        self._root = root
        self._subset = subset
        self._losses: list[Loss] = []
        self._nodes = 0
        self._kept: dict[str, str] = {}  # references that stay, and the name of what they point to

    def root(self, path: str) -> Adapted:
        node = {key: value for key, value in self._root.items() if self._formed(key, value, path)}
        followed: set[str] = set()
        while isinstance(node.get("$ref"), str) and node["$ref"] not in followed:
            followed.add(node["$ref"])
            target = resolve(node.pop("$ref"), self._root)
            if isinstance(target, Mapping):
                node = {**target, **node}
        if not self._subset.root_unions:
            node = self._flat_root(node, path)
        node.setdefault("type", "object")
        if str(node["type"]).lower() != "object" and node["type"] != ["object"]:
            raise DefinitionError(
                f"tools: parameters must be an object, the schema is one of {node['type']!r:.80}",
                "definition.invalid_tool",
            )
        if not isinstance(node.get("properties"), Mapping):
            node["properties"] = {}
        schema = self._node(node, path, (), 0)
        defs: dict[str, Any] = {}
        while len(defs) < len(self._kept):  # adapting one may meet others
            for reference, name in list(self._kept.items()):
                if name not in defs:
                    target = resolve(reference, self._root)
                    defs[name] = self._node(target, member(member(path, "$defs"), name), (reference,), 0)
        if defs:
            schema["$defs"] = defs
        return Adapted(schema, tuple(self._losses))

    def _lost(self, code: str, path: str, detail: str) -> None:
        self._losses.append(Loss(code, path, detail))

    # -- one schema

    def _node(self, source: Any, path: str, inside: tuple[str, ...], depth: int) -> dict[str, Any]:
        self._nodes += 1
        subset = self._subset
        if self._nodes > _MAX_NODES or depth > _MAX_DEPTH:
            self._lost("loss.schema_size", path, "the schema is too large here; anything is allowed")
            return self._untyped({}, path, quiet=True)
        if not isinstance(source, Mapping):
            if source is False:
                self._lost("loss.schema_keyword", path, "false allows nothing; here anything is allowed")
            return self._untyped({}, path)
        node = {key: value for key, value in source.items() if self._formed(key, value, path)}
        reference = node.get("$ref")
        if isinstance(reference, str):
            found = self._reference(node, reference, path, inside)
            if isinstance(found, dict):
                return found
            node, inside = found
        if "allOf" in node and not subset.takes("allOf"):
            node = self._merged(node, path, inside)
        if "oneOf" in node and not subset.takes("oneOf"):
            branches = node.pop("oneOf")
            if "anyOf" in node:
                self._lost("loss.schema_union", member(path, "oneOf"), "dropped beside anyOf")
            else:
                node["anyOf"] = branches
                self._lost("loss.schema_union", member(path, "oneOf"), "written as anyOf: several may match")
        if "const" in node and not subset.takes("const"):
            node["enum"] = [node.pop("const")]
        self._type(node)
        if subset.string_enums:
            self._enum(node, path)
        self._items(node, path)
        result = self._keywords(node, path)
        for keyword in MAPS:
            if isinstance(result.get(keyword), Mapping):
                here = member(path, keyword)
                result[keyword] = {
                    name: self._node(value, member(here, name), inside, depth + 1)
                    for name, value in result[keyword].items()
                }
        for keyword in BRANCHES:
            if isinstance(result.get(keyword), (list, tuple)):
                here = member(path, keyword)
                result[keyword] = [
                    self._node(value, member(here, number), inside, depth + 1)
                    for number, value in enumerate(result[keyword])
                ]
        for keyword in SINGLE:
            if isinstance(result.get(keyword), Mapping):
                result[keyword] = self._node(result[keyword], member(path, keyword), inside, depth + 1)
        if subset.nullable and "anyOf" in result:
            result = without_null(result)
        if subset.closed:
            result = closed(result, path, subset.optional)
        result = self._untyped(result, path)
        if subset.upper and isinstance(result.get("type"), str):
            result["type"] = result["type"].upper()
        return result

    def _formed(self, key: str, value: Any, path: str) -> bool:
        """Whether a keyword that holds schemas holds some, and ``required`` names."""
        if key in MAPS:
            formed = isinstance(value, Mapping)
        elif key in BRANCHES:
            formed = isinstance(value, (list, tuple)) and bool(value or key not in ("anyOf", "oneOf"))
        elif key == "required":
            formed = isinstance(value, (list, tuple)) and all(isinstance(name, str) for name in value)
        else:
            return True
        if not formed:
            self._lost("loss.schema_keyword", member(path, key), "not as JSON Schema has it; dropped")
        return formed

    def _reference(
        self, node: dict[str, Any], reference: str, path: str, inside: tuple[str, ...]
    ) -> dict[str, Any] | tuple[dict[str, Any], tuple[str, ...]]:
        """The finished schema, or what stands in place of the reference and what that is inside of."""
        mode = self._subset.references
        target = resolve(reference, self._root)
        if not isinstance(target, Mapping):
            self._lost("loss.schema_reference", member(path, "$ref"), f"{reference!r:.80} points nowhere")
            del node["$ref"]
            return node, inside
        beside = set(node) - {"$ref"} - SILENT
        again = reference in inside
        alone = {"alone": {"description", "default"}, "bare": set[str]()}.get(mode)
        if mode == "keep" or (alone is not None and (again or beside <= alone)):
            if alone is not None and not beside <= alone:
                self._lost("loss.schema_keyword", path, "what stands beside a $ref to itself is dropped")
            name = self._kept.get(reference) or self._name(reference)
            return {
                "$ref": f"#/$defs/{name}",
                **self._keywords({k: node[k] for k in node if k in (alone or beside)}, path),
            }
        if again:
            self._lost("loss.schema_recursion", path, f"{reference!r:.80} mentions itself; cut off here")
            types = [type_ for type_ in type_list(target.get("type")) if type_ != "null"]
            rest = {"description": target["description"]} if isinstance(target.get("description"), str) else {}
            cut = {**rest, **({"type": types[0]} if types else {"type": "object"})}
            if "description" in node:
                cut["description"] = node["description"]
            return cut, inside
        del node["$ref"]
        return {**target, **node}, (*inside, reference)

    def _name(self, reference: str) -> str:
        name = reference.rpartition("/")[2].replace("~1", "_").replace("~0", "_") or "root"
        while name in self._kept.values():
            name += "_"
        self._kept[reference] = name
        return name

    def _target(self, reference: Any) -> Mapping[str, Any]:
        return mapping(resolve(reference, self._root)) if isinstance(reference, str) else {}

    def _merged(self, node: dict[str, Any], path: str, inside: tuple[str, ...]) -> dict[str, Any]:
        """``allOf`` merged into the schema itself."""
        here = member(path, "allOf")
        followed = set(inside)
        todo = [(member(here, n), part) for n, part in enumerate(_list(node.pop("allOf")))]
        while todo:
            where, part = todo.pop(0)
            self._nodes += 1
            part = dict(mapping(part))
            reference = part.pop("$ref", None)
            if isinstance(reference, str) and reference not in followed:
                followed.add(reference)
                part = {**self._target(reference), **part}
                todo.insert(0, (where, part))
                continue
            todo[:0] = [(where, inner) for inner in _list(part.pop("allOf", None))]
            for key, value in part.items():
                if key == "properties" and isinstance(node.get(key, {}), Mapping):
                    node[key] = {**mapping(value), **node.get(key, {})}
                elif key == "required":
                    node[key] = list(dict.fromkeys([*strings(node.get(key)), *strings(value)]))
                elif key not in node:
                    node[key] = value
                elif node[key] != value and key not in ("description", "title", "$defs"):
                    self._lost("loss.schema_union", member(where, key), "allOf was merged; this contradicts the rest")
        return node

    def _type(self, node: dict[str, Any]) -> None:
        """One way to write types: a name, or a list where the subset has lists, or anyOf, or nullable."""
        subset = self._subset
        types = type_list(node.get("type"))
        null = node.get("nullable") is True  # OpenAPI's, in whatever is read
        if not subset.nullable and "nullable" in node:
            del node["nullable"]
            if null and types:
                types = [*types, "null"] if "null" not in types else types
            elif null and "anyOf" in node:
                node["anyOf"] = [*node["anyOf"], {"type": "null"}]
        if not types:
            node.pop("type", None)
            return
        if subset.nullable and "null" in types and len(types) > 1:
            types.remove("null")
            node["nullable"] = True
            if isinstance(node.get("enum"), list) and None in node["enum"]:
                node["enum"] = [value for value in node["enum"] if value is not None]
        if len(types) == 1 or subset.type_lists:
            node["type"] = types[0] if len(types) == 1 else types
            return
        del node["type"]
        shared = {
            key: node.pop(key) for key in list(node) if key not in ("description", "title", "default", "nullable")
        }
        if "anyOf" not in shared:
            node["anyOf"] = [{"type": type_, **fitting(shared, type_)} for type_ in types]
        else:
            node.update(shared)

    def _enum(self, node: dict[str, Any], path: str) -> None:
        """Only strings in an enum: other values are told in words."""
        values = node.get("enum")
        if not isinstance(values, list):
            return
        if None in values and any(value is not None for value in values):
            node["nullable"] = True
            values = node["enum"] = [value for value in values if value is not None]
        if all(isinstance(value, str) for value in values):
            node.setdefault("type", "string")
            return
        kinds = {kind(value) for value in values}
        if len(kinds) == 1 and "" not in kinds:
            node.setdefault("type", kinds.pop())
        del node["enum"]
        self._say(node, "enum", values)
        self._lost("loss.schema_enum", member(path, "enum"), "only strings may be listed; said in the description")

    def _items(self, node: dict[str, Any], path: str) -> None:
        """Arrays: fixed positions and missing items."""
        subset = self._subset
        fixed = "items" if isinstance(node.get("items"), (list, tuple)) else "prefixItems"
        if isinstance(node.get(fixed), (list, tuple)) and not subset.takes("prefixItems"):
            # What stands there in place of a schema says nothing.
            items = [item if isinstance(item, (Mapping, bool)) else {} for item in node.pop(fixed)]
            unique = [item for number, item in enumerate(items) if item not in items[:number]]
            node["items"] = unique[0] if len(unique) == 1 else {"anyOf": unique}
            self._lost("loss.schema_tuple", member(path, fixed), "positions are no longer told apart")
        array = "array" in type_list(node.get("type"))
        if array and not subset.bare_arrays and not isinstance(node.get("items"), Mapping):
            node["items"] = {}

    def _keywords(self, node: dict[str, Any], path: str) -> dict[str, Any]:
        """Only keywords that the target knows; a description says in words what others meant."""
        subset = self._subset
        result: dict[str, Any] = {}
        dropped: list[tuple[str, Any]] = []
        whole = node.get("type") == "integer"
        for key, value in node.items():
            if key in SILENT:
                continue
            if key == "format" and subset.formats is not None and str(value) not in subset.formats:
                dropped.append((key, value))
            elif subset.takes(key):
                result[key] = value
            elif key in ("exclusiveMinimum", "exclusiveMaximum") and whole and type(value) is int:
                plain, step = ("minimum", 1) if key == "exclusiveMinimum" else ("maximum", -1)
                if subset.takes(plain) and plain not in node:
                    result[plain] = value + step  # the same for whole numbers
                else:
                    dropped.append((key, value))
            elif key == "nullable" or (key == "default" and value is None) or (key == "uniqueItems" and not value):
                pass  # has been seen to, or says nothing
            else:
                dropped.append((key, value))
        for key, value in dropped:
            if subset.closed and key in ("patternProperties", "dependentSchemas", "if", "not", "contains"):
                raise NotStrictError(member(path, key), f"{key} cannot be held to")
            if key in SAYABLE:
                said = self._say(result, key, value)
                self._lost("loss.schema_keyword", member(path, key), said)
            else:
                self._lost("loss.schema_keyword", member(path, key), "dropped")
        return result

    def _say(self, node: dict[str, Any], key: str, value: Any) -> str:
        text = "one of " if key == "enum" else f"{key}: "
        try:
            text += ", ".join(map(json_text, value)) if key == "enum" else json_text(value)
        except (TypeError, ValueError, RecursionError):
            return "dropped"
        if len(text) > 300 or not self._subset.takes("description"):
            return "dropped"
        before = node.get("description")
        node["description"] = f"{before} ({text})" if isinstance(before, str) and before else f"({text})"
        return "said in the description"

    def _untyped(self, node: dict[str, Any], path: str, quiet: bool = False) -> dict[str, Any]:
        """A type for every schema, where the target wants one."""
        subset = self._subset
        if subset.untyped or "type" in node or "$ref" in node or "anyOf" in node or "oneOf" in node:
            return node
        if isinstance(node.get("enum"), list) and node["enum"]:
            kinds = {kind(value) for value in node["enum"]}
            if len(kinds) == 1 and "" not in kinds:
                return {"type": kinds.pop(), **node}
            if subset.closed and "" not in kinds:
                return {"type": sorted(kinds), **node}
        if "properties" in node:
            return {"type": "object", **node}
        if "items" in node:
            return {"type": "array", **node}
        if subset.closed:
            raise NotStrictError(path, "its type is left open")
        if not quiet:
            self._lost("loss.schema_untyped", path, "any value was allowed; now a string, number or boolean is")
        types = [{"type": type_["type"].upper()} for type_ in _ANYTHING] if subset.upper else list(_ANYTHING)
        return {**node, "anyOf": types}

    # -- the root

    def _flat_root(self, node: dict[str, Any], path: str) -> dict[str, Any]:
        """No union at the top: one object with the members of all branches."""
        if "allOf" in node:
            node = self._merged(node, path, ())
        for keyword in ("enum", "not"):
            if keyword in node:
                del node[keyword]
                self._lost("loss.schema_keyword", member(path, keyword), "may not stand at the top; dropped")
        for keyword in ("anyOf", "oneOf"):
            branches = node.pop(keyword, None)
            if not isinstance(branches, (list, tuple)):
                continue
            objects = []
            for branch in branches:
                if isinstance(branch, Mapping) and isinstance(branch.get("$ref"), str):
                    branch = {**self._target(branch["$ref"]), **branch}
                if isinstance(branch, Mapping):
                    objects.append(self._merged(dict(branch), path, ()) if "allOf" in branch else branch)
            properties: dict[str, Any] = {}
            for branch in objects:
                for name, value in mapping(branch.get("properties")).items():
                    known = properties.setdefault(name, value)
                    if known != value:
                        both = known["anyOf"] if isinstance(known, Mapping) and set(known) == {"anyOf"} else [known]
                        properties[name] = {"anyOf": [*both, *([] if value in both else [value])]}
            needed = [set(strings(branch.get("required"))) for branch in objects]
            shared = set.intersection(*needed) if needed else set()
            node["properties"] = {**properties, **mapping(node.get("properties"))}
            if shared:
                node["required"] = list(dict.fromkeys([*strings(node.get("required")), *sorted(shared)]))
            detail = f"a union at the top of {len(objects)}; now one object with the members of all"
            self._lost("loss.schema_root_union", member(path, keyword), detail)
            if any(branch.get("properties") for branch in objects) or not any(needed):
                continue
            ways = " or ".join(", ".join(sorted(names)) for names in needed if names)
            self._say(node, "required together", ways)
        return node


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []
