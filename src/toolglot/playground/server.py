"""The page on this machine, answered by this Python: bound to the loopback address, for this machine's browsers only.

Other sites are kept out. A name of theirs that resolves to this address (DNS rebinding) is refused by the ``Host``
header, their scripts by ``Origin`` and because a request has to be JSON, which no site may send here without being
allowed to, and none is.
"""

from __future__ import annotations

import os
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from .api import MAX_REQUEST, answer
from .build import CONTENT_POLICY, PAGE_FILES, page_file

HOST: Final = "127.0.0.1"
_HEADERS: Final = {
    "Content-Security-Policy": CONTENT_POLICY + "; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Playground(ThreadingHTTPServer):
    """The server. ``port`` 0 takes one that is free; `url` says which it became."""

    daemon_threads = True
    # So that it can begin again at once on the same port; on Windows it would let two of them share one.
    allow_reuse_address = os.name != "nt"

    def __init__(self, port: int = 0) -> None:
        super().__init__((HOST, port), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing, if a browser went away; it may do so at any moment."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    @property
    def url(self) -> str:
        """The page's address."""
        return f"http://{HOST}:{self.server_address[1]}/"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What the ``Host`` header may say."""
        port = self.server_address[1]
        return f"{HOST}:{port}", f"localhost:{port}"


class _Handler(BaseHTTPRequestHandler):
    server: Playground
    server_version = "toolglot"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = 30  # seconds without a byte

    def do_GET(self) -> None:
        if not self._is_ours():
            return
        path = self.path.partition("?")[0].lstrip("/") or "index.html"
        if path in PAGE_FILES:
            self._send(HTTPStatus.OK, page_file(path, "local"), PAGE_FILES[path])
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such file")

    def do_POST(self) -> None:
        # What is refused is not read, so the connection cannot go on.
        last, self.close_connection = self.close_connection, True
        if not self._is_ours():
            return
        origin = self.headers.get("Origin")
        length = self.headers.get("Content-Length", "")
        if origin is not None and origin not in {f"http://{host}" for host in self.server.hosts}:
            self._refuse(HTTPStatus.FORBIDDEN, "another site may not ask")
        elif self.path != "/api":
            self._refuse(HTTPStatus.NOT_FOUND, "there is nothing here")
        elif self.headers.get_content_type() != "application/json":
            self._refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a request is application/json")
        elif "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdigit()):
            self._refuse(HTTPStatus.LENGTH_REQUIRED, "a request says how long it is")
        elif len(length) > 9 or int(length) > MAX_REQUEST:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request has at most {MAX_REQUEST:,} bytes")
        else:
            self._answer(int(length), last)

    def _answer(self, length: int, last: bool) -> None:
        body = self.rfile.read(length)
        if len(body) < length:
            return  # whoever asked is gone
        try:
            request = body.decode("utf-8")
        except UnicodeDecodeError:
            self._refuse(HTTPStatus.BAD_REQUEST, "a request is UTF-8")
            return
        self.close_connection = last
        self._send(HTTPStatus.OK, answer(request).encode("ascii"), "application/json")

    def _is_ours(self) -> bool:
        hosts = self.headers.get_all("Host", [])
        if len(hosts) == 1 and hosts[0].lower() in self.server.hosts:
            return True
        self._refuse(HTTPStatus.MISDIRECTED_REQUEST, "this server answers to its own address only")
        return False

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self._send(status, why.encode(), "text/plain; charset=utf-8")

    def _send(self, status: HTTPStatus, body: bytes, media_type: str) -> None:
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: what is asked is nobody's business, and the terminal shows the address."""
