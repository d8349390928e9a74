"""What reaches the server: requests of its own page, of limited size and time.

A page of another site can send requests to this machine too. It cannot give them our host name
unless it rebinds its own to our address (DNS rebinding), and not our origin or a header of our own
without asking first (CORS); so all three are checked.
"""

import asyncio
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

OWN_HEADER = "x-tailroom"
LARGEST_REQUEST_BYTES = 1 << 20
LONGEST_REQUEST_S = 10.0
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self' 'wasm-unsafe-eval'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "worker-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}


class TooLargeError(Exception):
    """The request is larger than the server takes."""


class TooSlowError(Exception):
    """The request did not arrive in time."""


def own_hosts(host: str, port: int) -> Callable[[str], bool]:
    """Returns whether the value of a Host header is this server.

    Args:
        host: Name or address on which the server listens. With an address that stands for all
            (0.0.0.0, ::), every address is its own, but no name except localhost: a name could be
            another site's, bound to our address.
        port: Port on which it listens.
    """
    names = {"localhost", "127.0.0.1", "::1", host.lower()}

    def is_own(value: str) -> bool:
        try:
            parts = urlsplit(f"//{value}")
            name, given = (parts.hostname or "").lower(), parts.port or 80
        except ValueError:
            return False
        if value != parts.netloc or "@" in value or given != port:
            return False
        return name in names or (_is_any(host) and _is_address(name))

    return is_own


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a server on this name or address."""
    return host == "localhost" or (_is_address(host) and ip_address(host).is_loopback)


def _is_any(host: str) -> bool:
    return _is_address(host) and ip_address(host).is_unspecified


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


class Guard:
    """Refuses what is not from the server's own page, and adds the headers that protect it."""

    def __init__(self, app: ASGIApp, is_own_host: Callable[[str], bool]) -> None:
        """Takes the application, and what says whether a Host header is this server's."""
        self._app = app
        self._is_own_host = is_own_host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, or answers why not."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # the page opens no web sockets
            return
        refusal = self._refusal(scope)
        sending = _with_headers(send)
        if refusal:
            response = JSONResponse({"kind": "refused", "message": refusal}, status_code=403)
            await response(scope, receive, sending)
            return
        await self._app(scope, _limited(receive), sending)

    def _refusal(self, scope: Scope) -> str | None:
        headers = Headers(scope=scope)
        hosts: Sequence[str] = headers.getlist("host")
        if len(hosts) != 1 or not self._is_own_host(hosts[0]):
            return "the request names another host; open the address that `tailroom explore` prints"
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{hosts[0]}":
            return "the request comes from another site's page"
        is_api = scope["path"].startswith("/api/")
        if is_api and OWN_HEADER not in headers:
            return f"a request to api/ needs the header {OWN_HEADER}"
        return None


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(HEADERS)
        await send(message)

    return sending


def _limited(receive: Receive) -> Receive:
    """Limits size and time of a request's body; after the body it only waits for the end."""
    received = 0
    is_complete = False
    deadline = asyncio.get_running_loop().time() + LONGEST_REQUEST_S

    async def receiving() -> Message:
        nonlocal received, is_complete
        if is_complete:
            return await receive()
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError:
            raise TooSlowError from None
        received += len(message.get("body", b""))
        is_complete = not message.get("more_body", False)
        if received > LARGEST_REQUEST_BYTES:
            raise TooLargeError
        return message

    return receiving
