"""Bytes of streams to events: `toolglot.providers._frames`.

What server-sent events are is in the HTML standard (9.2.6, "Interpreting an event stream"), whose own examples stand
here. AWS's messages are put together from the description of their bytes in the Smithy specification ("Amazon Event
Stream"), and read by botocore.
"""

import json
import pickle
import random
import struct
import sys
import time
import tracemalloc
from base64 import b64encode
from collections.abc import Callable
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolglot.errors import LimitError, ParseError, TruncatedError
from toolglot.providers._frames import AwsFrames, Broken, Frames

LIMIT = 1 << 20


def read(frames: Any, pieces: list[bytes]) -> list[Any]:
    """All that is given, and the `LimitError` if one is raised."""
    out = []
    try:
        for piece in pieces:
            out += frames.feed(piece)
        out += frames.close()
    except LimitError as error:
        out.append(("limit", error.limit))
    return out


def shown(events: list[Any]) -> list[Any]:
    """Events, with (code, position, raw) for what is broken."""
    return [
        (event.error.code.partition(".")[2], event.error.position, event.error.raw)
        if isinstance(event, Broken)
        else event
        for event in events
    ]


def whole(stream: bytes, limit: int = LIMIT) -> list[Any]:
    return shown(read(Frames(limit), [stream]))


def cuts(stream: bytes) -> list[list[bytes]]:
    """The stream cut once at every byte, into single bytes (with nothing between), and at random."""
    ways = [[stream[:at], stream[at:]] for at in range(len(stream) + 1)]
    ways.append([piece for at in range(len(stream)) for piece in (stream[at : at + 1], b"")])
    for seed in range(20):
        rng = random.Random(seed)
        places = sorted(rng.choices(range(len(stream) + 1), k=rng.randint(2, 9)))
        ways.append([stream[a:b] for a, b in zip([0, *places], [*places, len(stream)], strict=True)])
    return ways


# Name: stream, its events, whether [DONE] was read.
SAMPLES: dict[str, tuple[bytes, list[Any], bool]] = {
    "openai": (b'data: {"a":1}\n\ndata: {"a":2}\n\ndata: [DONE]\n\n', [{"a": 1}, {"a": 2}], True),
    "done without a blank line": (b'data: {"a":1}\n\ndata: [DONE]\n', [{"a": 1}], True),
    "done at the end": (b'data: {"a":1}\n\ndata:[DONE]', [{"a": 1}], True),
    "anthropic": (
        b'event: message_start\ndata: {"type":"message_start"}\n\nevent: ping\ndata: {"type": "ping"}\n\n',
        [{"type": "message_start"}, {"type": "ping"}],
        False,
    ),
    # An event's name, where data does not say what it is.
    "name": (b'event: step\ndata: {"a":1}\n\ndata: {"a":2}\n\n', [{"type": "step", "a": 1}, {"a": 2}], False),
    "name behind the data": (b'data: {"a":1}\nevent: step\n\n', [{"type": "step", "a": 1}], False),
    "name of an event without data": (b'event: step\n\ndata: {"a":1}\n\n', [{"a": 1}], False),
    "the standard's own name": (b'event: message\ndata: {"a":1}\n\n', [{"a": 1}], False),
    "named in the data": (
        b'event: x\ndata: {"event_type":"text-generation"}\n\nevent: y\ndata: {"object":"thread.run"}\n\n',
        [{"event_type": "text-generation"}, {"object": "thread.run"}],
        False,
    ),
    "groq's error": (
        b'event: error\ndata: {"error":{"code":"tool_use_failed"}}\n\n',
        [{"error": {"code": "tool_use_failed"}}],
        False,
    ),
    "anthropic's error": (
        b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n',
        [{"type": "error", "error": {"type": "overloaded_error"}}],
        False,
    ),
    "error by its name only": (
        b'event: error\ndata: {"type":"server_error","message":"x"}\n\nevent: error\ndata: "x"\n\n',
        [{"type": "error", "error": {"type": "server_error", "message": "x"}}, {"type": "error", "error": "x"}],
        False,
    ),
    "error in words": (
        b"event: error\ndata: Overloaded\n\nevent: error\ndata:\n\n",
        [("invalid_event", 0, "Overloaded"), ("invalid_event", 0, "")],
        False,
    ),
    # ggml-org/llama.cpp#16109: the field was called so until 2025-09; since then data is {"error": ...}.
    "llama.cpp's error": (
        b'error: {"code":400,"type":"invalid_request_error"}\n\ndata: [DONE]\n\n',
        [{"error": {"code": 400, "type": "invalid_request_error"}}],
        True,
    ),
    "openrouter": (b': OPENROUTER PROCESSING\n\n: x\n\ndata: {"a":1}\n: y\n\n', [{"a": 1}], False),
    "fields": (b'id: 1\nretry: 10\nfoo: bar\nid\nretry\ndata: {"a":1}\nid:2\n\n', [{"a": 1}], False),
    "byte order mark": (b'\xef\xbb\xbfdata: {"a":1}\n\n', [{"a": 1}], False),
    "CR LF": (
        b'event: step\r\ndata: {"a":1}\r\n\r\ndata: {"a":2}\r\n\r\n',
        [{"type": "step", "a": 1}, {"a": 2}],
        False,
    ),
    "CR": (b'event: step\rdata: {"a":1}\r\rdata: {"a":2}\r\r', [{"type": "step", "a": 1}, {"a": 2}], False),
    "mixed line ends": (
        b'data: {"a":1}\r\n\ndata: {"a":2}\n\rdata: {"a":3}\r\r\n',
        [{"a": 1}, {"a": 2}, {"a": 3}],
        False,
    ),
    "many lines": (b'data: {\ndata:   "a": 1,\ndata:\ndata:"b":2}\n\n', [{"a": 1, "b": 2}], False),
    "no blank behind the colon": (b'data:{"a":1}\n\ndata:  {"a":2}\n\n', [{"a": 1}, {"a": 2}], False),
    "other line ends": (
        'data: {"a":"\u2028\u2029\x85\x7f"}\n\n'.encode(),
        [{"a": "\u2028\u2029\x85\x7f"}],
        False,
    ),
    # The standard's examples: the first fires events with empty data and with a line feed, which are no JSON; the last
    # block has no end, and no data either.
    "empty data": (b"data\n\ndata\ndata\n\ndata:", [], False),
    "no JSON": (b"data: This is the first message.\n\n", [("invalid_event", 0, "This is the first message.")], False),
    "values": (b'data: [1]\n\ndata: null\n\ndata: "x"\n\n', [[1], None, "x"], False),
    "characters": (
        'data: {"a":"\xe9\u20ac\U0001f600"}\n\n'.encode(),
        [{"a": "\xe9\u20ac\U0001f600"}],
        False,
    ),
    "wrong UTF-8": (
        b'data: {"\xc3\xa9":"\xff"}\n\ndata: {"a":1}\n\n',
        [("invalid_encoding", 6, '{"\xe9":"\ufffd"}'), {"a": 1}],
        False,
    ),
    "wrong UTF-8 in a comment": (b': \xff\n\ndata: {"a":1}\n\n', [{"a": 1}], False),
    "broken": (
        b'data: {"a":1}\n\ndata: {"a" 1}\n\ndata: {"a":2}\n\n',
        [{"a": 1}, ("invalid_event", 5, '{"a" 1}'), {"a": 2}],
        False,
    ),
    "strict": (b'data: {"a":NaN}\n\n', [("invalid_event", 5, '{"a":NaN}')], False),
    "no blank line between": (b'data: {"a":1}\ndata: {"a":2}\ndata: [DONE]\n\n', [{"a": 1}, {"a": 2}], True),
    "broken off by an error": (
        b'data: {"a":"x\ndata: {"error":{}}\n\n',
        [("invalid_event", 5, '{"a":"x'), {"error": {}}],
        False,
    ),
    "broken over lines": (b"data: {\ndata: 1}\n\n", [("invalid_event", 2, "{\n1}")], False),
    # What ends too early.
    "end without a blank line": (b'data: {"a":1}\n\ndata: {"a":2}\n', [{"a": 1}, {"a": 2}], False),
    "end without a line end": (b'event: step\ndata: {"a":2}', [{"type": "step", "a": 2}], False),
    "end in data": (b'data: {"a":1}\n\ndata: {"a":"x', [{"a": 1}, ("truncated_event", 7, '{"a":"x')], False),
    "end in a number": (b"data: 12", [("truncated_event", 2, "12")], False),
    "end in a character": (b'data: {"a":"\xe2\x82', [("truncated_event", 7, '{"a":"\ufffd')], False),
    "end in a field": (b'data: {"a":1}\n\nda', [{"a": 1}, ("truncated_event", 2, "da")], False),
    "end in done": (b"data: [DON", [("truncated_event", 4, "[DON")], False),
    "end in a comment": (b": x", [], False),
    "end in broken data": (b'data: {"a" 1}\n', [("invalid_event", 5, '{"a" 1}')], False),
    # What is no stream of events.
    "html": (
        b"<html>\n<b>502</b>: Bad\n</html>\n\ndata: {}\n\n",
        [("invalid_event", 0, "<html>\n<b>502</b>: Bad\n</html>"), {}],
        False,
    ),
    "text up to a field": (
        b'<b>\nevent: step\ndata: {"a":1}\n\n',
        [("invalid_event", 0, "<b>"), {"type": "step", "a": 1}],
        False,
    ),
    "html only": (b"<html>", [("invalid_event", 0, "<html>")], False),
    "a sentence": (b"upstream connect error: reset", [("invalid_event", 0, "upstream connect error: reset")], False),
    # google-genai reads such lines as JSON: "When API returns an error message, it comes line by line".
    "gemini's error": (
        b'data: {"a":1}\n\n{\n  "error": {\n    "code": 429\n  }\n}\ndata: {"a":2}\n\n[1]\n',
        [{"a": 1}, {"error": {"code": 429}}, {"a": 2}, [1]],
        False,
    ),
    "a line feed in data": (
        b'data: {"a":"x\ny"}\n\n',
        [("invalid_event", 5, '{"a":"x'), ("invalid_event", 0, 'y"}')],
        False,
    ),
    "white space first": (b' \n\t\r\n  \r\rdata: {"a":1}\n\n', [{"a": 1}], False),
    "a blank before the field": (b' data: {"a":1}\n\n', [("invalid_event", 1, ' data: {"a":1}')], False),
    "nothing": (b"", [], False),
    "white space only": (b"\n \r\n", [], False),
    "half a byte order mark": (b"\xef\xbb", [("truncated_event", 1, "\ufffd")], False),
    # JSON values.
    "ndjson": (b'{"a":1}\n\n \r\n{"b":"}\\"{"}\r\n{"c":[[]]}\n', [{"a": 1}, {"b": '}"{'}, {"c": [[]]}], False),
    "ndjson without the last line end": (b'{"a":1}\n{"a":2}', [{"a": 1}, {"a": 2}], False),
    "ndjson cut": (b'{"a":1}\n{"a":2', [{"a": 1}, ("truncated_event", 6, '{"a":2')], False),
    "ndjson after a mark": (b'\xef\xbb\xbf\n{"a":1}\n', [{"a": 1}], False),
    "side by side": (b'{"a":1}{"a":2} {"a":3}\n{"a":4}', [{"a": 1}, {"a": 2}, {"a": 3}, {"a": 4}], False),
    "pretty": (b'{\n  "a": {\r\n    "b": "\\\\"\n  }\n}\n{"a":2}\n', [{"a": {"b": "\\"}}, {"a": 2}], False),
    "other values": (
        b'{"a":1}\n"x"\n[1]\nnull\n2\n3',
        [{"a": 1}, "x", [1], None, 2, ("truncated_event", 1, "3")],
        False,
    ),
    "words among values": (
        b'{"a":1}\nDone, {}\n{"a":2}x\n{"a":3}\n',
        [{"a": 1}, ("invalid_event", 0, "Done, {}"), {"a": 2}, ("invalid_event", 0, "x"), {"a": 3}],
        False,
    ),
    "a line feed in a string": (
        b'{"a":"x\n{"a":2}\n',
        [("invalid_event", 5, '{"a":"x'), {"a": 2}],
        False,
    ),
    "the wrong bracket": (b'{"a":[1}] \r\n{"a":2}\n', [("invalid_event", 7, '{"a":[1}]'), {"a": 2}], False),
    "a broken value": (b'{"a" 1}\n{"a":2}\n', [("invalid_event", 5, '{"a" 1}'), {"a": 2}], False),
    "wrong UTF-8 in a value": (
        b'{"a":"\xff"}\n{"a":2}\n',
        [("invalid_encoding", 6, '{"a":"\ufffd"}'), {"a": 2}],
        False,
    ),
    # Gemini's streamGenerateContent without alt=sse.
    "array": (b'[{\n  "a": "],[{"\n}\n,\r\n{\n  "b": [{}]\n}\n]\n', [{"a": "],[{"}, {"b": [{}]}], False),
    "array in a line": (b'[{"a":1},{"a":2} , [3]]', [{"a": 1}, {"a": 2}, [3]], False),
    "array of nothing": (b"[ ]\n", [], False),
    "array cut": (b'[{"a":1}\n,\r\n{"a":', [{"a": 1}, ("truncated_event", 5, '{"a":')], False),
    "a broken item": (
        b'[{\n "a" 1\n}\n,\r\n{"a":[}\n , x\n}\n,\r\n{"a":"x\n}\n,\n{"a":2}\n]',
        [
            ("invalid_event", 7, '{\n "a" 1\n}'),
            ("invalid_event", 6, '{"a":[}\n , x\n}'),
            ("invalid_event", 7, '{"a":"x\n}'),
            {"a": 2},
        ],
        False,
    ),
    "a word for an item": (b'[xyz\n,\r\n{"a":1}]', [("invalid_event", 0, "xyz"), {"a": 1}], False),
    "arrays": (b'[{"a":1}]\n[{"a":2}]\n', [{"a": 1}, {"a": 2}], False),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_events(name: str) -> None:
    stream, events, done = SAMPLES[name]
    frames = Frames(LIMIT)
    assert shown(read(frames, [stream])) == events
    assert frames.done is done


@pytest.mark.parametrize("name", SAMPLES)
def test_every_cut(name: str) -> None:
    stream, events, done = SAMPLES[name]
    for pieces in cuts(stream):
        frames = Frames(LIMIT)
        assert shown(read(frames, pieces)) == events, pieces
        assert frames.done is done, pieces


@pytest.mark.parametrize("name", SAMPLES)
def test_every_cut_at_every_limit(name: str) -> None:
    """The limit is passed at the same event, however the stream is cut."""
    stream = SAMPLES[name][0]
    for limit in range(1, 40, 2):
        found = whole(stream, limit)
        for size in (1, 2, 3, 7):
            pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
            assert shown(read(Frames(limit), pieces)) == found, (limit, size)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_random_streams(data: st.DataObject) -> None:
    """However lines end, whatever stands between the events, and wherever the stream is cut."""
    values = data.draw(
        st.lists(
            st.dictionaries(
                st.text(max_size=4),
                st.recursive(
                    st.none() | st.integers() | st.text(max_size=8), lambda inner: st.lists(inner, max_size=3)
                ),
                max_size=3,
            ),
            max_size=6,
        )
    )
    line_end = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    kind = data.draw(st.sampled_from(["sse", "lines", "array"]))
    indent = data.draw(st.sampled_from([None, 1]))
    texts = [json.dumps(value, ensure_ascii=data.draw(st.booleans()), indent=indent) for value in values]
    if kind == "sse":
        noise = st.sampled_from(["", ": x\n", "id: 1\n", "retry: 1\n\n", "\n\n", "event: message\n"])
        stream = "".join(
            data.draw(noise) + "".join(f"data: {line}\n" for line in text.split("\n")) + data.draw(noise) + "\n"
            for text in texts
        )
        stream = ": start\n" + stream.replace("\n", line_end)
    elif kind == "lines":
        stream = "".join(text + line_end for text in texts)
    else:
        stream = "[" + f"\n,{line_end}".join(texts) + "\n]"
    raw = stream.encode()
    places = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=8)))
    pieces = [raw[a:b] for a, b in zip([0, *places], [*places, len(raw)], strict=True)]
    assert read(Frames(LIMIT), pieces) == values


@given(
    st.lists(st.sampled_from([*b'{}[]":,\\ \n\r\txda: [DONE]event', 0xEF, 0xBB, 0xBF, 0xFF]), max_size=60), st.randoms()
)
def test_random_bytes(values: list[int], rng: random.Random) -> None:
    """Whatever comes: the same however it is cut, and an error for what is broken."""
    stream = bytes(values)
    places = sorted(rng.choices(range(len(stream) + 1), k=5))
    pieces = [stream[a:b] for a, b in zip([0, *places], [*places, len(stream)], strict=True)]
    assert shown(read(Frames(LIMIT), pieces)) == whole(stream)


def test_an_event_is_given_at_once() -> None:
    for stream, at in (
        (b'data: {"a":1}\n\n', -1),
        (b'data: {"a":1}\r\r', -1),
        (b'{"a":1}', -1),
        (b'[{"a":1}', -1),
        (b'[{"a":1},{"a":2}', 7),
    ):
        frames = Frames(LIMIT)
        assert frames.feed(stream[:at]) == []
        if at > 0:
            assert frames.feed(stream[at : at + 1]) == [{"a": 1}]
            at += 1
        assert len(frames.feed(stream[at:])) == 1


def test_done_is_known_at_its_line() -> None:
    frames = Frames(LIMIT)
    frames.feed(b"data: [DONE]")
    assert not frames.done
    frames.feed(b"\n")
    assert frames.done


def test_what_is_fed() -> None:
    frames = Frames(LIMIT)
    assert frames.feed(bytearray(b'data: {"a":')) == frames.feed(memoryview(b"1}")) == frames.feed(b"") == []
    with pytest.raises(TypeError, match="expected bytes, got str"):
        frames.feed("text")  # type: ignore[arg-type]
    assert frames.close() == [{"a": 1}]
    assert frames.close() == []
    with pytest.raises(RuntimeError, match="after close"):
        frames.feed(b"")


def test_the_error_says_where() -> None:
    [broken] = read(Frames(LIMIT), [b'data: {\ndata:  "a" 1}\n\n'])
    error = broken.error
    assert type(error) is ParseError
    assert (error.line, error.column, error.span, error.expected) == (2, 6, (0, 9), "':'")
    assert error.context() == ' "a" 1}\n     ^'
    assert pickle.loads(pickle.dumps(broken)) == broken
    [truncated] = read(Frames(LIMIT), [b'data: {"a'])
    assert type(truncated.error) is TruncatedError


# -- limits


def test_limit() -> None:
    """What came before is given; then the error is raised, again and again."""
    stream = b'data: {"a":1}\n\ndata: {"a":"' + b"x" * 100 + b'"}\n\ndata: {"a":2}\n\n'
    frames = Frames(50)
    assert frames.feed(stream) == [{"a": 1}]
    for call in (lambda: frames.feed(b""), lambda: frames.feed(stream), frames.close):
        with pytest.raises(LimitError, match="longer than 50 bytes") as info:
            call()
        assert (info.value.limit, info.value.code) == ("event", "tool_call.limit")
    with pytest.raises(LimitError):
        Frames(50).feed(b'data: {"a":"' + b"x" * 100)
    assert read(Frames(200), [stream])[-1] == {"a": 2}


@pytest.mark.parametrize(
    "piece",
    [b"x", b"data: x\n", b"data\n", b"{\n", b" ", b"<b>\n", b": x"],
)
@pytest.mark.parametrize("start", [b"", b"data: {", b"{", b"[", b'{"', b"[{", b"[{]"])
def test_what_never_ends_is_bounded(start: bytes, piece: bytes) -> None:
    """Either it is nothing and forgotten, or the limit is passed; what is held is in proportion to the limit."""
    limit = 10_000
    frames = Frames(limit)
    tracemalloc.start()
    try:
        frames.feed(start)
        for _ in range(150):
            frames.feed(piece * 100)
        assert frames.close() is not None
    except LimitError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 50 * limit


def test_comments_are_not_held() -> None:
    frames = Frames(1000)
    tracemalloc.start()
    for _ in range(100):
        assert frames.feed(b": keep-alive\n" * 1000) == []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000
    assert frames.feed(b'data: {"a":1}\n\n') == [{"a": 1}]


def test_nesting() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    [(code, position, _)] = whole(b"{" + deep[1:] + b"\n")[:1]
    assert (code, position) == ("invalid_event", 1)
    assert whole(b"data: " + deep + b"\n\n")[0][0] == "invalid_event"
    assert whole(b"[" * 1000)[0][0] == "truncated_event"
    assert whole(deep)[0][:2] == ("invalid_event", 512)  # the outer one is the stream's


# -- linear


def _seconds(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


LONG: dict[str, Callable[[int], tuple[bytes, int]]] = {
    # Size: a stream of about so many bytes, and how it is cut.
    "sse bytes": lambda size: (b'data: {"a":"' + b"x" * size + b'"}\n\n', 1),
    "sse lines of data": lambda size: (b"data: {\n" + b"data: \n" * (size // 7) + b"data: }\n\n", 7),
    "sse comments": lambda size: (b": x\n" * (size // 4), 3),
    "sse events": lambda size: (b'data: {"a":1}\n\n' * (size // 15), size),
    "sse stray lines": lambda size: (b"<b>\n" * (size // 4), 2),
    "value bytes": lambda size: (b'{"a":"' + b"x" * size + b'"}\n', 1),
    "value in few pieces": lambda size: (b'{"a":"' + b"x" * size * 10 + b'"}\n', 4096),
    "value of brackets": lambda size: (b'{"a":[' + b"[]," * (size // 3) + b"[]]}", 16),
    "values side by side": lambda size: (b'{"a":1}' * (size // 7) + b"\n", size),
    "pretty": lambda size: (b"{\n" + b'"a":1,\n' * (size // 7), size),
    "array": lambda size: (b"[" + b'{"a":1},' * (size // 8) + b"\n,{}]", size),
    "words": lambda size: (b'{"a":1}\n' + (b"x" * 100 + b"\n") * (size // 101), size),
    "words in pieces": lambda size: (b"[x" + b"\n" * size, 1),
    "escapes": lambda size: (b'{"a":"' + b"\\\\" * (size // 2) + b'"}', 3),
    "white space": lambda size: (b" " * size, 3),
}


@pytest.mark.parametrize("name", LONG)
def test_linear(name: str) -> None:
    """Eight times the stream takes about eight times as long; were it the square, 64."""

    def work(size: int) -> None:
        stream, piece = LONG[name](size)
        frames = Frames(1 << 26)
        for at in range(0, len(stream), piece):
            frames.feed(stream[at : at + piece])
        frames.close()

    # What another process does to a measurement is not there the next time.
    ratios = [_seconds(lambda: work(480_000)) / (20 * _seconds(lambda: work(60_000)) + 0.02) for _ in range(3)]
    assert min(ratios) < 1


# -- Bedrock


def message(payload: bytes, **headers: str) -> bytes:
    """A message of AWS's event stream; a header ``event_type`` is ``:event-type``."""
    head = b""
    for name, value in headers.items():
        key, text = b":" + name.replace("_", "-").encode(), value.encode()
        head += bytes([len(key)]) + key + b"\x07" + struct.pack("!H", len(text)) + text
    start = struct.pack("!II", 16 + len(head) + len(payload), len(head))
    start += struct.pack("!I", crc32(start))
    return start + head + payload + struct.pack("!I", crc32(start + head + payload))


def event(name: str, value: object) -> bytes:
    return message(json.dumps(value).encode(), event_type=name, content_type="application/json", message_type="event")


def chunk(text: bytes) -> bytes:
    return event("chunk", {"bytes": b64encode(text).decode(), "p": "abc"})


START = event("messageStart", {"role": "assistant", "p": "abcdefgh"})
DELTA = event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "\xe9"}})
AWS: dict[str, tuple[bytes, list[Any]]] = {
    "converse": (
        START + DELTA + event("messageStop", {"stopReason": "end_turn"}),
        [
            {"messageStart": {"role": "assistant"}},
            {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "\xe9"}}},
            {"messageStop": {"stopReason": "end_turn"}},
        ],
    ),
    "invoke model": (chunk(b'{"type":"ping"}') + chunk(b'{"a":1}'), [{"type": "ping"}, {"a": 1}]),
    "exception": (
        START + message(b'{"message":"slow"}', exception_type="throttlingException", message_type="exception"),
        [{"messageStart": {"role": "assistant"}}, {"throttlingException": {"message": "slow"}}],
    ),
    "error": (
        message(b"", error_code="InternalError", error_message="gone", message_type="error"),
        [{"InternalError": {"message": "gone"}}],
    ),
    "no payload": (message(b"", event_type="messageStop", message_type="event"), [{"messageStop": {}}]),
    "broken JSON": (
        message(b"{,}", event_type="messageStop", message_type="event") + START,
        [("invalid_event", 1, "{,}"), {"messageStart": {"role": "assistant"}}],
    ),
    "broken JSON within": (chunk(b"{,}"), [("invalid_event", 1, "{,}")]),
}


@pytest.mark.parametrize("name", AWS)
def test_aws(name: str) -> None:
    pytest.importorskip("botocore")
    stream, events = AWS[name]
    assert shown(read(AwsFrames(LIMIT), [stream])) == events
    for pieces in cuts(stream):
        assert shown(read(AwsFrames(LIMIT), pieces)) == events, pieces


def _flip(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def test_aws_is_checked() -> None:
    pytest.importorskip("botocore")
    first = {"messageStart": {"role": "assistant"}}
    for at in range(len(DELTA)):
        for size in (len(DELTA), 5):
            stream = START + _flip(DELTA, at) + START
            pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
            out = read(AwsFrames(LIMIT), pieces)
            assert out[0] == first
            assert out[1].error.code == "provider.invalid_event"
            assert f"the message at byte {len(START)} of the stream" in str(out[1].error)
            assert "Checksum mismatch" in str(out[1].error)
            # The prelude says how long the message is. Behind a wrong one there is nothing to be found.
            assert out[2:] == ([] if at < 12 else [first]), at


@pytest.mark.parametrize(
    ("stream", "says"),
    [
        (message(b"{}", message_type="event"), "':event-type'"),
        (event("chunk", {"bytes": "&"}), "not Base64"),
        (struct.pack("!II", 12, 0) + struct.pack("!I", crc32(struct.pack("!II", 12, 0))), "shorter than a message"),
        (b'{"message":"The security token is expired"}', "Checksum mismatch"),
    ],
)
def test_aws_no_event(stream: bytes, says: str) -> None:
    pytest.importorskip("botocore")
    [broken] = read(AwsFrames(LIMIT), [stream])
    assert broken.error.code == "provider.invalid_event"
    assert says in str(broken.error)


def test_aws_headers_are_wrong() -> None:
    pytest.importorskip("botocore")
    for head in (b"\xff", b"\x01a", b"\x01a\x63", b"\x01\xff\x00", b"\x01a\x04\x00"):
        start = struct.pack("!II", 16 + len(head), len(head))
        start += struct.pack("!I", crc32(start))
        stream = start + head + struct.pack("!I", crc32(start + head))
        out = read(AwsFrames(LIMIT), [stream + START])
        assert out[0].error.code == "provider.invalid_event"
        assert out[1:] == [{"messageStart": {"role": "assistant"}}]


def test_aws_ends_too_early() -> None:
    pytest.importorskip("botocore")
    stream = START + DELTA
    for end in range(len(START) + 1, len(stream)):
        first, broken = read(AwsFrames(LIMIT), [stream[:end]])
        assert "messageStart" in first
        assert type(broken.error) is TruncatedError
        assert f"its byte {len(START)}" in str(broken.error)
    assert len(read(AwsFrames(LIMIT), [stream])) == 2


def test_aws_limit() -> None:
    pytest.importorskip("botocore")
    long = event("x", {"a": "x" * 500})
    frames = AwsFrames(400)
    assert len(frames.feed(START + long[:12])) == 1
    with pytest.raises(LimitError):
        frames.feed(long[12:])
    with pytest.raises(LimitError):
        frames.close()


def test_aws_is_linear() -> None:
    pytest.importorskip("botocore")

    def work(size: int, piece: int, stream: bytes) -> None:
        frames = AwsFrames(1 << 24)
        for at in range(0, len(stream), piece):
            frames.feed(stream[at : at + piece])

    for piece, make in (
        (1, lambda size: event("x", {"a": "x" * size})),
        (1 << 20, lambda size: DELTA * (size // len(DELTA))),
    ):
        small, large = make(60_000), make(480_000)
        base = _seconds(lambda piece=piece, small=small: work(60_000, piece, small))
        assert _seconds(lambda piece=piece, large=large: work(480_000, piece, large)) < 20 * base + 0.02


def test_aws_without_botocore(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "botocore"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "botocore", None)
    with pytest.raises(ModuleNotFoundError, match="extra `bedrock`"):
        AwsFrames(LIMIT)
