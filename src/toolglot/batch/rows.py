"""One row in, one record out: whatever stands in the row."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ..api import _Options
from ..definition import ToolSet
from ..errors import BatchError, ToolglotError
from ..finish import read_finish_reason
from ..providers._api import get_provider, parse_response
from ..schema.validate import engine
from ..types import Message, StopReason
from .options import Options
from .record import Record, broken, record_of

# How many distinct models, tools and prompts are kept ready, and for how many rows: a set of tools remembers every
# name that it was asked for, and the names are the models'.
_READY: Final = 256
_ROWS: Final = 4096
_NULLS: Final = ("NAType", "NaTType")  # of pandas, which is not imported to be asked


class RowReader:
    """Reads rows by one set of options; what is wrong with a row is in its record."""

    __slots__ = ("_columns", "_options", "_plain", "_ready", "_rows", "_toolset")

    def __init__(self, options: Options) -> None:
        self._options = options
        own = (options.model_column, options.tools_column, options.generation_prompt_column)
        self._columns = any(name is not None for name in own)
        if options.response_column is not None and options.provider != "auto":
            get_provider(options.provider)  # what is wrong with the name shows at once
        if options.validate:
            engine()  # and so does a package that is missing
        self._renew()

    def _renew(self) -> None:
        """Forget the names that the rows had."""
        options = self._options
        self._rows = 0
        self._ready: dict[Any, Any] = {}
        self._toolset = ToolSet.of(options.tools)
        if options.response_column is None:
            self._plain = self._chosen(options.model, self._toolset, options.generation_prompt)

    def read(self, row: Mapping[str, Any]) -> Record:
        """The record of a row."""
        self._rows += 1
        if self._rows > _ROWS:
            self._renew()
        try:
            message = self._text(row) if self._options.response_column is None else self._response(row)
            return record_of(message)
        except ToolglotError as error:
            return broken(error)

    def _text(self, row: Mapping[str, Any]) -> Message:
        options = self._options
        text = row.get(options.text_column)
        if text.__class__ is not str:
            text = _text_of(_value(row, options.text_column), options.text_column)
        if not text.isascii():
            _encodable(text)
        reason: StopReason | None = None
        if options.finish_reason_column is not None:
            try:
                reason = read_finish_reason(_option(row, options.finish_reason_column))
            except ValueError as error:
                raise BatchError(f"{options.finish_reason_column}: {error}", "batch.invalid_option") from None
        chosen = self._of_row(row) if self._columns else self._plain
        return chosen.read(text, reason)

    def _response(self, row: Mapping[str, Any]) -> Message:
        options = self._options
        response = _value(row, options.response_column or "")
        if response is None:
            said = f"there is no response: {options.response_column!r} is null or missing"
            raise BatchError(said, "batch.missing_text")
        if not isinstance(response, (str, bytes, Mapping, list)):
            raise BatchError(
                f"{options.response_column}: expected a response, got {type(response).__name__}", "batch.invalid_text"
            )
        tools = self._tools(row)
        checked = tools is not None
        return parse_response(
            response,
            options.provider,
            on_error=options.on_error,
            ids=options.ids,
            tools=tools,
            text_format=options.text_format,
            validate=options.validate and checked,
            coerce=options.coerce and checked,
        )

    def _of_row(self, row: Mapping[str, Any]) -> _Options:
        """The options of a row that says some itself."""
        options = self._options
        model, prompt = options.model, options.generation_prompt
        if options.model_column is not None:
            model = _option(row, options.model_column) or model
        if options.generation_prompt_column is not None:
            own = _option(row, options.generation_prompt_column)
            prompt = prompt if own is None else own
        tools = None if options.tools_column is None else _value(row, options.tools_column)
        key = (model, prompt, _key(tools))
        found = self._ready.get(key)
        if found is None:
            found = self._chosen(model, self._tools(row), prompt)
            self._keep(key, found)
        return found

    def _tools(self, row: Mapping[str, Any]) -> Any:
        """The tools of a row, read once for as long as they are the same."""
        options = self._options
        tools = None if options.tools_column is None else _value(row, options.tools_column)
        if tools is None:
            return self._toolset
        key = _key(tools)
        found = self._ready.get(key)
        if found is None:
            found = _read_tools(tools, str(options.tools_column))
            self._keep(key, found)
        return found

    def _keep(self, key: Any, value: Any) -> None:
        if len(self._ready) >= _READY:
            self._ready.clear()
        self._ready[key] = value

    def _chosen(self, model: str | None, tools: Any, prompt: str | None) -> _Options:
        options = self._options
        checked = tools is not None
        return _Options(
            options.format,
            model,
            tools,
            options.tool_choice,
            prompt,
            options.on_error,
            options.ids,
            options.validate and checked,
            options.coerce and checked,
            options.limits,
        )


def parse_rows(rows: Iterable[Mapping[str, Any] | str | None], **options: Any) -> Iterator[Record]:
    """The record of each row, in order; the options are the fields of `Options`.

    A row is a mapping of columns, or the text itself. A record has the names of `COLUMNS`, and of the columns that
    are kept.

    >>> rows = [{"id": 7, "text": "[TOOL_CALLS]ping[ARGS]{}"}, {"id": 8, "text": None}]
    >>> for record in parse_rows(rows, keep=["id"]):
    ...     print(record["id"], [c["name"] for c in record["tool_calls"]], [e["code"] for e in record["errors"]])
    7 ['ping'] []
    8 [] ['batch.missing_text']
    """
    chosen = Options(**options)
    return _records(rows, chosen, RowReader(chosen))


def _records(rows: Iterable[Any], options: Options, reader: RowReader) -> Iterator[Record]:
    for row in rows:
        columns = row if isinstance(row, Mapping) else {options.read_column: row}
        record = reader.read(columns)
        for name in options.keep:
            record[name] = columns.get(name)
        yield record


def _value(row: Mapping[str, Any], column: str) -> Any:
    """What stands in a column; for NaN and NA, with which pandas writes null, None."""
    value = row.get(column)
    if (isinstance(value, float) and math.isnan(value)) or type(value).__name__ in _NULLS:
        return None
    return value


def _text_of(value: Any, column: str) -> str:
    if value is None:
        raise BatchError(f"there is no text: {column!r} is null or missing", "batch.missing_text")
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise BatchError(
                f"{column}: not UTF-8: {error.reason} at byte {error.start}", "batch.invalid_encoding"
            ) from None
    raise BatchError(f"{column}: expected text, got {type(value).__name__}", "batch.invalid_text")


def _encodable(text: str) -> None:
    """Halves of surrogate pairs cannot be written, neither as UTF-8 nor to Arrow."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BatchError(
            "half of a surrogate pair stands alone", "batch.invalid_encoding", position=error.start
        ) from None


def _option(row: Mapping[str, Any], column: str) -> str | None:
    """A row's own option: text or null."""
    value = _value(row, column)
    if value is None or value.__class__ is str:
        text: str | None = value
        return text
    if isinstance(value, (str, bytes)):
        return _text_of(value, column)
    raise BatchError(f"{column}: expected text or null, got {type(value).__name__}", "batch.invalid_option")


def _key(tools: Any) -> Any:
    """What is equal for equal tools."""
    return tools if tools is None or isinstance(tools, (str, bytes)) else (repr(tools),)


def _read_tools(tools: Any, column: str) -> ToolSet | None:
    if isinstance(tools, (str, bytes)):
        try:
            tools = json.loads(tools)
        except (ValueError, RecursionError) as error:
            raise BatchError(f"{column}: the tools are not JSON: {error}", "batch.invalid_option") from None
    if not isinstance(tools, (list, Mapping)):
        raise BatchError(
            f"{column}: expected tool definitions, a list, got {type(tools).__name__}", "batch.invalid_option"
        )
    try:
        return ToolSet.of(tools)
    except TypeError as error:
        raise BatchError(f"{column}: {error}", "batch.invalid_option") from None
