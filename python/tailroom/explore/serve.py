"""Listens on a port of this machine and serves the page."""

import socket
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import uvicorn

from tailroom.errors import ExploreError
from tailroom.explore.app import application
from tailroom.explore.guard import own_hosts
from tailroom.explore.opened import Opened
from tailroom.explore.runs import Runs

PAGE = Path(__file__).parent / "page"
"""Where `make page` puts the built page."""
SECONDS_TO_END = 2
"""Time that answers get to end after Ctrl-C."""


def page() -> Path:
    """Returns the directory of the built page.

    Raises:
        ExploreError: This installation has no page.
    """
    if not (PAGE / "index.html").is_file():
        raise ExploreError(
            "this installation was built without the page; run `make page` in the repository "
            "(Rust, node 20 or newer), or install a wheel"
        )
    return PAGE


def serve(
    opened: Opened,
    runs: Runs,
    *,
    host: str,
    port: int,
    ready: Callable[[str], object],
) -> None:
    """Serves the page until Ctrl-C.

    Args:
        opened: The scenario file of the command line.
        runs: What performs runs.
        host: Name or address of this machine to listen on.
        port: Port to listen on; 0 for any free port.
        ready: Called with the page's address when the server listens.

    Raises:
        ExploreError: The port is taken, or this installation has no page.
    """
    directory = page()
    with _listening(host, port) as listening:
        port = listening.getsockname()[1]
        app = application(directory, opened, runs, own_hosts(host, port))
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            ws="none",
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=SECONDS_TO_END,
        )
        name = f"[{host}]" if ":" in host else host
        ready(f"http://{name}:{port}/")
        # Uvicorn ends orderly at Ctrl-C, and raises it again afterwards.
        with suppress(KeyboardInterrupt):
            _Server(config, runs).run(sockets=[listening])


class _Server(uvicorn.Server):
    """A server that ends its runs before it waits for the end of their answers."""

    def __init__(self, config: uvicorn.Config, runs: Runs) -> None:
        super().__init__(config)
        self._runs = runs

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._runs.end()
        await super().shutdown(sockets)


def _listening(host: str, port: int) -> socket.socket:
    try:
        (family, kind, protocol, _, address), *_ = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )
        with ExitStack() as closing:
            listening = closing.enter_context(socket.socket(family, kind, protocol))
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            # From here on connections wait until Uvicorn takes them.
            listening.listen()
            closing.pop_all()
    except OSError as error:
        raise ExploreError(
            f"cannot listen on port {port} of {host}: {error.strerror or error}; choose another "
            "with --port, or any free one with --port 0"
        ) from None
    return listening
