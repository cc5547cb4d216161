"""A server on this machine that stands for every API: it answers with recorded JSON and remembers what it was asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple


class Request(NamedTuple):
    """What a client sent."""

    path: str
    body: Any


class Loopback:
    """``answers`` are given one a request, in their order; ``requests`` are those that came."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.answers: list[Any] = []
        self.requests: list[Request] = []


@contextmanager
def loopback() -> Iterator[Loopback]:
    """A server in a thread of its own."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            state.requests.append(Request(self.path, json.loads(self.rfile.read(size))))
            # More requests than answers: a client that tries again is told to stop.
            status, answer = (
                (200, state.answers.pop(0)) if state.answers else (400, {"error": "nothing is left to say"})
            )
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing on the terminal."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        state = Loopback(server.server_address[1])
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join()
