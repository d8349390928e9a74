"""The local server: the same answers as `tailroom.run`, and only to its own page."""

import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn

import tailroom as tr
from tailroom.errors import ExploreError, NotWrittenError
from tailroom.explore import guard, runs, serve
from tailroom.explore.app import application
from tailroom.explore.guard import is_loopback, own_hosts
from tailroom.explore.opened import Opened, memory_limit_bytes
from tailroom.explore.runs import Runs
from tailroom.explore.stored_runs import StoredRuns
from tailroom.scenario.source import ScenarioSource
from tailroom.storage import store
from tests.conftest import SMALL, Tailroom

ENDLESS = SMALL.replace("4 s", "100000 s").replace("10 Mbit/s", "1 Gbit/s")
"""About 10^10 packets."""
CONTROL = """\
class Fixed:
    def __init__(self, window=10):
        self.window = window

    def on_ack(self, event):
        return self.window

    def on_congestion(self, event):
        return self.window
"""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.body.splitlines()]


@dataclass(frozen=True)
class Server:
    port: int
    runs: Runs

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def send(
        self, method: str, path: str, body: bytes | None = None, /, **headers: str
    ) -> http.client.HTTPConnection:
        connection = self.connect()
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, {"X-Tailroom": "1", **given})
        return connection

    def get(self, path: str, **headers: str) -> Answer:
        return _received(self.send("GET", path, None, **headers))

    def post(self, path: str, body: bytes, **headers: str) -> Answer:
        return _received(self.send("POST", path, body, **headers))

    def ask(
        self, path: str, text: str, values: dict[str, str] | None = None, seed: int | None = None
    ) -> Answer:
        return self.post(path, question(text, seed, values))


def question(text: str, seed: int | None = None, values: dict[str, str] | None = None) -> bytes:
    return json.dumps({"text": text, "set": values or {}, "seed": seed}).encode()


def _received(connection: http.client.HTTPConnection) -> Answer:
    with closing(connection):
        response = connection.getresponse()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, headers, response.read())


@contextmanager
def serving(
    page: Path,
    opened: Opened | None = None,
    *,
    longest_s: float = 60,
    stored: StoredRuns | None = None,
) -> Iterator[Server]:
    page.mkdir(exist_ok=True)
    (page / "index.html").write_text("<!doctype html><title>page</title>", encoding="utf-8")
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        port = listening.getsockname()[1]
        performer = Runs(2, stored=stored, longest_s=longest_s)
        app = application(page, opened or Opened.nothing(), performer, own_hosts("127.0.0.1", port))
        config = uvicorn.Config(app, log_level="warning", ws="none", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        until(lambda: server.started)
        try:
            yield Server(port, performer)
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server") / "page") as running:
        yield running


def until(holds: Any) -> None:
    """Waits at most 20 seconds."""
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline, "it did not happen within 20 s"
        time.sleep(0.01)


def test_the_page_learns_what_runs_here(server: Server) -> None:
    engine = server.get("/api/engine").json
    assert engine["file"] is None
    assert engine["controls"] == []
    assert engine["workers"] == 2
    assert engine["build"].startswith("0.1.0+")


def test_a_run_has_the_summary_of_the_library(server: Server, small: Path) -> None:
    answer = server.ask("/api/run", SMALL, {"series.interval": "0.5 s"}, seed=5).lines[-1]
    expected = tr.run(small, seed=5, set={"series.interval": "0.5 s"})
    found = answer["answer"]
    assert found["hash"] == expected.summary["scenario_hash"]
    assert found["scenario"] == expected.scenario
    links = json.loads(json.dumps(expected.summary["links"]))
    assert found["summary"]["links"] == links
    queue = expected.series("queue").to_pydict()
    assert found["series"]["link_series"]["queue_packets"] == queue["queue_packets"]
    assert found["series"]["names"] == {"links": ["bottleneck"], "flows": ["reno.0", "reno.1"]}


def test_scenario_and_hash_are_those_of_the_library(server: Server, small: Path) -> None:
    answer = server.ask("/api/resolve", SMALL, seed=3).json
    expected = tr.run(small, seed=3)
    assert answer == {"scenario": expected.scenario, "hash": expected.summary["scenario_hash"]}


def test_models_have_their_input(server: Server) -> None:
    assert server.ask("/api/model_input", SMALL).json["links"]


def test_the_part_simulated_so_far_grows(server: Server) -> None:
    connection = server.send(
        "POST", "/api/run", question(ENDLESS, values={"series.interval": "0.1 s"})
    )
    with closing(connection):
        response = connection.getresponse()
        first, second = (json.loads(response.readline())["progress"] for _ in range(2))
    assert 0 < first["seconds"] < second["seconds"]
    rows = [len(part["series"]["link_series"]["time_s"]) for part in (first, second)]
    assert 0 < rows[0] < rows[1]
    until(lambda: server.runs.unfinished == 0)


def test_closed_connections_end_their_runs_also_those_that_wait(server: Server) -> None:
    connections = [server.send("POST", "/api/run", question(ENDLESS)) for _ in range(5)]
    until(lambda: server.runs.unfinished == 5)
    assert server.ask("/api/resolve", SMALL).status == 200, "the server answers meanwhile"
    for connection in connections:
        connection.close()
    until(lambda: server.runs.unfinished == 0)
    assert "answer" in server.ask("/api/run", SMALL).lines[-1]


def test_a_long_run_ends_by_itself(tmp_path: Path) -> None:
    with serving(tmp_path / "page", longest_s=0.3) as brief:
        error = brief.ask("/api/run", ENDLESS).lines[-1]["error"]
    assert "more than 0.3 s" in error["message"]


def test_too_many_runs_are_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MOST_WAITING", 0)
    connections = [server.send("POST", "/api/run", question(ENDLESS)) for _ in range(2)]
    until(lambda: server.runs.unfinished == 2)
    assert server.ask("/api/run", SMALL).status == 503
    for connection in connections:
        connection.close()
    until(lambda: server.runs.unfinished == 0)


@pytest.mark.parametrize("path", ["/api/resolve", "/api/model_input", "/api/run"])
@pytest.mark.parametrize(("text", "values"), [("\\ud800", "{}"), ("", '{"seed": "\\udfff"}')])
def test_half_a_character_is_a_bad_question(
    server: Server, path: str, text: str, values: str
) -> None:
    body = f'{{"text": "{text}", "set": {values}, "seed": null}}'
    answer = server.post(path, body.encode())
    assert answer.status == 400
    assert "surrogates not allowed" in answer.json["message"]


def test_a_client_that_leaves_within_its_request_is_no_error(
    server: Server, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(20):
        with closing(socket.create_connection(("127.0.0.1", server.port))) as connection:
            head = f"POST /api/run HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nX-Tailroom: 1\r\n"
            connection.sendall(f"{head}Content-Length: 1000\r\n\r\n{{".encode())
            time.sleep(0.01)
    assert server.ask("/api/resolve", SMALL).status == 200
    time.sleep(0.1)
    assert "Traceback" not in capfd.readouterr().err + caplog.text
    assert server.runs.unfinished == 0


def test_a_long_answer_comes_in_pieces(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f'{SMALL}[series]\ninterval = "10 ms"\n'
    whole = server.ask("/api/run", text).lines[-1]["answer"]
    monkeypatch.setattr(runs, "PIECE", 1000)
    pieces = server.ask("/api/run", text).lines[-1]["answer"]
    assert pieces["series"] == whole["series"]
    assert pieces["scenario"] == whole["scenario"]


def test_the_memory_of_an_answer_counts(server: Server) -> None:
    """Series that fit into the limit as numbers, but not as text besides."""
    text = f'memory_limit = "30 MB"\n{SMALL}[series]\ninterval = "200 us"\n'
    scenario: Any = tomllib.loads(text)
    assert tr.run(scenario).summary["seed"] == 1
    error = server.ask("/api/run", text).lines[-1]["error"]
    assert error["problems"][0]["key"] == "memory_limit"
    assert server.ask("/api/run", text.replace("30 MB", "100 MB")).lines[-1]["answer"]


@pytest.mark.parametrize("title", ["plain", "two\n[lines]", "\n[a"])
def test_the_limit_of_a_resolved_scenario_is_read_from_its_keys(title: str) -> None:
    scenario: Any = {**tomllib.loads(SMALL), "title": title, "memory_limit": "5 MB"}
    assert memory_limit_bytes(ScenarioSource.of(scenario).resolve(seed=None)) == 5e6


def test_problems_have_their_line_key_and_remedy(server: Server) -> None:
    wrong = SMALL.replace('rate = "10 Mbit/s"', 'rate = "10 parsec"')
    answer = server.ask("/api/resolve", wrong)
    assert answer.status == 422
    [problem] = answer.json["problems"]
    assert problem["line"] == 1 + wrong[: wrong.index("rate =")].count("\n")
    assert problem["key"] == "links.bottleneck.rate"
    assert problem["remedy"]
    [of_set] = server.ask("/api/resolve", SMALL, {"links.bottleneck.rate": "fast"}).json["problems"]
    assert of_set["line"] is None
    assert of_set["key"] == "links.bottleneck.rate"


def test_wrong_scenarios_fail_in_runs_too(server: Server) -> None:
    error = server.ask("/api/run", "title = 3").lines[-1]["error"]
    assert error["kind"] == "scenario"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[" * 100_000,
        b"[]",
        b'{"text": 1, "set": {}, "seed": null}',
        b'{"text": "", "set": {"a": 1}, "seed": null}',
        b'{"text": "", "set": {}, "seed": -1}',
        b'{"text": "", "set": {}, "seed": 1.5}',
        b'{"text": "", "set": {}, "seed": true}',
        b'{"text": "", "set": {}, "seed": null, "file": "a"}',
        b"\xff\xfe",
    ],
)
def test_requests_that_the_page_does_not_send_are_refused(server: Server, body: bytes) -> None:
    assert server.post("/api/run", body).status == 400


def test_a_page_names_no_files(server: Server, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden words", encoding="utf-8")
    named = SMALL.replace('rate = "10 Mbit/s"', f"trace = '{secret}'")
    for answer in (
        server.ask("/api/resolve", named),
        server.ask("/api/model_input", named),
        server.ask("/api/resolve", SMALL, {"links.bottleneck.trace": str(secret)}),
    ):
        assert answer.status == 422
        assert b"hidden" not in answer.body
        assert b"may name files" in answer.body
    assert b"may name files" in server.ask("/api/run", named).body


def test_a_page_names_no_python_code(server: Server, tmp_path: Path) -> None:
    marker = tmp_path / "imported"
    (tmp_path / "evil.py").write_text(f"open({str(marker)!r}, 'w')\n", encoding="utf-8")
    for name in ("evil:Control", "os:system", f"{tmp_path}/evil:Control"):
        named = SMALL.replace('{ kind = "reno" }', f'"{name}"')
        answer = server.ask("/api/resolve", named)
        assert answer.status == 422
        assert b"a page may not name other Python code" in answer.body
    assert not marker.exists()


@pytest.mark.usefixtures("code_allowed")
def test_the_opened_file_permits_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "own_fixed_control.py").write_text(CONTROL, encoding="utf-8")
    (tmp_path / "link.trace").write_text("1\n2\n3\n", encoding="utf-8")
    (tmp_path / "other.trace").write_text("1\n2\n3\n", encoding="utf-8")
    control = (
        '{ kind = "custom", control = "own_fixed_control:Fixed", parameters = { window = 5 } }'
    )
    text = SMALL.replace('{ kind = "reno" }', control)
    text = text.replace('rate = "10 Mbit/s"', 'trace = "link.trace"')
    file = tmp_path / "own.toml"
    file.write_text(text, encoding="utf-8")
    with serving(tmp_path / "page", Opened.of(str(file))) as running:
        engine = running.get("/api/engine").json
        assert engine["file"] == {"name": str(file), "text": text}
        assert engine["controls"] == ["own_fixed_control:Fixed"]
        found = running.ask("/api/run", text.replace("4 s", "3 s")).lines[-1]["answer"]
        file.write_text(text.replace("4 s", "3 s"), encoding="utf-8")
        assert found["hash"] == tr.run(file).summary["scenario_hash"]
        for other in (
            text.replace("link.trace", "other.trace"),
            text.replace("link.trace", "./link.trace"),
            text.replace("window = 5", "window = 6"),
            text.replace(":Fixed", ":Other"),
        ):
            assert running.ask("/api/resolve", other).status == 422


def test_memory_is_limited(server: Server) -> None:
    greedy = f'memory_limit = "5 GB"\n{SMALL}'
    answer = server.ask("/api/run", greedy).lines[-1]["error"]
    assert "memory_limit" in answer["problems"][0]["text"]
    large = SMALL.replace("count = 2", "count = 5000000")
    assert "memory" in server.ask("/api/run", large).lines[-1]["error"]["problems"][0]["text"]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:{port}", 200),
        ("localhost:{port}", 200),
        ("LOCALHOST:{port}", 200),
        ("[::1]:{port}", 200),
        ("evil.example:{port}", 403),
        ("127.0.0.1", 403),
        ("127.0.0.1:1", 403),
        ("user@127.0.0.1:{port}", 403),
        ("127.0.0.1.evil.example:{port}", 403),
        ("127.0.0.1:{port}/x", 403),
        ("", 403),
    ],
)
def test_only_its_own_host_is_answered(server: Server, host: str, status: int) -> None:
    for path in ("/", "/api/engine"):
        assert server.get(path, Host=host.format(port=server.port)).status == status


def test_other_origins_are_refused(server: Server) -> None:
    own = f"http://127.0.0.1:{server.port}"
    assert server.post("/api/resolve", question(SMALL), Origin=own).status == 200
    for origin in ("https://evil.example", "null", f"https://127.0.0.1:{server.port}"):
        assert server.post("/api/resolve", question(SMALL), Origin=origin).status == 403
    preflight = server.send("OPTIONS", "/api/run", Origin=own, Access_Control_Request_Method="POST")
    assert "access-control-allow-origin" not in _received(preflight).headers


def test_the_own_header_is_needed(server: Server) -> None:
    connection = server.connect()
    connection.request("GET", "/api/engine")
    assert _received(connection).status == 403


def test_all_addresses_are_not_all_names() -> None:
    is_own = own_hosts("0.0.0.0", 80)
    assert is_own("192.0.2.7")
    assert is_own("192.0.2.7:80")
    assert is_own("localhost")
    assert not is_own("evil.example")
    assert not own_hosts("192.0.2.7", 80)("192.0.2.8")
    assert is_loopback("127.0.0.1")
    assert is_loopback("::1")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("::")


def test_large_and_slow_requests_end(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    assert server.post("/api/resolve", question("x" * (1 << 20))).status == 413
    monkeypatch.setattr(guard, "LONGEST_REQUEST_S", 0.2)
    connection = server.connect()
    connection.putrequest("POST", "/api/resolve")
    connection.putheader("X-Tailroom", "1")
    connection.putheader("Content-Length", "100")
    connection.endheaders(b"{")
    assert _received(connection).status == 408


def test_no_address_reaches_other_files(server: Server) -> None:
    for path in (
        "/../test_server.py",
        "/..%2f..%2fetc/passwd",
        "/%2e%2e/page/../x",
        "//etc/passwd",
    ):
        assert server.get(path).status == 404
    assert server.get("/api/unknown").status == 404
    assert server.get("/").body.startswith(b"<!doctype html>")


def test_every_answer_protects_the_page(server: Server) -> None:
    for answer in (server.get("/"), server.get("/none"), server.get("/", Host="evil.example")):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe-inline" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"


def test_titles_reach_the_page_as_json_only(server: Server) -> None:
    title = '</script><script>alert("x")</script>'
    text = SMALL.replace("Two Reno flows", title.replace('"', '\\"'))
    answer = server.ask("/api/run", text)
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert title in answer.lines[-1]["answer"]["scenario"].replace('\\"', '"')


def test_a_taken_port_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(serve, "page", lambda: tmp_path)
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ExploreError, match=f"port {port} of 127.0.0.1.*--port"):
            serve.serve(Opened.nothing(), Runs(1), host="127.0.0.1", port=port, ready=print)


def test_an_installation_without_the_page_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tailroom: Tailroom
) -> None:
    monkeypatch.setattr(serve, "PAGE", tmp_path)
    answer = tailroom("explore")
    assert answer.status == 2
    assert "make page" in answer.errors
    assert len(answer.errors.splitlines()) == 1


LIMITED = {"links.bottleneck.queue.limit": '"20 packets"'}


def test_a_store_keeps_the_runs_of_the_page(tmp_path: Path, small: Path) -> None:
    directory = tmp_path / "store"
    with serving(tmp_path / "page", stored=StoredRuns(directory)) as first:
        asked = first.ask("/api/run", SMALL, LIMITED, seed=3).lines[-1]["answer"]
        until(lambda: len(list((directory / "runs").glob("*.parquet"))) == 1)
        first.ask("/api/run", SMALL, {"series.interval": "0.5 s"}, seed=3)
    with serving(tmp_path / "other", stored=StoredRuns(directory)) as second:
        found = second.ask("/api/run", SMALL, LIMITED, seed=3).lines[-1]["answer"]
    assert found["summary"] == asked["summary"], "the timing shows that it is the same run"
    assert found["summary"]["packet_hops"] == found["summary"]["timing"]["packet_hops"]
    performed: list[Any] = []
    tr.sweep(
        small,
        directory,
        grid={"links.bottleneck.queue.limit": ["20 packets"]},
        seeds=4,
        progress=performed.append,
    )
    assert performed[-1].found == 1, "a sweep finds the run of the page"


def test_a_run_of_a_store_that_nobody_waits_for_ends(tmp_path: Path) -> None:
    with serving(tmp_path / "page", stored=StoredRuns(tmp_path / "store"), longest_s=0.3) as brief:
        [line] = brief.ask("/api/run", ENDLESS).lines
        assert "more than 0.3 s" in line["error"]["message"]
    assert not list((tmp_path / "store" / "runs").iterdir())


def test_a_store_that_cannot_be_written_is_reported_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_path: Path, _content: bytes) -> None:
        raise NotWrittenError(28, "No space left on device", "runs/KEY.parquet")

    stored = StoredRuns(tmp_path / "store")
    monkeypatch.setattr(store, "write_whole", full)
    with serving(tmp_path / "page", stored=stored) as running:
        answers = [running.ask("/api/run", SMALL, seed=seed).lines[-1] for seed in (1, 2)]
    assert all(answer["answer"]["summary"]["packet_hops"] > 0 for answer in answers)
    assert capsys.readouterr().err.count("No space left on device") == 1


def test_wrong_files_are_named(tailroom: Tailroom) -> None:
    answer = tailroom("explore", "no-such-file.toml")
    assert answer.status == 2
    assert "no-such-file.toml" in answer.errors


SERVE = """
import pathlib, sys
from tailroom.explore import serve
serve.PAGE = pathlib.Path(sys.argv.pop(1))
from tailroom.cli.main import app
app(["explore", "--port", "0"])
"""


def test_ctrl_c_ends_the_server_and_its_runs(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("page", encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-c", SERVE, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as command:
        try:
            _end_during_a_run(command)
            assert command.stderr is not None
            assert not command.stderr.read()
        finally:
            command.kill()


def _end_during_a_run(command: "subprocess.Popen[str]") -> None:
    assert command.stdout is not None
    address = command.stdout.readline().split()[0]
    port = int(address.rstrip("/").rpartition(":")[2])
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request("POST", "/api/run", question(ENDLESS), {"X-Tailroom": "1"})
        connection.getresponse().readline()
        command.send_signal(signal.SIGINT)
        assert command.wait(timeout=20) == 0
