"""A strict reader of one literal, in any dialect, that takes its text in any pieces.

It keeps an explicit stack, so depth costs no recursion, and it never looks at a character twice: what it has
consumed is gone, and what it leaves (part of an escape, a word or a quote token) is a few characters long.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from json.encoder import encode_basestring as quote
from typing import Any, Final

from ..errors import Fault
from .dialect import FUNCTION_GEMMA, GEMMA, JSON, PYTHON, PYTHONIC, Dialect, Quote
from .gather import gather
from .reader_faults import (
    AFTER,
    BARE_KEY,
    COLON,
    EQUALS,
    FIRST_ITEM,
    FIRST_KEY,
    FIRST_NAME,
    ITEM,
    KEY,
    KEYWORD,
    NAME,
    NUMBER,
    STRING,
    VALUE,
    Faults,
    found,
)
from .scalars import MAX_DIGITS, read_escape, read_number
from .simple import scan_arguments

__all__ = [
    "FUNCTION_GEMMA",
    "GEMMA",
    "JSON",
    "MAX_DEPTH",
    "MAX_DIGITS",
    "PYTHON",
    "PYTHONIC",
    "Dialect",
    "LiteralReader",
    "complete_members",
    "found",
    "quote",
    "scan_arguments",
]

MAX_DEPTH: Final = 512

_LOOK: Final = 1024  # how much white space may stand between a quote and what shows that it closes
_WAIT: Final = -1  # what a step returns if more text is needed to decide
_NO: Final = -2  # there is no quote token

_NUMBER_RUN: Any = re.compile(r"[-+.0-9eE]*").match
_PLAIN_INT: Any = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?=[],} \n)])").match
_NAME_RUN: Any = re.compile(r"[A-Za-z0-9_]*").match
_BARE_RUN: Any = re.compile(r"[^:{},]*").match
_NAME_START: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_JSON_KEY: Final = "object key"
_OTHER_KEY: Final = "dictionary key"
_JSON_STARTS: Final = {"t": "true", "f": "false", "n": "null"}


class LiteralReader(Faults):
    """Reads one value in ``dialect`` from text that arrives in pieces.

    ``origin`` is the absolute position of the first character offered; every `Fault` has an absolute position.
    With ``arguments`` that character is the one behind a Python call's ``(``, and the value is the dict of its
    keyword arguments. With ``json_out`` the value's JSON text can be had by `take`.

    ``done`` says that ``value`` is complete. ``members`` holds ``(key, start, end)`` of each complete member of
    the outermost object, ``member`` the key and start of the one whose value is being read. ``is_data``, if set,
    says of a quote token and its absolute position whether it is none, but plain text.
    """

    # fmt: off
    # fmt: off
    __slots__ = (
        "_at", "_depth", "_echo", "_is_key", "_key", "_out", "_pieces", "_plain", "_verbatim", "_white",
        "done", "is_data", "member", "members", "value",
    )
    # fmt: on

    def __init__(
        self,
        dialect: Dialect,
        origin: int,
        *,
        depth: int = MAX_DEPTH,
        json_out: bool = False,
        arguments: bool = False,
    ) -> None:
        self.done = False
        self.is_data: Callable[[int, str], bool] | None = None
        self.value: Any = None
        self.members: list[tuple[str, int, int]] = []
        self.member: tuple[str, int] | None = None
        self._dialect = dialect
        self._json = dialect.prefix == "json."
        self._white: Any = dialect.white.match
        self._depth = depth
        self._echo = json_out
        self._arguments = arguments
        self._at = origin  # the absolute position of what is offered next
        self._shift = 0  # an absolute position less the index into the text at hand
        self._state = VALUE
        self._stack: list[Any] = []  # the open containers, each in its parent already
        self._closers: list[str] = []
        self._key = ""
        self._out: list[str] = []
        # The token that is being read: where it began, what was read of it, and how it goes on if it is a string.
        self._start = origin
        self._pieces: list[str] = []
        self._quote: Quote = dialect.quotes['"'][-1]
        self._plain: Any = None
        self._verbatim = False
        self._is_key = False
        if arguments:
            self._push({}, "{", ")")
            self._state = FIRST_NAME

    def take(self) -> str:
        """The value's JSON text since the last call (needs ``json_out``)."""
        text = "".join(self._out)
        self._out.clear()
        return text

    def feed(self, text: str, pos: int, final: bool = False) -> int:
        """Read on from ``text[pos:]`` and return the index behind what was consumed.

        What was not consumed has to be offered again with more text behind it; ``final`` says that there is none.
        Raises `Fault`.
        """
        size = len(text)
        if self._state == STRING:  # the hot path: a piece of a long string
            end: int = self._plain(text, pos).end()
            if end == size and not final:
                if pos != end:
                    self._add(text[pos:], self._at)
                    self._at += end - pos
                return end
        self._shift = self._at - pos
        while not self.done:
            if self._state < STRING:
                if pos < size and text[pos] <= " ":
                    pos = self._white(text, pos).end()
                if pos == size:
                    if final:
                        self._ended(text)
                    break
                new = self._step(text[pos], text, pos, final)
            elif pos == size and not final:
                break
            elif self._state == STRING:
                new = self._string(text, pos, final)
            elif self._state == NUMBER:
                new = self._number(text, pos, final)
            else:
                new = self._name(text, pos, final)
            if new < 0:
                break
            pos = new
        self._at = self._shift + pos
        return pos

    # ---- structure ---------------------------------------------------------------------------------------------

    def certain(self, end: int) -> dict[str, Any]:
        """The complete members of the outermost object, whose text ends at ``end``: a number there may go on."""
        return {
            key: self.value[key]
            for key, _, stop in self.members
            if stop < end or isinstance(self.value[key], (str, list, dict))
        }

    def _step(self, char: str, text: str, pos: int, final: bool) -> int:
        """Read a separator or bracket, or the start of a value or key, at ``char``."""
        state = self._state
        if state == AFTER:
            closer = self._closers[-1]
            if char == closer:
                return self._pop(text, pos, False)
            if char != ",":
                self._no_comma(self._shift + pos, found(text, pos), False)
            if closer == "}":
                self._state = KEY
            else:
                self._state = NAME if self._arguments and len(self._stack) == 1 else ITEM
            return pos + 1
        if state == VALUE:
            if len(self._stack) == 1:
                self.member = (self._key, self._shift + pos)
            return self._value(char, text, pos, final)
        if state == COLON:
            if char != ":":
                self._no_colon(text, pos)
            return self._named(pos)
        if state in (FIRST_ITEM, ITEM):
            if char == self._closers[-1]:
                return self._pop(text, pos, state == ITEM)
            return self._value(char, text, pos, final)
        if state in (FIRST_KEY, KEY):
            if char == "}":
                return self._pop(text, pos, state == KEY)
            self._start = self._shift + pos
            new = self._open(char, text, pos, final, True)
            if new != _NO:
                return new
            if not self._dialect.bare or char in ":{,":
                self._no_key(text, pos)
            self._state = BARE_KEY
            return pos
        if state == EQUALS:
            return self._equals(char, text, pos, final)
        if char == ")":
            return self._pop(text, pos, False)
        self._start = self._shift + pos
        if char not in _NAME_START:
            self._positional(self._start, False)
        self._state = KEYWORD
        return pos

    def _value(self, char: str, text: str, pos: int, final: bool) -> int:
        """Read the start of a value."""
        if char == "-" or "0" <= char <= "9":
            plain = _PLAIN_INT(text, pos)
            if plain is not None:
                token = plain[0]
                return self._scalar(int(token), token, pos + len(token))
            self._start = self._shift + pos
            self._state = NUMBER
            return pos
        new = self._open(char, text, pos, final, False)
        if new != _NO:
            return new
        closer = self._dialect.brackets.get(char)
        if closer is None:
            return self._word(char, text, pos, final)
        if len(self._stack) >= self._depth:
            raise Fault("json.too_deep", self._shift + pos, f"nesting is deeper than {self._depth} levels")
        if char == "{":
            self._push({}, "{", closer)
            self._state = FIRST_KEY
        else:
            self._push([], "[", closer)
            self._state = FIRST_ITEM
        return pos + 1

    def _push(self, container: Any, opener: str, closer: str) -> None:
        if self._stack:
            self._place(container, opener)
        else:
            self.value = container
            if self._echo:
                self._out.append(opener)
        self._stack.append(container)
        self._closers.append(closer)

    def _pop(self, text: str, pos: int, trailing: bool) -> int:
        """Close the innermost container at ``pos``; ``trailing`` says that a comma stands before."""
        closer = self._closers.pop()
        if trailing and not self._dialect.trailing:
            if self._json:
                self._fault("trailing_comma", text, pos, f"trailing comma before '{closer}'")
            if closer == "}":
                self._no_key(text, pos)
            self._no_value(text, pos)
        container = self._stack.pop()
        if self._echo:
            self._out.append("}" if isinstance(container, dict) else "]")
        self._finished(pos + 1)
        return pos + 1

    def _place(self, value: Any, json: str) -> None:
        """Put ``value`` into the innermost container; ``json`` is the start of its JSON text."""
        top = self._stack[-1]
        if isinstance(top, list):
            if self._echo:
                self._out.append(", " + json if top else json)
            top.append(value)
        else:
            if self._echo:
                self._out.append(json)
            top[self._key] = value

    def _finished(self, end: int) -> None:
        """Go on behind a value that ends at ``end``."""
        if not self._stack:
            self.done = True
            return
        self._state = AFTER
        if len(self._stack) == 1 and self.member is not None:
            key, start = self.member
            self.members.append((key, start, self._shift + end))
            self.member = None

    def _scalar(self, value: Any, json: str, end: int) -> int:
        """Store a value that is complete in itself and ends at ``end``."""
        if not self._stack:
            self.value = value
            if self._echo:
                self._out.append(json)
            self.done = True
            return end
        self._place(value, json)
        self._state = AFTER
        if self.member is not None and len(self._stack) == 1:
            self._finished(end)
        return end

    # ---- keys --------------------------------------------------------------------------------------------------

    def _set_key(self, key: str, word: str, code: str) -> None:
        """Take ``key``, which began at ``_start``, for the next value's."""
        if key in self._stack[-1]:
            raise Fault(self._dialect.prefix + code, self._start, f"duplicate {word} {quote(key)}")
        self._key = key
        self._state = COLON

    def _named(self, pos: int) -> int:
        """Go on behind the ``:`` or ``=`` at ``pos``."""
        if self._echo:
            key = quote(self._key)
            self._out.append(f", {key}: " if self._stack[-1] else f"{key}: ")
        self._state = VALUE
        return pos + 1

    @property
    def last_key(self) -> str | None:
        """The key whose value is being read, or would follow, in the outermost object or an object of the list."""
        if self.member is not None:
            return self.member[0]
        if not self._stack or not isinstance(self._stack[-1], dict):
            return None
        inside = self._state in (VALUE, NUMBER) or (self._state == STRING and not self._is_key)
        return self._key if inside and len(self._stack) == (1 if isinstance(self.value, dict) else 2) else None

    def _name(self, text: str, pos: int, final: bool) -> int:
        """Read on in a bare key or in a keyword."""
        bare = self._state == BARE_KEY
        end: int = (_BARE_RUN if bare else _NAME_RUN)(text, pos).end()
        piece = text[pos:end]
        if not piece.isascii():
            self._check_pairs(piece, self._shift + pos)
        self._pieces.append(piece)
        if end == len(text) and not final:
            return end
        key = "".join(self._pieces)
        self._pieces.clear()
        if not bare:
            self._key = key
            self._state = EQUALS
        else:
            self._set_key(key.rstrip(" \t\n\r"), "key", "duplicate_key")
        return end

    def _equals(self, char: str, text: str, pos: int, final: bool) -> int:
        if char == "=" and pos + 1 == len(text) and not final:
            return _WAIT  # `a==` is a comparison, no keyword
        if char != "=" or text.startswith("==", pos):
            self._positional(self._start, False)
        self._set_key(self._key, "argument", "duplicate_argument")
        return self._named(pos)

    # ---- scalars -----------------------------------------------------------------------------------------------

    def _word(self, char: str, text: str, pos: int, final: bool) -> int:
        """Read a word that is a literal."""
        size = len(text)
        if self._json:
            word = _JSON_STARTS.get(char)
            if word is None:
                self._no_value(text, pos)
            elif not text.startswith(word, pos):
                if size - pos < len(word) and word.startswith(text[pos:]):
                    if not final:
                        return _WAIT
                    self._ended(text)
                self._fault("invalid_literal", text, pos, f"invalid literal, expected '{word}'", word)
        else:
            end: int = _NAME_RUN(text, pos).end()
            word = text[pos:end]
            begun = end == size and bool(word) and any(known.startswith(word) for known in self._dialect.words)
            if begun and not final:
                return _WAIT
            if word not in self._dialect.words or char not in _NAME_START:
                self._no_value(text, pos, begun)
        value, json = self._dialect.words[word]
        return self._scalar(value, json, pos + len(word))

    def _number(self, text: str, pos: int, final: bool) -> int:
        """Read on in a number: first the run of characters that occur in numbers, then judge it."""
        size = len(text)
        end: int = _NUMBER_RUN(text, pos).end()
        token = text[pos:end]
        if self._pieces or (end == size and not final):
            self._pieces.append(token)
            if end == size and not final:
                return end
            token = "".join(self._pieces)
            self._pieces.clear()
        try:
            value, length = read_number(token, final and end == size)
        except Fault as fault:
            fault.at += self._start
            raise
        if length < len(token):
            at, shown = self._start + length, found(token, length)
            if self._stack:
                self._no_comma(at, shown, False)
            raise Fault(self._dialect.prefix + "trailing_characters", at, f"unexpected {shown} after a number")
        return self._scalar(value, token, end)

    # ---- strings -----------------------------------------------------------------------------------------------

    def _open(self, char: str, text: str, pos: int, final: bool, is_key: bool) -> int:
        """Read the quote token at ``pos``; `_NO` if there is none."""
        quotes = self._dialect.quotes.get(char)
        if quotes is None:
            return _NO
        for kind in quotes:
            if text.startswith(kind.token, pos) and not self._no_token(kind, pos):
                self._start = self._shift + pos
                pos += len(kind.token)
                end: int = kind.plain.match(text, pos).end()  # type: ignore[union-attr]
                # All of it is here, and it is plain.
                if (text.startswith(kind.token, end) and not self._no_token(kind, end)) and (
                    not kind.follow or self._follows(kind, is_key, text, end + len(kind.token), final)
                ):
                    value = text[pos:end]
                    if not value.isascii():
                        self._check_pairs(value, self._shift + pos)
                    end += len(kind.token)
                    if not is_key:
                        return self._scalar(value, f'"{value}"' if kind.verbatim else quote(value), end)
                    self._set_key(value, _JSON_KEY if self._json else _OTHER_KEY, "duplicate_key")
                    return self._named(end) if text.startswith(":", end) else end
                self._state = STRING
                self._quote = kind
                self._plain = kind.plain.match
                self._is_key = is_key
                self._verbatim = kind.verbatim
                if self._echo and not is_key:
                    top = self._stack[-1] if self._stack else None
                    self._out.append(', "' if top and isinstance(top, list) else '"')
                return pos
            if len(text) - pos < len(kind.token) and kind.token.startswith(text[pos:]):
                if not final:
                    return _WAIT
                if kind is quotes[-1]:
                    self._ended(text)
        return _NO

    def _add(self, piece: str, at: int) -> None:
        """Append plain text, which stands at ``at``, to the string."""
        if not piece.isascii():
            self._check_pairs(piece, at)
        gather(self._pieces, piece)
        if self._echo and not self._is_key:
            self._out.append(piece if self._verbatim else quote(piece)[1:-1])

    def _string(self, text: str, pos: int, final: bool) -> int:
        """Read on in a string, to its end if it is there."""
        size = len(text)
        start = pos
        kind = self._quote
        while True:
            end: int = self._plain(text, pos).end()
            if end != pos:
                self._add(text[pos:end], self._shift + pos)
                pos = end
            if pos == size:
                if final:
                    self._unterminated(self._start, True)
                return pos
            if text.startswith(kind.token, pos):
                if self._no_token(kind, pos):
                    self._add_char(text[pos])
                    pos += 1
                    continue
                closes = not kind.follow or self._follows(kind, self._is_key, text, pos + len(kind.token), final)
                if closes:
                    return self._close(pos + len(kind.token))
                if closes is None:
                    return pos if pos != start else _WAIT
                self._add_char(text[pos])
                pos += 1
                continue
            char = text[pos]
            if char == "\\" and kind.escapes:
                new = self._escape(text, pos, final)
            elif char != kind.token[0]:
                self._forbidden(char, pos)
            elif not final and kind.token.startswith(text[pos : pos + len(kind.token)]):
                new = _WAIT
            else:
                self._add_char(char)  # the first of the token's characters, alone
                new = pos + 1
            if new < 0:
                return pos if pos != start else _WAIT
            pos = new

    def _no_token(self, kind: Quote, pos: int) -> bool:
        """Whether the quote token at ``pos`` is plain text."""
        return self.is_data is not None and self.is_data(self._shift + pos, kind.token)

    def _follows(self, kind: Quote, is_key: bool, text: str, pos: int, final: bool) -> bool | None:
        """Whether what follows a quote token at ``pos`` lets it close the string; None: more text decides."""
        end: int = self._white(text, pos).end()
        if end - pos >= _LOOK:
            return False
        if end == len(text):
            return True if final else None
        return text[end] == ":" if is_key else text[end] in kind.follow

    def _close(self, pos: int) -> int:
        pieces = self._pieces
        value = pieces[0] if len(pieces) == 1 else "".join(pieces)
        pieces.clear()
        if self._is_key:
            self._set_key(value, _JSON_KEY if self._json else _OTHER_KEY, "duplicate_key")
            return pos
        if self._echo:
            self._out.append('"')
        if self._stack:
            top = self._stack[-1]
            if isinstance(top, list):
                top.append(value)
            else:
                top[self._key] = value
        else:
            self.value = value
        self._finished(pos)
        return pos

    def _escape(self, text: str, pos: int, final: bool) -> int:
        if pos + 1 == len(text):
            if final:
                self._unterminated(self._shift + pos if self._json else self._start, True)
            return _WAIT
        try:
            read = read_escape(text, pos, self._quote, self._json, final)
        except Fault as fault:
            fault.at += self._shift
            raise
        if read is None:
            return _WAIT
        self._add_char(read[0])
        return read[1]

    def _add_char(self, char: str) -> None:
        gather(self._pieces, char)
        if self._echo and not self._is_key:
            self._out.append(quote(char)[1:-1])


def complete_members(text: str, pos: int, keys: tuple[str, ...] | None) -> dict[str, Any] | None:
    """The complete members of the JSON object at ``text[pos]``, which is broken somewhere.

    With ``keys``, those of the object under one of them. None if that has not begun.
    """
    reader = LiteralReader(JSON, pos)
    try:
        reader.feed(text, pos)
    except Fault:
        pass
    if not isinstance(reader.value, dict):
        return None
    if keys is None:
        return {key: reader.value[key] for key, _, _ in reader.members}
    for key, _, _ in reader.members:
        if key in keys:
            value = reader.value[key]
            return value if isinstance(value, dict) else None
    if reader.member is None or reader.member[0] not in keys or not text.startswith("{", reader.member[1]):
        return None
    return complete_members(text, reader.member[1], None)
