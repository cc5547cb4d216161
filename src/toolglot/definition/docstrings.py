"""Docstrings in Google, NumPy or reST style: what a function does, and what each parameter is."""

from __future__ import annotations

import inspect
import re

_GOOGLE_HEAD = re.compile(
    r"(Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments|Other Parameters):[ \t]*\Z"
)
_ANY_GOOGLE_HEAD = re.compile(
    r"(?:Returns?|Yields?|Raises|Examples?|Notes?|Attributes|Todo|Warns|Warnings?|See Also|References):[ \t]*\Z"
)
_GOOGLE_ITEM = re.compile(r"\*{0,2}(\w+)[ \t]*(?:\([^()]*(?:\([^()]*\)[^()]*)?\))?[ \t]*:[ \t]*(.*)")
_NUMPY_HEADS = ("Parameters", "Other Parameters", "Arguments", "Keyword Arguments")
_NUMPY_ITEM = re.compile(r"(\*{0,2}\w+(?:[ \t]*,[ \t]*\*{0,2}\w+)*)[ \t]*(?::.*)?\Z")
_REST_ITEM = re.compile(
    r":(?:param|parameter|arg|argument|key|keyword)[ \t]+(?:[^:\n]*[ \t])?\*{0,2}(\w+)[ \t]*:[ \t]*(.*)"
)
_REST_OTHER = re.compile(r":(?:type|return|returns|rtype|raise|raises|yield|yields|var|ivar|cvar)\b")


def read_docstring(doc: str | None) -> tuple[str, dict[str, str]]:
    """The description, and the description of each parameter."""
    if not doc:
        return "", {}
    lines = inspect.cleandoc(doc).splitlines()
    about: list[str] = []
    parameters: dict[str, list[str]] = {}
    section = ""  # "" the description, "google" or "numpy" parameters, "rest" one field, "other" what is of no use
    current: list[str] | None = None
    indent = -1  # of the items of a Google section
    for number, line in enumerate(lines):
        text = line.strip()
        depth = len(line) - len(line.lstrip())
        rule = lines[number + 1].strip() if number + 1 < len(lines) else ""
        if depth == 0 and text and len(rule) > 2 and set(rule) == {"-"}:
            section = "numpy" if text in _NUMPY_HEADS else "other"
            current = None
        elif section in ("numpy", "other") and len(text) > 2 and set(text) == {"-"}:
            pass
        elif depth == 0 and _GOOGLE_HEAD.match(text):
            section, current, indent = "google", None, -1
        elif depth == 0 and _ANY_GOOGLE_HEAD.match(text):
            section, current = "other", None
        elif item := _REST_ITEM.match(text):
            section, current = "rest", parameters.setdefault(item[1], [])
            current.append(item[2])
        elif _REST_OTHER.match(text):
            section, current = "other", None
        elif section == "":
            about.append(line)
        elif section == "google":
            if text and depth == 0:
                section, current = "", None  # prose after the section
                about.append(line)
            elif text and indent in (-1, depth):
                indent = depth
                item = _GOOGLE_ITEM.match(text)
                current = parameters.setdefault(item[1], []) if item else None
                if item and current is not None:
                    current.append(item[2])
            elif current is not None:
                current.append(text)
        elif section == "numpy":
            names = _NUMPY_ITEM.match(text) if text and depth == 0 else None
            if names:
                current = []
                for name in names[1].split(","):
                    parameters[name.strip().lstrip("*")] = current
            elif current is not None:
                current.append(text)
        elif section == "rest" and current is not None:
            if text and depth == 0:
                section, current = "other", None
            else:
                current.append(text)
    return "\n".join(about).strip(), {name: _joined(said) for name, said in parameters.items()}


def _joined(lines: list[str]) -> str:
    """Lines as one paragraph each; blank lines part paragraphs."""
    text = "\n".join(lines).strip()
    return "\n".join(" ".join(paragraph.split()) for paragraph in re.split(r"\n\n+", text)) if text else ""
