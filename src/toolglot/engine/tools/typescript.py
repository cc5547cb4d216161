"""Definitions as TypeScript, of which each family has its own."""

from __future__ import annotations

import json
from typing import Any

_NAMES = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean"}


def _get(spec: Any, key: str) -> Any:
    return spec.get(key) if isinstance(spec, dict) else None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# -- Harmony and Apertus ---------------------------------------------------------------------------------------------


def harmony(function: dict[str, Any]) -> str:
    """Harmony: a type a function, descriptions as comments."""
    return _harmony(function, ",\n") + "\n\n"


def apertus(function: dict[str, Any]) -> str:
    """Apertus: the same, closed in another way."""
    return _harmony(function, "\n")


def _harmony(function: dict[str, Any], last: str) -> str:
    parameters = function["parameters"]
    text = f"// {function.get('description', '')}\ntype {function['name']} = "
    properties = parameters.get("properties")
    if not properties:
        return text + "() => any;"
    members = []
    for name, spec in properties.items():
        about = _get(spec, "description")
        member = f"// {about}\n" if about else ""
        member += name + ("" if name in (parameters.get("required") or ()) else "?") + ": " + _harmony_type(spec)
        if isinstance(spec, dict) and "default" in spec:
            if spec.get("enum"):
                member += ", // default: " + spec["default"]
            elif spec.get("oneOf"):
                member += "// default: " + spec["default"]
            else:
                member += ", // default: " + _json(spec["default"])
        members.append(member)
    return text + "(_: {\n" + ",\n".join(members) + last + "}) => any;"


def _harmony_type(spec: Any) -> str:
    kind = _get(spec, "type")
    null = " | null" if _get(spec, "nullable") else ""
    if kind == "array":
        return _harmony_items(spec["items"]) + "[]" + null if spec.get("items") else "any[]" + null
    if isinstance(kind, list | tuple) and kind:
        return " | ".join(map(str, kind))
    if _get(spec, "oneOf"):
        return _harmony_union(spec["oneOf"])
    if kind == "string":
        return '"' + '" | "'.join(map(str, spec["enum"])) + '"' if spec.get("enum") else "string" + null
    if kind == "object":
        return _harmony_object(spec)
    return _NAMES.get(kind, "any") if isinstance(kind, str) else "any"


def _harmony_items(items: Any) -> str:
    kind = _get(items, "type")
    if isinstance(kind, str) and kind in _NAMES:
        return _NAMES[kind]
    inner = _harmony_type(items)
    return "any" if inner == "object | object" or len(inner) > 50 else inner


def _harmony_union(variants: list[Any]) -> str:
    # The template means "any" where one of several is an object, but what it sets in a loop is lost behind it.
    texts = []
    for variant in variants:
        text = _harmony_type(variant)
        if _get(variant, "description"):
            text += "// " + variant["description"]
        if isinstance(variant, dict) and "default" in variant:
            text += " " * 20 + "// default: " + _json(variant["default"])
        texts.append(text)
    return " | \n".join(texts)


def _harmony_object(spec: dict[str, Any]) -> str:
    properties, required = spec.get("properties"), spec.get("required") or ()
    if not properties:
        return "object"
    # The line break and the blanks are the template's own.
    members = (
        name + ("" if name in required else "?") + ": \n" + " " * 16 + _harmony_type(inner)
        for name, inner in properties.items()
    )
    return "{\n" + ", ".join(members) + "}"


# -- GigaChat ----------------------------------------------------------------------------------------------------------

_LIMITS = ("format", "maxItems", "maximum", "minItems", "minimum", "pattern")


def gigachat(function: dict[str, Any]) -> str:
    """GigaChat: limits are comments too, objects are indented."""
    parameters, returned = function["parameters"], function.get("return_parameters")
    given = f"_: {_gigachat_type(parameters, '  ')}" if parameters.get("properties") else ""
    result = _gigachat_type(returned, "  ") if returned and returned.get("properties") else "any"
    return _comment(function.get("description") or "", "") + f"type {function['name']} = ({given}) => {result};\n"


def _comment(text: str, indent: str) -> str:
    return "".join(f"{indent}// {line}\n" for line in text.split("\n") if line.strip())


def _gigachat_type(spec: dict[str, Any], indent: str) -> str:
    kind = spec.get("type")
    if kind == "object":
        return _gigachat_object(spec, indent)
    if kind == "string":
        if spec.get("enum"):
            return " | ".join(f'"{value}"' for value in spec["enum"])
        return "Date" if spec.get("format") in ("date-time", "date") else "string"
    if kind in ("number", "integer"):
        return " | ".join(map(str, spec["enum"])) if spec.get("enum") else "number"
    if kind == "array":
        return _gigachat_type(spec["items"], indent) + "[]" if "items" in spec else "Array<any>"
    return "boolean" if kind == "boolean" else "any"


def _gigachat_object(spec: dict[str, Any], indent: str) -> str:
    text, required = "{\n", spec.get("required", ())
    for key, value in spec.get("properties", {}).items():
        text += _comment(value.get("description", ""), indent)
        for limit, number in value.items():
            if limit in _LIMITS:
                text += f"{indent}// {limit}: " + (f'"{number}"' if isinstance(number, str) else str(number)) + "\n"
        text += indent + key + ("" if key in required else "?") + f": {_gigachat_type(value, indent + '  ')},"
        if "default" in value:
            default = value["default"]
            text += " // default: " + (f'"{default}"' if isinstance(default, str) else str(default))
        text += "\n"
    others = spec.get("additionalProperties")
    if others is True or isinstance(others, dict):
        kind = {"type": "any"} if others is True else others
        text += f"{indent}[key: string]: {_gigachat_type(kind, indent + '  ')}\n"
    return text + indent[:-2] + "}"


# -- Functionary -------------------------------------------------------------------------------------------------------

_LENGTHS = {"maximum": "Maximum", "minimum": "Minimum", "maxLength": "Maximum length", "minLength": "Minimum length"}


def functionary(function: dict[str, Any]) -> str:
    """Functionary v3.2: comments say default, format and limits; objects are indented by four."""
    parameters = function["parameters"]
    text = f"// {function.get('description', '')}\ntype {function['name']}"
    if not parameters.get("properties"):
        return text + " = () => any;\n\n"
    members = _members(parameters["properties"], parameters.get("required", []), 0)
    return text + " = (_: {" + members + "\n}) => any;\n\n"


def _members(properties: dict[str, Any], required: Any, depth: int) -> str:
    return "".join(
        _member(name, spec, "" if name in required else "?", depth)
        for name, spec in properties.items()
        if isinstance(spec, dict)
    )


def _member(name: str, spec: dict[str, Any], mark: str, depth: int) -> str:
    start = "\n" + "    " * depth
    head = _about(spec, name, start)
    kind = _functionary_type(spec)
    if kind == "object":
        # Examples stand there without a comment before them, too.
        head = head or "".join(_examples(spec, name, start))
        inner = _members(spec.get("properties", {}), spec.get("required", []), depth + 1)
        return f"{head}{start}{name}{mark}: {{{inner}{start}}},"
    if kind == "array":
        if "type" not in spec.get("items", {}):
            return f"{head}{start}{name}{mark}: [],"
        head = head or "".join(_examples(spec, name, start))
        text = _array(name + mark, spec, depth)
        return head + (text if text.endswith(",") else text + ",")
    if "enum" in spec:
        kind = _options(spec["enum"])
    if spec.get("nullable"):
        kind += " | null"
    return f"{head}{start}{name}{mark}: {kind},"


def _about(spec: dict[str, Any], name: str, start: str) -> str:
    """The comment, with examples; nothing if there is nothing to say."""
    form = _form(spec)
    if not ("description" in spec or "default" in spec or form is not None or any(map(spec.get, _LENGTHS))):
        return ""
    text = "//"
    if "description" in spec:
        about = spec["description"]
        text += " " + about + ("" if about.endswith(".") else ".")
    if "default" in spec:
        default = spec["default"]
        text += f' Default="{default}".' if spec.get("type", "any") == "string" else f" Default={default}."
    if form is not None:
        text += f" Format={form}"
    text += "".join(f" {label}={spec[field]}" for field, label in _LENGTHS.items() if field in spec)
    return start + text + "".join(_examples(spec, name, start))


def _examples(spec: dict[str, Any], name: str, start: str) -> list[str]:
    if "examples" not in spec:
        return []
    return [f"{start}// " + str(text).replace("'", '"') for text in [f"Example {name}:", *spec["examples"]]]


def _form(spec: dict[str, Any]) -> str | None:
    if "format" in spec:
        return str(spec["format"])
    if "oneOf" not in spec:
        return None
    forms = [variant["format"] for variant in spec["oneOf"] if "format" in variant]
    last = spec["oneOf"][-1].get("format")
    return "".join(form if form == last else form + " or " for form in forms)


def _functionary_type(spec: dict[str, Any]) -> str:
    if "type" in spec:
        kind = spec["type"]
        kind = kind if isinstance(kind, str) else " | ".join(map(str, kind))
    elif "oneOf" in spec:
        kind = " | ".join(dict.fromkeys(variant["type"] for variant in spec["oneOf"] if "type" in variant))
    else:
        return ""
    return "number" if kind in ("integer", "float") else kind


def _options(values: list[Any]) -> str:
    text = ""
    for value in values:
        text += f'"{value}"' if isinstance(value, str) else str(value)
        text += " | " if value != values[-1] else ""
    return text


def _array(name: str | None, spec: dict[str, Any], depth: int) -> str:
    start = "\n" + "    " * depth
    label = start + ("" if name is None else name + ": ")
    items = spec.get("items", {})
    if not items:
        return label + "[]"
    kind = _functionary_type(items)
    if kind == "object":
        inner = _members(items.get("properties", {}), items.get("required", []), depth + 1)
        return f"{label}{{{inner}{start}}}[]"
    if kind == "array":
        inner = _array(None, items, depth + 1)
        return f"\n{inner}[]" if name is None else f"{label}{inner.strip()}[]"
    if "enum" in items:
        options = f"({_options(items['enum'])})[]"
        return options if name is None else label + options
    return f"\n{kind}[]" if name is None else f"{label}{kind}[],"
