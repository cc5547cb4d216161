"""Mends JSON in one pass: edits that leave every string, number and word of the model's as they are.

What has two readings is refused. The one choice that a reader may have, where a string with quotes inside it ends, is
left to whoever asks: `mend_json` gives each reading, of which just one may fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from ..values.json import quote
from .edits import Edit, Unmendable

__all__ = ["mend_json"]

# How often a text is read at most, to try where its strings end; and how many edits a text may need.
_READINGS: Final = 16
_MAX_EDITS: Final = 10_000

_WHITE: Any = re.compile(r"[ \t\r\n]*").match
_PLAIN: Any = re.compile(r'[^"\\\x00-\x1f]*').match
_PLAIN_SINGLE: Any = re.compile(r"[^'\\]*").match
_CONTROL: Any = re.compile(r"[\x00-\x1f]+").match
_NUMBER: Any = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?![\w.+-])").match
_WORD: Any = re.compile(r"[A-Za-z_$][\w$-]*").match
_COMMENT: Any = re.compile(r"//[^\n]*|#[^\n]*").match
_FENCE: Any = re.compile(r"```[\w+-]{0,20}[ \t]{0,64}\r?(?:\n|(?=[\[{]))").match
_ESCAPE: Any = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})').match
_KEY_AHEAD: Any = re.compile(
    r"""[ \t\r\n]*(?:"[^"\\\n]{1,512}"|'[^'\\\n]{1,512}'|[A-Za-z_$][\w$-]{0,511})[ \t\r\n]*:"""
).match
_SIGNS: Any = re.compile(r"""[^\w"']*["']""").match  # nothing but signs up to the next quote
_TELLING: Any = re.compile(r"[\"'{\[]").search
_WORDS: Final = {"True": "true", "False": "false", "None": "null"}
_LITERALS: Final = frozenset(("true", "false", "null"))
_CLOSER: Final = {"{": "}", "[": "]"}
_UNESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "'": "'"}

# Behind a quote inside a string: what may be structure, or an expression of more than this string.
_OPERATORS: Final = frozenset("\"':+%*=|&?;")

# Where a string stands.
_TOP, _KEY, _MEMBER, _ITEM = range(4)


class _Choice(Exception):
    """A string may end in so many places."""

    def __init__(self, ends: int) -> None:
        super().__init__(ends)
        self.ends = ends


def mend_json(
    text: str,
    pos: int,
    *,
    stops: tuple[str, ...] = (),
    closed: bool = False,
    quotes: bool = False,
    extra: bool = False,
    within: bool = False,
    depth: int = 512,
) -> Iterator[tuple[list[Edit], int]]:
    """The edits that make the JSON at ``text[pos]`` sound, and where it ends; one pair for each of its readings.

    ``stops`` are literals before which brackets may be missing; ``closed`` says that the end of the text is such a
    place. ``quotes``: quotes inside strings may be unescaped; ``extra``: closing brackets behind the value are too
    many; ``within``: one may close what the JSON stands in. Gives nothing if it cannot be mended. Linear.
    """
    todo: list[tuple[int, ...]] = [()]
    for _ in range(_READINGS):
        if not todo:
            return
        chosen = todo.pop()
        try:
            yield _Mender(text, stops, closed, quotes, extra, within, depth, chosen).run(pos)
        except Unmendable:
            pass
        except _Choice as choice:
            todo += [(*chosen, n) for n in range(choice.ends - 1, -1, -1)]
    if todo:
        raise Unmendable


class _Mender:
    def __init__(
        self,
        text: str,
        stops: tuple[str, ...],
        closed: bool,
        quotes: bool,
        extra: bool,
        within: bool,
        depth: int,
        chosen: tuple[int, ...],
    ) -> None:
        self.text = text
        self.stops = stops
        self.closed = closed
        self.quotes = quotes
        self.extra = extra
        self.within = within
        self.depth = depth
        self.chosen = chosen
        self.choice = 0
        self.edits: list[Edit] = []
        self.stack: list[str] = []

    def edit(self, start: int, end: int, after: str, code: str) -> None:
        if len(self.edits) >= _MAX_EDITS:
            raise Unmendable
        self.edits.append(Edit(start, end, after, code))

    def run(self, pos: int) -> tuple[list[Edit], int]:
        """Read the value at ``pos``."""
        text = self.text
        fenced = None
        pos = self.blank(pos)
        if text.startswith("```", pos):
            fenced = _FENCE(text, pos)
            if fenced is None:
                raise Unmendable
            self.edit(pos, fenced.end(), "", "repair.code_fence")
            pos = self.blank(fenced.end())
        if text[pos : pos + 1] not in ("{", "["):
            raise Unmendable
        pos = closed = self.value(pos)
        while text[(end := _WHITE(text, pos).end()) : end + 1] in ("}", "]") and self.extra:
            self.edit(end, end + 1, "", "repair.extra_bracket")
            pos = end + 1
        if pos > closed and any(edit.code == "repair.missing_bracket" for edit in self.edits):
            raise Unmendable  # one that seems too many may show where one is missing
        if fenced is not None:
            if not text.startswith("```", end):
                raise Unmendable
            self.edit(end, end + 3, "", "repair.code_fence")
            pos = end + 3
        return self.edits, pos

    def blank(self, pos: int) -> int:
        """Skip white space and comments."""
        text = self.text
        while True:
            pos = _WHITE(text, pos).end()
            if text.startswith("/*", pos):
                end = text.find("*/", pos + 2) + 2
                if end == 1:
                    raise Unmendable
            else:
                comment = _COMMENT(text, pos)
                if comment is None:
                    return pos
                end = comment.end()
            if any(stop in text[pos:end] for stop in self.stops):
                raise Unmendable
            self.edit(pos, end, "", "repair.comment")
            pos = end

    def value(self, pos: int) -> int:
        """Read the object or array at ``pos``; returns the index behind it."""
        text = self.text
        stack = self.stack
        stack.append(text[pos])
        pos += 1
        while True:
            # Before a key, an item, or the closer.
            pos = self.blank(pos)
            char = text[pos : pos + 1]
            if char in ("}", "]") and char:
                if char != _CLOSER[stack[-1]]:
                    raise Unmendable  # nothing stands in what would be closed: it may just have begun
                pos = self.close(pos)
            else:
                if stack[-1] == "{":
                    pos = self.key(pos)
                    char = text[pos : pos + 1]
                if char in ("{", "["):
                    if len(stack) >= self.depth:
                        raise Unmendable
                    stack.append(char)
                    pos += 1
                    continue
                pos = self.scalar(pos, char)
            # Behind a value: a comma, or closers.
            while True:
                if not stack:
                    return pos
                at = self.blank(pos)
                char = text[at : at + 1]
                if char == ",":
                    after = self.blank(at + 1)
                    if text[after : after + 1] in ("}", "]") and after < len(text):
                        self.edit(at, at + 1, "", "repair.trailing_comma")
                        pos = after
                        continue
                    pos = after
                    break
                if char in ("}", "]") and char:
                    pos = self.close(at)
                    continue
                if self.over(at):
                    if _TELLING(text, pos, at) is not None:
                        raise Unmendable  # a member may stand in what looks like a comment
                    return self.close_all(pos)
                if at == pos and char not in ("{", "[", '"', "'"):
                    raise Unmendable
                self.comma(pos, at, char)
                pos = at
                break

    def comma(self, pos: int, at: int, char: str) -> None:
        """A value stands at ``at`` behind one that ends at ``pos``: a comma is missing, if that is what it is."""
        text = self.text
        if self.stack[-1] == "{":
            if _KEY_AHEAD(text, at) is None or (at == pos and char not in "\"'"):
                raise Unmendable
        elif not (char in ("{", "[") or (char and text[pos - 1] in "}]")):
            raise Unmendable  # what stands side by side may be one value
        if text[pos - 1] in "\"'" and text[pos - 2] == ",":
            raise Unmendable  # it may be the comma that is meant
        self.edit(pos, pos, ",", "repair.missing_comma")

    def over(self, pos: int) -> bool:
        """Whether the JSON has to end here."""
        if pos == len(self.text):
            return self.closed
        return bool(self.stops) and self.text.startswith((*self.stops, "```"), pos)

    def close(self, pos: int) -> int:
        """A closing bracket stands at ``pos``."""
        char = self.text[pos]
        stack = self.stack
        if self.within and all(_CLOSER[opener] != char for opener in stack):
            return self.close_all(pos)  # it closes what the JSON stands in
        if _CLOSER[stack[-1]] != char:
            # Whatever is open inside what this closes has to be closed before it.
            if len(stack) < 2 or _CLOSER[stack[-2]] != char:
                raise Unmendable
            self.edit(pos, pos, _CLOSER[stack.pop()], "repair.missing_bracket")
        stack.pop()
        return pos + 1

    def close_all(self, pos: int) -> int:
        missing = "".join(_CLOSER[opener] for opener in reversed(self.stack))
        self.stack.clear()
        self.edit(pos, pos, missing, "repair.missing_bracket")
        return pos

    def key(self, pos: int) -> int:
        """Read a key and its colon; returns where the value stands."""
        text = self.text
        char = text[pos : pos + 1]
        if char in ('"', "'") and char:
            pos = self.string(pos, char, _KEY)
        else:
            word = _WORD(text, pos)
            if word is None:
                raise Unmendable
            self.edit(pos, word.end(), quote(word.group()), "repair.unquoted_key")
            pos = word.end()
        pos = self.blank(pos)
        if not text.startswith(":", pos):
            raise Unmendable
        return self.blank(pos + 1)

    def scalar(self, pos: int, char: str) -> int:
        text = self.text
        if char in ('"', "'") and char:
            return self.string(pos, char, _MEMBER if self.stack[-1] == "{" else _ITEM)
        number = _NUMBER(text, pos)
        if number is not None:
            end: int = number.end()
            return end
        word = _WORD(text, pos)
        if word is None:
            raise Unmendable
        end = word.end()
        if word.group() not in _LITERALS:
            if word.group() not in _WORDS:
                raise Unmendable
            self.edit(pos, end, _WORDS[word.group()], "repair.python_literal")
        return end

    # -- strings

    def string(self, pos: int, mark: str, where: int) -> int:
        """Read the string at ``pos``, whose quotes are ``mark``; returns the index behind it."""
        text = self.text
        controls: list[tuple[int, int]] = []
        escapes: list[int] = []  # backslashes before what needs none
        inner: list[int] = []  # quotes that cannot close
        ends: list[int] = []  # quotes that may, behind such quotes
        plain = _PLAIN if mark == '"' else _PLAIN_SINGLE
        at = pos + 1
        while True:
            at = plain(text, at).end()
            char = text[at : at + 1]
            if not char:
                raise Unmendable  # where it would have ended is not known
            if char == mark:
                if self.closes(at, where):
                    if not inner:
                        break
                    ends.append(at)
                    if mark == "'" or len(inner) % 2 == 0:
                        at = self.choose(ends)
                        break
                if where == _KEY or not self.quotes or self.structure(at):
                    raise Unmendable
                inner.append(at)
                at += 1
            elif char == "\\":
                if text.startswith("'", at + 1):
                    escapes.append(at)
                    at += 2
                    continue
                escape = _ESCAPE(text, at)
                if escape is None:
                    raise Unmendable
                at = escape.end()
            else:
                run = _CONTROL(text, at).end()
                controls.append((at, run))
                at = run
        if mark == "'":
            self.edit(pos, at + 1, quote(_unescape(text[pos + 1 : at])), "repair.single_quotes")
            return at + 1
        for a, b in controls:
            if a < at:
                self.edit(a, b, quote(text[a:b])[1:-1], "repair.control_character")
        for a in escapes:
            if a < at:
                self.edit(a, a + 2, "'", "repair.escaped_quote")
        for a in inner:
            if a < at:
                self.edit(a, a + 1, '\\"', "repair.inner_quote")
        return at + 1

    def choose(self, ends: list[int]) -> int:
        """Which of several ends of a string this reading takes."""
        if len(ends) == 1:
            return ends[0]
        if self.choice == len(self.chosen):
            raise _Choice(len(ends))
        self.choice += 1
        return ends[self.chosen[self.choice - 1]]

    def closes(self, at: int, where: int) -> bool:
        """Whether the quote at ``at`` may close a string, by what follows it."""
        text = self.text
        after = _WHITE(text, at + 1).end()
        char = text[after : after + 1]
        if where == _KEY:
            return char == ":"
        if not char or char in "}]" or text.startswith(("//", "/*", "#"), after) or self.over(after):
            return True
        if char == ",":
            if where == _ITEM:
                return True
            behind = _WHITE(text, after + 1).end()
            return text[behind : behind + 1] in ("}", "]", "/", "#") or _KEY_AHEAD(text, after + 1) is not None
        # A comma may be missing before what begins as a key does.
        return where == _MEMBER and after > at + 1 and char in "\"'" and _KEY_AHEAD(text, after) is not None

    def structure(self, at: int) -> bool:
        """Whether what follows a quote inside a string looks as if the string ended there, but for another damage."""
        text = self.text
        after = _WHITE(text, at + 1).end()
        if text.startswith(",", after):
            after = _WHITE(text, after + 1).end()
            return text.startswith(('"', "'"), after)
        return (text[after : after + 1] in _OPERATORS and after < len(text)) or _SIGNS(text, at + 1) is not None


def _unescape(text: str) -> str:
    """The string between single quotes."""
    if "\\" not in text:
        return text
    pieces: list[str] = []
    at = 0
    while (i := text.find("\\", at)) >= 0:
        pieces.append(text[at:i])
        char = text[i + 1 : i + 2]
        if char == "u":
            number = int(text[i + 2 : i + 6], 16)
            if 0xD800 <= number < 0xE000:
                raise Unmendable
            pieces.append(chr(number))
            at = i + 6
        else:
            if char == "/":
                raise Unmendable  # in Python the backslash is one
            pieces.append(_UNESCAPED[char])
            at = i + 2
    pieces.append(text[at:])
    return "".join(pieces)
