"""Serves the page on this machine, and nothing else.

A page of another site can send requests to this machine too. It cannot give them our host name
unless it rebinds its own to our address (DNS rebinding), nor our origin; so both are checked.
"""

import socketserver
import sys
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import PurePosixPath
from typing import Any

from tailroom.errors import ExploreError
from tailroom.explore.page_files import page_files

ADDRESS = "127.0.0.1"
HTTP_PORT = 80
TYPES = {
    ".css": "text/css",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
}
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self' 'wasm-unsafe-eval'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "worker-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


def serve(opened: bytes, *, port: int, ready: Callable[[str], object]) -> None:
    """Serves the page until Ctrl-C.

    Args:
        opened: The scenario for the page, as JSON.
        port: Port to listen on; 0 for any free port.
        ready: Called with the page's address when the server listens.

    Raises:
        ExploreError: The port is taken, or this installation has no page.
    """
    files = page_files(opened)
    try:
        server = _Server(port, _with_types(files))
    except OSError as error:
        raise ExploreError(
            f"cannot listen on port {port} of {ADDRESS}: {error.strerror or error}; choose another "
            "with --port, or any free one with --port 0"
        ) from None
    with server, suppress(KeyboardInterrupt):
        ready(f"http://{server.own_hosts[0]}/")
        server.serve_forever()


def _with_types(files: dict[str, bytes]) -> dict[str, tuple[str, bytes]]:
    """Returns type and content of the page's files, by their address."""
    typed = {
        f"/{path}": (TYPES.get(PurePosixPath(path).suffix, "application/octet-stream"), content)
        for path, content in files.items()
    }
    return {**typed, "/": typed["/index.html"]}


class _Server(socketserver.ThreadingTCPServer):
    """Holds the files in memory: no request opens one."""

    allow_reuse_address = sys.platform != "win32"  # there it would take a port that is in use
    daemon_threads = True
    """Threads end with the command, also those whose client never ends its request."""

    def __init__(self, port: int, files: dict[str, tuple[str, bytes]]) -> None:
        super().__init__((ADDRESS, port), _Handler)
        self.files = files
        own = self.server_address[1]
        names = (ADDRESS, "localhost")
        self.own_hosts = [f"{name}:{own}" for name in names]
        if own == HTTP_PORT:  # browsers leave it out
            self.own_hosts += names

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves or waits too long is no error of the server."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """Answers a browser that shows the page."""

    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = 10.0
    """Seconds that a client may take for the next bytes of a request."""

    def do_GET(self) -> None:
        """Sends a file of the page."""
        self._answer()

    def do_HEAD(self) -> None:
        """Sends what a GET would, without the content."""
        self._answer()

    def _answer(self) -> None:
        if refusal := self._refusal():
            self.send_error(403, refusal)
        elif (file := self.server.files.get(self.path.partition("?")[0])) is None:
            self.send_error(404, "the page has no such file")
        else:
            self._send(200, *file)

    def _refusal(self) -> str | None:
        hosts = [host.lower() for host in self.headers.get_all("Host", [])]
        if len(hosts) != 1 or hosts[0] not in self.server.own_hosts:
            return "the request names another host; open the address that `tailroom explore` prints"
        origins = self.headers.get_all("Origin", [])
        if any(origin != f"http://{hosts[0]}" for origin in origins):
            return "the request comes from another site's page"
        return None

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Sends why there is no answer, and closes the connection: the request may have a body."""
        self.close_connection = True
        self._send(code, "text/plain", (message or explain or "refused").encode())

    def _send(self, code: int, kind: str, content: bytes) -> None:
        self.send_response(code)
        headers = {**HEADERS, "Content-Type": kind, "Content-Length": str(len(content))}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def version_string(self) -> str:
        """Names no versions of the machine's programs."""
        return "tailroom"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as in its base
        """Says nothing about requests."""
