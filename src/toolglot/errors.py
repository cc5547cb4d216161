"""What can go wrong, as an API.

    ToolglotError
    ├── ParseError (ValueError)         the model's or provider's text is not what it should be
    │   ├── NoToolCallFoundError        there is no call in it
    │   └── TruncatedError              it ends inside a call
    ├── LimitError                      a bound of `Limits` was passed
    ├── DefinitionError (ValueError)    a format, tool or name that the caller gave is wrong
    ├── ConversionError (ValueError)    something cannot be written for the target
    │   └── UnsafeValueError            a value would be read back as markup
    └── BatchError (ValueError)         a row of a batch cannot be read, or the batch cannot go on

Misuse of the library itself is a `TypeError` or `RuntimeError`.

`CODES` is the one table of codes, `LOSSES` that of the codes of a `Loss`, `PROBLEMS` that of a `Problem`, `REPAIRS`
that of a `Repair`; the documentation is made from them.
"""

from __future__ import annotations

from typing import Any

from .types import Loss, Message, Span, ToolCall, Violation

CODES: dict[str, str] = {
    # Code: what it means. What the model has to write instead stands in `feedback.REMEDIES`.
    "json.expected_value": "a JSON value was expected",
    "json.expected_key": "an object key must be a double-quoted string",
    "json.expected_colon": "a ':' was expected after an object key",
    "json.expected_comma": "a ',' or the closing bracket was expected after a value",
    "json.trailing_comma": "a comma stands before the closing bracket",
    "json.trailing_characters": "something follows the JSON value",
    "json.unexpected_end": "the JSON ends too early",
    "json.unterminated_string": "a string has no closing quote",
    "json.control_character": "a control character stands unescaped in a string",
    "json.invalid_escape": "a backslash is followed by a character that is no escape",
    "json.invalid_unicode_escape": "\\u must be followed by four hexadecimal digits",
    "json.lone_surrogate": "half of a surrogate pair stands alone",
    "json.invalid_literal": "a word that is not true, false or null",
    "json.invalid_number": "a number that JSON does not allow",
    "json.number_out_of_range": "a number too large for a 64-bit float",
    "json.number_too_long": "an integer of more than 4,300 digits",
    "json.duplicate_key": "an object has the same key twice",
    "json.too_deep": "values are nested deeper than the limit",
    "tool_call.not_found": "there is no tool call in the text",
    "tool_call.multiple": "one tool call was expected and there are more",
    "tool_call.unrecognized": "what stands in the tool-call markup is not a tool call",
    "tool_call.invalid_name": "the tool name is empty, too long or not a string",
    "tool_call.invalid_arguments": "the arguments are not an object",
    "tool_call.ambiguous_arguments": "the call has more than one arguments key",
    "tool_call.positional_argument": "arguments must be given as name=value",
    "tool_call.duplicate_argument": "the same argument is given twice",
    "tool_call.unknown_tool": "no tool of that name was declared",
    "tool_call.expected_value": "a literal value was expected",
    "tool_call.expected_key": "a dictionary key must be a quoted string",
    "tool_call.expected_colon": "a ':' was expected after a dictionary key",
    "tool_call.expected_comma": "a ',' or the closing bracket was expected",
    "tool_call.expected_markup": "the format's next tag was expected",
    "tool_call.duplicate_key": "a dictionary has the same key twice",
    "tool_call.invalid_escape": "an escape sequence that is not allowed here",
    "tool_call.unterminated_string": "a string has no closing quote",
    "tool_call.trailing_characters": "something follows the call",
    "tool_call.unexpected_end": "the call ends too early",
    "tool_call.truncated": "the output was cut off inside a call",
    "tool_call.limit": "a limit was passed",
    "reasoning.unclosed": "the reasoning was never closed, so nothing in it is run",
    "provider.invalid_encoding": "the payload is not UTF-8",
    "provider.invalid_event": "what stands in a stream is no event: it is not JSON, or a checksum is wrong",
    "provider.event_after_end": "something came behind the end of a provider's stream",
    "provider.stream_incomplete": "a provider's stream ended before the provider said that it was complete",
    "provider.truncated_event": "the stream ends inside an event",
    "provider.error_response": "the provider answered with an error",
    "schema.violation": "the arguments do not fit the tool's schema",
    "schema.invalid": "the schema of a tool's parameters is wrong",
    "definition.unknown_provider": "no provider has that name",
    "definition.unknown_format": "no format has that name",
    "definition.ambiguous_name": "several formats have that name",
    "definition.invalid_pattern": "a format's declaration is wrong",
    "definition.invalid_tool": "a tool definition is wrong",
    "definition.invalid_function": "a function or class cannot be described to a model",
    "conversion.unsafe_value": "a value would be read back as markup",
    "conversion.unsupported": "the target has no way to write this",
    "conversion.missing_id": "the target wants an id, and the call or result has none",
    "conversion.missing_name": "the target wants the tool's name, and the result has none",
    "conversion.lossy": "something would be lost, and strict=True forbids that",
    # Of a row, in its own errors; the batch goes on.
    "batch.invalid_line": "a line of the input is no JSON object",
    "batch.invalid_encoding": "a row is not UTF-8, or half of a surrogate pair stands alone in it",
    "batch.line_too_long": "a line of the input is longer than 128 MiB",
    "batch.missing_text": "the row has nothing to read: the column is null or not there",
    "batch.invalid_text": "what stands in the column to read is not text",
    "batch.invalid_option": "the row's own model, tools, end of the prompt or finish reason cannot be used",
    # Of the batch, which stops; what is done is kept.
    "batch.input": "an input is not there, is cut off or is damaged",
    "batch.columns": "the input has no such column, or a column cannot be carried along",
    "batch.output": "the output cannot be written: it is there already, the disk is full, or it is no place for a file",
    "batch.changed": "what was begun with other options or another input cannot be gone on with",
    "batch.worker": "a worker process died",
    "batch.crash": "a row brought down the parser, which is a mistake in Toolglot",
}

LOSSES: dict[str, str] = {
    # The codes of `Loss`.
    "loss.schema_keyword": "the target does not know a keyword of the schema",
    "loss.schema_union": "oneOf or allOf was written in another way, which says less",
    "loss.schema_root_union": "a union at the top of the parameters became one object",
    "loss.schema_reference": "a $ref points nowhere",
    "loss.schema_recursion": "a schema that mentions itself was cut off",
    "loss.schema_untyped": "the target wants a type where any value was allowed",
    "loss.schema_enum": "the target lists strings only",
    "loss.schema_tuple": "the target does not tell the positions of an array apart",
    "loss.schema_size": "the schema is too large to be written out",
    "loss.name": "a name that the target does not take was changed; parsing with the same tools gives it back",
    "loss.tool_kind": "a tool of free text became one with a single string, or a server's own tool was left out",
    "loss.tool_extra": "the target has no place for something that the definition says",
    "loss.tool_choice": "the target cannot be told this choice exactly",
    "loss.parallel": "the target cannot be told whether calls may be parallel",
    "loss.choice": "there are more choices than the one that was read",
    "loss.unread": "a part of the payload is not as the API has it, or is not known, and was not read",
    "loss.part": "the target has no place for this part of a message or result",
    "loss.extra": "a message, part or call said something that is for its own provider only",
    "loss.moved": "something stands in another place: a part of a result in a message of its own, a result behind its "
    "call, a system message in the one system prompt",
    "loss.error_flag": "the target has no flag for a result that is an error, and the text does not say so",
    "loss.reasoning": "the target does not take this reasoning, or not back",
    "loss.stop_reason": "the target's word for why the model stopped would make a whole call look cut off",
    "loss.result_missing": "a call has no result, which the target demands",
    "loss.result_unmatched": "a result belongs to none of the calls",
    "loss.strict": "strict mode cannot be kept with this schema or at this provider",
}

PROBLEMS: dict[str, str] = {
    # The codes of `Problem`.
    "history.orphan_call": "a call has no result",
    "history.orphan_result": "a result answers no call of the message before it",
    "history.duplicate_id": "two calls have the same id",
    "history.duplicate_result": "a call has two results",
    "history.missing_id": "a call or result has no id",
    "history.illegal_id": "an id has characters or a length that the API does not take",
    "history.illegal_name": "a tool's name has characters or a length that the API does not take",
    "history.missing_name": "a call or result has no name",
    "history.results_not_adjacent": "something stands between a call and its result",
    "history.results_split": "the results of one turn stand in several messages",
    "history.results_mixed": "a message holds results and something else",
    "history.result_order": "results are not in the order of their calls",
    "history.text_before_results": "something stands before the results in their message",
    "history.text_after_calls": "something stands behind the calls in their message",
    "history.user_after_tool": "a user's message follows a result without the assistant's in between",
    "history.turn_order": "a message may not stand in this place",
    "history.tools_missing": "there are calls or results, and the request declares no tools",
    "history.arguments_not_object": "the arguments of a call are not a JSON object",
    "history.empty_arguments": "the arguments of a call are an empty string",
    "history.empty_text": "a text is empty",
    "history.empty_message": "a message says nothing",
    "history.unknown_role": "a message has no role, or one that the API does not have",
    "history.empty_result": "a result says nothing",
    "history.result_not_object": "a result is not an object",
    "history.reasoning_missing": "reasoning that has to go back is not there",
    "history.reasoning_order": "reasoning does not stand first",
    "history.reasoning_alone": "reasoning has lost what came behind it",
    "history.unsigned_reasoning": "reasoning lacks the signature that it came with",
    "history.signature_missing": "a call lacks the signature that it came with",
    "history.server_result_missing": "a call that the provider ran has lost its result",
}

REPAIRS: dict[str, str] = {
    # The codes of `Repair`.
    "coerce.string_to_integer": "a string held the integer that the schema declares",
    "coerce.string_to_number": "a string held the number that the schema declares",
    "coerce.string_to_boolean": "a string held the boolean that the schema declares",
    "coerce.string_to_array": "a string held the array that the schema declares, as JSON",
    "coerce.string_to_object": "a string held the object that the schema declares, as JSON",
    "coerce.string_to_null": "a string held the null that the schema declares",
    "coerce.forced_null": "a null stood for an optional member that may not be null, and was left out",
    "repair.single_quotes": "a string stood between single quotes",
    "repair.python_literal": "True, False or None stood for true, false or null",
    "repair.trailing_comma": "a comma stood before a closing bracket",
    "repair.missing_comma": "a comma was missing between two members, or before or behind a bracket in a list",
    "repair.control_character": "line breaks, tabs or the like stood unescaped in a string",
    "repair.inner_quote": "a quote stood unescaped in a string whose end only one reading finds; needs `tools`",
    "repair.escaped_quote": "a single quote was escaped between double quotes",
    "repair.unquoted_key": "a key stood without quotes",
    "repair.quoted_name": "the name of an argument stood between quotes in Python's notation",
    "repair.sign": "a colon stood for an equals sign, or the other way round",
    "repair.call_key": "a call object had another word for 'name' or 'arguments'; needs `tools`",
    "repair.comment": "a comment stood in the JSON",
    "repair.code_fence": "a code fence stood around the JSON",
    "repair.extra_bracket": "a closing bracket behind the JSON was one too many",
    "repair.missing_bracket": "a closing bracket was missing before the call's own closer or the bracket around it, or "
    "at the end of an output that was not cut off",
    "repair.missing_tag": "the closer of a call was missing where nothing else of it could follow",
    "repair.missing_opener": "what opens a call, or the section around it, was missing before a declared tool's call; "
    "needs `tools`",
    "repair.tag_drift": "a tag was spelled with white space, capitals, quotes or another attribute, or without its end",
    "repair.wrong_dialect": "calls of another format stood where those of this format should",
    "repair.double_encoded": "JSON stood in a string that was encoded once too often, or was damaged in that string",
}


class ToolglotError(Exception):
    """Every error that Toolglot raises about text, definitions or conversions. ``code`` is stable."""

    code: str

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[Any, ...]:
        # The generic path, for subclasses with arguments of their own as well: rebuild empty, then fill in.
        return _rebuild, (self.__class__, self.args, self.__dict__.copy())


def _rebuild(cls: type[ToolglotError], args: tuple[Any, ...], state: dict[str, Any]) -> ToolglotError:
    error = cls.__new__(cls)
    error.args = args
    error.__dict__.update(state)
    return error


class ParseError(ToolglotError, ValueError):
    """The text is broken. Two are equal if code, position, span and raw are.

    ``position`` is the code point in the caller's own text, also inside an arguments string; ``line`` and
    ``column`` count from 1. ``expected`` says what would have been right, where that is known. ``call_index``
    is the ordinal of the broken call, ``format`` its format. ``raw`` is the region that was given up, ``span``
    where it stands. ``path`` is the JSON path of what is wrong in a provider's payload; if that was not given as
    text, the positions are those of the string that stands there. ``message`` (the attribute) holds what was found,
    on the error that `parse` raises. ``id`` is the broken call's, where it has one. Where tools were given,
    ``signature`` is the tool on one line, and ``nearest`` are declared names in place of one that is not, the most
    similar first; ``called`` is what the provider calls the tool, where that is not its name.

    With ``validate=True``: ``violations`` say in what the arguments do not fit the tool's schema, the first of which
    the error's own text and position are those of; ``more_violations`` is how many there are beside these, counted up
    to 1,000. ``call`` is the call as it was read, which was not made.

    ``partial_arguments`` are the arguments of the broken call that are complete and stand before what is wrong, None if
    that is not known: something to show, nothing to run.
    """

    nearest: tuple[str, ...] = ()
    signature: str | None = None
    called: str | None = None
    violations: tuple[Violation, ...] = ()
    more_violations: int = 0
    call: ToolCall | None = None

    def __init__(
        self,
        text: str,
        code: str = "tool_call.unrecognized",
        *,
        position: int | None = None,
        line: int | None = None,
        column: int | None = None,
        expected: str | None = None,
        call_index: int | None = None,
        name: str | None = None,
        format: str | None = None,
        raw: str | None = None,
        span: Span | None = None,
        path: str | None = None,
        id: str | None = None,
    ) -> None:
        where = "" if line is None else f"line {line}, column {column}"
        if path is not None:
            where = f"{path}, {where}" if where else path
        where = where and f" ({where})"
        super().__init__(text + where, code)
        self.text = text
        self.position = position
        self.line = line
        self.column = column
        self.expected = expected
        self.call_index = call_index
        self.name = name
        self.format = format
        self.raw = raw
        self.span = span
        self.path = path
        self.id = id
        self.message: Message | None = None
        self.partial_arguments: dict[str, Any] | None = None

    def _key(self) -> tuple[Any, ...]:
        return (
            self.__class__,
            self.code,
            self.text,
            self.position,
            self.line,
            self.column,
            self.span,
            self.raw,
            self.path,
        )

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, ParseError) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def context(self, width: int = 72) -> str:
        """The line of the text that is wrong, and below it a caret; at most ``width`` characters wide."""
        if self.raw is None or self.position is None or self.span is None:
            return ""
        at = self.position - self.span[0]
        if not 0 <= at <= len(self.raw):
            return ""
        if at == len(self.raw):
            at = len(self.raw.rstrip())  # what is missing is shown behind what is there
        start = self.raw.rfind("\n", 0, at) + 1
        end = self.raw.find("\n", at)
        if end < 0:
            end = len(self.raw)
        before, after = "", ""
        if at - start > width * 2 // 3:
            start, before = at - width * 2 // 3, "..."
        if end - start > width:
            end, after = start + width, "..."
        line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in self.raw[start:end])
        return f"{before}{line}{after}\n{' ' * (len(before) + at - start)}^"

    def feedback(self) -> str:
        """A message for the model: what was wrong, where, what was expected, the tool's signature, and what to write
        instead. The same text for the same error, at most 2,000 characters; what it quotes holds no control
        characters and no markup (`docs/feedback.md` says how).
        """
        from .feedback import write

        return write(self.facts())

    def facts(self) -> dict[str, Any]:
        """What `feedback` is made of, as JSON values: ``code``, ``message``, ``tool``, ``id``, ``position``, ``line``,
        ``column``, ``path``, ``excerpt``, ``expected``, ``nearest``, ``signature``, ``violations``,
        ``more_violations``, ``instead``. Text is as safe as in the message.
        """
        from .feedback import facts

        return facts(self)


class NoToolCallFoundError(ParseError):
    """The text holds no tool call."""

    code = "tool_call.not_found"
    text = "no tool call found in text"
    position = line = column = expected = call_index = name = format = raw = span = path = id = message = None
    partial_arguments = None

    def __init__(self) -> None:
        # Raised for every text without a call, so it is cheap: all that it says stands on the class.
        Exception.__init__(self, self.text)


class TruncatedError(ParseError):
    """The text ends inside a call."""


class LimitError(ToolglotError):
    """A bound of `Limits` was passed: ``limit`` names it, ``position`` is where.

    ``message`` (the attribute) holds what was found until then, on the error that `parse` raises; a stream has it in
    its own ``message``.
    """

    message: Message | None = None

    def __init__(self, message: str, limit: str = "", position: int | None = None) -> None:
        super().__init__(message, "tool_call.limit")
        self.limit = limit
        self.position = position


class DefinitionError(ToolglotError, ValueError):
    """A format, a tool or a name that the caller gave is wrong.

    Of a schema (``schema.invalid``) ``tool`` is the tool's name and ``path`` the JSON path of what is wrong in it.
    """

    tool: str | None = None
    path: str | None = None

    def __init__(self, message: str, code: str = "definition.invalid_pattern") -> None:
        super().__init__(message, code)


class ConversionError(ToolglotError, ValueError):
    """Something cannot be written for the target. ``losses`` say what, where ``strict=True`` forbids any."""

    def __init__(self, message: str, code: str = "conversion.unsupported", losses: tuple[Loss, ...] = ()) -> None:
        super().__init__(message, code)
        self.losses = losses


class UnsafeValueError(ConversionError):
    """A value holds the format's own markup and would be read back as something else."""

    def __init__(self, message: str, code: str = "conversion.unsafe_value") -> None:
        super().__init__(message, code)


class BatchError(ToolglotError, ValueError):
    """A batch cannot go on, or (in its own errors) a row of it cannot be read; ``position`` is where in the line."""

    position: int | None = None

    def __init__(self, message: str, code: str, position: int | None = None) -> None:
        super().__init__(message, code)
        self.position = position


class Fault(Exception):
    """What a reader of values found, before it is known whose error it is. Internal.

    ``at`` is an index into the text that was handed to the reader; ``end`` says that the text ended there. ``name`` and
    ``id`` are those of a call that was read whole and is none for another reason.
    """

    name: str | None = None
    id: str | None = None

    def __init__(self, code: str, at: int, text: str, expected: str | None = None, end: bool = False) -> None:
        super().__init__(code, at, text)
        self.code = code
        self.at = at
        self.text = text
        self.expected = expected
        self.end = end
