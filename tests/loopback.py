"""What the tests against SDKs share: everything that the recorded cases write, and a server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

import payloads
from payloads import Payload
from toolglot import Message, ToolCall, ToolChoice, WireProvider, get_provider
from toolglot.providers._names import DEFAULT, WireFormat

Written = tuple[str, str, Any]

# Every wire format can write these; what comes out has to be what the SDK takes.
_MESSAGE = Message(
    content="On it.",
    reasoning="Hm.",
    tool_calls=[
        ToolCall("files/read", {"path": "a", "n": [1, None, {"x": 1.5}]}, "call|1"),
        ToolCall("run_sql", id="call_2", kind="custom", input="select 1"),
    ],
)


def get_weather(city: str, unit: Literal["c", "f"] = "c") -> dict[str, Any]:
    """The weather now.

    Args:
        city: Where.
        unit: Celsius or Fahrenheit.
    """
    return {"city": city, "unit": unit, "temp": 4}


def provider_of(case: Payload) -> WireProvider:
    """Who the case is about."""
    return get_provider(case.data.get("provider", DEFAULT[WireFormat(case.wire)]))


def written(wire: str) -> list[Written]:
    """``(case, section, value)`` of everything that is written: requests, results, messages."""
    found: list[Written] = []
    for case in payloads.cases():
        if case.wire != wire:
            continue
        parser = provider_of(case)
        if "request" in case.data:
            choice = case.data.get("choice")
            choice = choice and ToolChoice(**{**choice, "names": tuple(choice.get("names", ()))})
            found.append((case.name, "request", parser.request(case.data["tools"], choice)))
        if "results" in case.data:
            results = [payloads.result(one) for one in case.data["results"]]
            calls = [payloads.call(one) for one in case.data["calls"]] if "calls" in case.data else None
            found.append((case.name, "results", parser.results(results, calls)))
        if "assistant" in case.data:
            found.append((case.name, "assistant", parser.assistant(parser.parse(case.text))))
    found.append(("foreign", "assistant", get_provider(DEFAULT[WireFormat(wire)]).assistant(_MESSAGE)))
    sections = {section for _, section, _ in found}
    assert sections == {"request", "results", "assistant"}
    return found


def responses(wire: str, keep: Callable[[Payload], bool] = lambda case: True) -> list[Payload]:
    """The recorded responses without errors that ``keep`` lets through: an SDK has to be able to read them."""
    return [
        case
        for case in payloads.cases()
        if case.wire == wire and "payload" in case.data and "message" in case.data
        if not {"errors", "losses"} & set(case.data["message"]) and case.data.get("detect") != "auto" and keep(case)
    ]


def unknown(model: Any) -> list[str]:
    """Members that an SDK's model does not know, and would send as they are."""
    if isinstance(model, (list, tuple)):
        return [name for item in model for name in unknown(item)]
    if not hasattr(model, "model_fields_set"):
        return []
    extra = list(model.model_extra or ())
    members = model.model_fields_set - set(extra)
    return extra + [name for member in members for name in unknown(getattr(model, member))]


class Loopback:
    """Answers every request with ``answer``; ``seen`` are the bodies that came.

    If there are ``pieces``, they are the answer's body, of the type ``content_type``. Each is a chunk of HTTP's, and
    comes out of an HTTP client as one.
    """

    def __init__(self) -> None:
        self.answer: Any = {}
        self.pieces: list[bytes] = []
        self.content_type = "text/event-stream"
        self.seen: list[Any] = []
        self.url = ""


@contextmanager
def loopback() -> Iterator[Loopback]:
    """A server on loopback that speaks no API: the test says what it answers."""
    state = Loopback()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            state.seen.append(json.loads(body))
            if state.pieces:
                self.protocol_version = "HTTP/1.1"  # which knows chunks
                self.send_response(200)
                self.send_header("Content-Type", state.content_type)
                self.send_header("Transfer-Encoding", "chunked")
                self.send_header("Connection", "close")
                self.end_headers()
                chunks = [b"%x\r\n%b\r\n" % (len(piece), piece) for piece in (*state.pieces, b"")]
                self.wfile.write(b"".join(chunks))
                return
            answer = json.dumps(state.answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
