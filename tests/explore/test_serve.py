"""`tailroom explore`: the page's own files, to its own page, and the scenario that it opens."""

import http.client
import json
import signal
import socket
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tailroom.errors import ExploreError, ScenarioError
from tailroom.explore import page_files, serve
from tailroom.explore import page_scenario as opening
from tailroom.explore.page_scenario import page_start
from tests.conftest import SMALL, Tailroom

TRACED = SMALL.replace('rate = "10 Mbit/s"', 'trace = "link.trace"')
TRACE = "1\n2\n3\n"
COMMAND = """
import pathlib, sys
from tailroom.explore import page_files
page_files.PAGE = pathlib.Path(sys.argv[1])
from tailroom.cli.main import app
app(["explore", *sys.argv[2:], "--port", "0"])
"""


@dataclass(frozen=True)
class Server:
    port: int
    command: "subprocess.Popen[str]"

    def ask(
        self, path: str, method: str = "GET", **headers: str
    ) -> tuple[http.client.HTTPResponse, bytes]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.request(method, path, headers=headers)
            response = connection.getresponse()
            return response, response.read()


@contextmanager
def serving(page: Path, *arguments: str | Path) -> Iterator[Server]:
    """The command as a user starts it, with a small page."""
    (page / "assets").mkdir(parents=True)
    (page / "index.html").write_text("<!doctype html>", encoding="utf-8")
    (page / "opened.json").write_text("null", encoding="utf-8")
    (page / "assets" / "engine.wasm").write_bytes(b"\0asm")
    (page.parent / "secret").write_text("hidden", encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, page, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as command:
        try:
            assert command.stdout is not None
            address = command.stdout.readline().split()[0]
            yield Server(int(address.rstrip("/").rpartition(":")[2]), command)
        finally:
            command.kill()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server") / "page", "first", "--workers", "3") as running:
        yield running


def test_the_page_and_the_shipped_scenario_are_served(server: Server) -> None:
    for path, kind, content in (
        ("/", "text/html; charset=utf-8", b"<!doctype html>"),
        ("/index.html?a=b", "text/html; charset=utf-8", b"<!doctype html>"),
        ("/assets/engine.wasm", "application/wasm", b"\0asm"),
    ):
        response, body = server.ask(path)
        assert (response.status, response.headers["Content-Type"], body) == (200, kind, content)
        head, nothing = server.ask(path, "HEAD")
        assert (head.status, nothing) == (200, b"")
        assert head.headers["Content-Length"] == str(len(content))
    handed = json.loads(server.ask("/opened.json")[1])
    assert handed["workers"] == 3
    assert handed["scenario"]["name"] == "first"
    assert "[links." in handed["scenario"]["text"]
    assert handed["scenario"]["files"] == {}


@pytest.mark.parametrize(
    "path",
    ["/assets", "/assets/", "/secret", "/../secret", "/%2e%2e/secret", "//secret", "/./", "*"],
)
def test_nothing_else_is_served(server: Server, path: str) -> None:
    response, body = server.ask(path)
    assert response.status == 404
    assert b"hidden" not in body


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT"])
def test_other_methods_are_refused(server: Server, method: str) -> None:
    response, _ = server.ask("/", method)
    assert response.status == 501
    assert "Access-Control-Allow-Origin" not in response.headers


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:{port}", 200),
        ("LOCALHOST:{port}", 200),
        ("evil.example:{port}", 403),
        ("127.0.0.1", 403),
        ("127.0.0.1:1", 403),
        ("user@127.0.0.1:{port}", 403),
        ("127.0.0.1.evil.example:{port}", 403),
        ("", 403),
    ],
)
def test_only_its_own_host_is_answered(server: Server, host: str, status: int) -> None:
    for path in ("/", "/opened.json"):
        assert server.ask(path, Host=host.format(port=server.port))[0].status == status


def test_other_origins_are_refused(server: Server) -> None:
    own = f"http://127.0.0.1:{server.port}"
    assert server.ask("/opened.json", Origin=own)[0].status == 200
    for origin in ("https://evil.example", "null", f"https://127.0.0.1:{server.port}"):
        assert server.ask("/opened.json", Origin=origin)[0].status == 403


def test_every_answer_protects_the_page(server: Server) -> None:
    for response, _ in (
        server.ask("/"),
        server.ask("/none"),
        server.ask("/", "POST"),
        server.ask("/", Host="evil.example"),
    ):
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe-inline" not in policy
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Referrer-Policy"] == "no-referrer"
        assert response.headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_ctrl_c_ends_it_at_once_and_clients_that_leave_are_no_errors(tmp_path: Path) -> None:
    with serving(tmp_path / "page") as running:
        assert json.loads(running.ask("/opened.json")[1]) == {
            "workers": None,
            "copy": False,
            "scenario": None,
        }
        for _ in range(5):
            with closing(socket.create_connection(("127.0.0.1", running.port))) as leaving:
                leaving.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, bytes([1, *[0] * 7]))
                leaving.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1")
        with closing(socket.create_connection(("127.0.0.1", running.port))) as waiting:
            waiting.sendall(b"GET / HTTP/1.1\r\n")
            begin = time.monotonic()
            running.command.send_signal(signal.SIGINT)
            assert running.command.wait(timeout=20) == 0
        assert time.monotonic() - begin < 5
        assert running.command.stderr is not None
        assert not running.command.stderr.read()


def test_the_page_gets_the_files_that_the_scenario_names(small: Path) -> None:
    web = '{ kind = "trace", file = "flows.parquet" }'
    small.write_text(
        f'{TRACED}\n[flows.web]\npath = ["bottleneck"]\ncongestion = "reno"\nrtt = "20 ms"\n'
        f"source = {web}\n",
        encoding="utf-8",
    )
    (small.parent / "link.trace").write_text(TRACE, encoding="utf-8")
    flows = pa.table({"start_s": [0.5], "bytes": [1000]})
    pq.write_table(flows, small.parent / "flows.parquet")
    handed: Any = json.loads(page_start(str(small), None))
    assert handed["scenario"]["name"] == str(small)
    assert handed["scenario"]["text"] == small.read_text(encoding="utf-8")
    files = handed["scenario"]["files"]
    assert files["link.trace"] == TRACE
    assert files["flows.parquet"].splitlines() == ["start_s,bytes", "0.500000000,1000"]


def test_files_that_are_too_large_for_a_page_are_refused(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small.write_text(TRACED, encoding="utf-8")
    (small.parent / "link.trace").write_text(TRACE, encoding="utf-8")
    monkeypatch.setattr(opening, "MOST_FILE_BYTES", len(TRACE) - 1)
    with pytest.raises(ExploreError, match="use `tailroom run`"):
        page_start(str(small), None)


def test_no_more_of_a_file_is_read_than_a_page_may_have(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small.write_text(TRACED, encoding="utf-8")
    (small.parent / "link.trace").write_text(TRACE + "\n" * 10_000_000, encoding="utf-8")
    monkeypatch.setattr(opening, "MOST_FILE_BYTES", len(TRACE))
    tracemalloc.start()
    with pytest.raises(ExploreError, match="use `tailroom run`"):
        page_start(str(small), None)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 5_000_000


def test_a_wrong_scenario_is_refused_as_run_refuses_it(small: Path, tailroom: Tailroom) -> None:
    small.write_text(SMALL.replace("10 Mbit/s", "10 parsec"), encoding="utf-8")
    for file in (small, small.parent / "missing.toml"):
        refused = tailroom("explore", file, "--port", 0)
        assert refused.status == 2
        assert refused.errors == tailroom("run", file).errors


def test_files_elsewhere_need_permission(small: Path, tmp_path: Path) -> None:
    below = tmp_path / "below"
    below.mkdir()
    (tmp_path / "link.trace").write_text(TRACE, encoding="utf-8")
    file = below / "scenario.toml"
    file.write_text(TRACED.replace("link.trace", "../link.trace"), encoding="utf-8")
    with pytest.raises(ScenarioError, match="it is not below the directory"):
        page_start(str(file), None)


def test_controls_in_python_stay_with_the_command_line(
    small: Path, tailroom: Tailroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = small.parent / "imported"
    (small.parent / "mine.py").write_text(f"open({str(marker)!r}, 'w')\n", encoding="utf-8")
    small.write_text(SMALL.replace('{ kind = "reno" }', '"mine:Control"'), encoding="utf-8")
    for allowed in ("0", "1"):
        monkeypatch.setenv("TAILROOM_ALLOW_CODE", allowed)
        refused = tailroom("explore", small, "--port", 0)
        assert refused.status == 2
        assert f"{small}: line 16, flows.reno.congestion: the page does not run" in refused.errors
        assert "`tailroom run`" in refused.errors
    assert not marker.exists()


def test_a_taken_port_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("page", encoding="utf-8")
    monkeypatch.setattr(page_files, "PAGE", tmp_path)
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ExploreError, match=f"port {port} of 127.0.0.1.*--port 0"):
            serve.serve(b"null", port=port, ready=print)


def test_an_installation_without_the_page_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tailroom: Tailroom
) -> None:
    monkeypatch.setattr(page_files, "PAGE", tmp_path)
    answer = tailroom("explore")
    assert answer.status == 2
    assert "make page" in answer.errors
    assert len(answer.errors.splitlines()) == 1
