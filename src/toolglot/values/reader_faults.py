"""What `LiteralReader` says when it gives up, and the states that it is in.

The codes and positions are those of the package llm-beacon where it reads the same dialect.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

from ..errors import Fault
from .dialect import Dialect, Quote

# Where the reader stands.
VALUE: Final = 0  # before a value, at the top or behind a key
FIRST_ITEM: Final = 1  # behind a list's bracket: an item or the closer
ITEM: Final = 2  # behind a list's comma
FIRST_KEY: Final = 3
KEY: Final = 4
COLON: Final = 5
AFTER: Final = 6  # behind a value: a comma or the closer
FIRST_NAME: Final = 7  # behind a call's parenthesis: a keyword or the closer
NAME: Final = 8
EQUALS: Final = 9
# Inside a token; white space counts.
STRING: Final = 10
NUMBER: Final = 11
BARE_KEY: Final = 12
KEYWORD: Final = 13


def found(text: str, pos: int) -> str:
    """How a message names the character at ``pos``."""
    if pos >= len(text):
        return "end of input"
    char = text[pos]
    if char == "'":
        return '"\'"'
    return f"'{char}'" if char.isprintable() else f"U+{ord(char):04X}"


class Faults:
    """The part of the reader that knows every message. Positions are absolute: index plus ``_shift``."""

    __slots__ = ("_arguments", "_closers", "_dialect", "_json", "_quote", "_shift", "_stack", "_start", "_state")

    _arguments: bool
    _closers: list[str]
    _dialect: Dialect
    _json: bool
    _quote: Quote
    _shift: int
    _stack: list[Any]
    _start: int
    _state: int

    def _fault(self, code: str, text: str, pos: int, message: str, expected: str | None = None) -> NoReturn:
        end = pos >= len(text)
        raise Fault(self._dialect.prefix + code, self._shift + pos, message, expected, end)

    def _no_value(self, text: str, pos: int, end: bool = False) -> NoReturn:
        what = "a JSON value" if self._json else "a literal value"
        message = f"expected {what}, found {found(text, pos)}"
        raise Fault(self._dialect.prefix + "expected_value", self._shift + pos, message, what, end)

    def _no_key(self, text: str, pos: int) -> NoReturn:
        if self._json:
            what = "a double-quoted object key"
        else:
            what = "an object key" if self._dialect.bare else "a quoted dictionary key"
        self._fault("expected_key", text, pos, f"expected {what}, found {found(text, pos)}", what)

    def _no_colon(self, text: str, pos: int) -> NoReturn:
        where = " after object key" if self._json else ""
        self._fault("expected_colon", text, pos, f"expected ':'{where}, found {found(text, pos)}", "':'")

    def _no_comma(self, at: int, shown: str, end: bool) -> NoReturn:
        closer = self._closers[-1]
        where = ""
        if self._json:
            where = " after object value" if closer == "}" else " after array item"
        elif self._arguments and len(self._stack) == 1:
            where = " after argument"
        what = f"',' or '{closer}'"
        message = f"expected {what}{where}, found {shown}"
        raise Fault(self._dialect.prefix + "expected_comma", at, message, what, end)

    def _positional(self, at: int, end: bool) -> NoReturn:
        message = "positional arguments are not supported; use name=value"
        raise Fault(self._dialect.prefix + "positional_argument", at, message, "name=value", end)

    def _unterminated(self, at: int, end: bool) -> NoReturn:
        code = self._dialect.prefix + "unterminated_string"
        raise Fault(code, at, "unterminated string", f"a closing {self._quote.token}", end)

    def _check_pairs(self, piece: str, at: int) -> None:
        """Refuse half of a surrogate pair in ``piece``, which stands at ``at``."""
        try:
            piece.encode("utf-16-le")
        except UnicodeEncodeError as error:
            at += error.start
            message = f"unpaired surrogate U+{ord(piece[error.start]):04X}"
            raise Fault("json.lone_surrogate", at, message) from None

    def _forbidden(self, char: str, pos: int) -> NoReturn:
        """A character that may not stand in a string as it is."""
        at = self._shift + pos
        if self._json:
            message = f"unescaped control character U+{ord(char):04X} in string"
            raise Fault("json.control_character", at, message, "an escape such as \\n")
        self._unterminated(self._start, False)

    def _ended(self, text: str) -> NoReturn:
        """The text ends where something has to follow."""
        size = len(text)
        state = self._state
        if not self._json:
            if state == AFTER:
                self._no_comma(self._shift + size, "end of input", True)
            if state in (FIRST_KEY, KEY):
                self._no_key(text, size)
            if state == COLON:
                self._no_colon(text, size)
            if state in (NAME, EQUALS):
                self._positional(self._start if state == EQUALS else self._shift + size, True)
        self._fault("unexpected_end", text, size, "unexpected end of input")
