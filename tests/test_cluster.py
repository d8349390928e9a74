"""Sweeps on a Dask cluster: the same numbers, whatever happens to the workers."""

import functools
import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

import tailroom as tr
from tailroom import _engine
from tailroom.buffer_atlas.kinds import Site
from tailroom.execution import dask_cluster as cluster
from tailroom.execution.progress import RunProgress
from tailroom_atlas.cells import Cell
from tailroom_atlas.cost import PlannedCell
from tailroom_atlas.study import compute_atlas
from tests.conftest import SMALL, Tailroom

pytestmark = pytest.mark.usefixtures("quick_models")

distributed = pytest.importorskip("distributed", reason="needs the extra: tailroom[cluster]")

PATIENCE_S = 40.0
"""For processes to start, on a loaded machine."""
WORKERS = 2
LIMITS = {"links.bottleneck.queue.limit": ["10 packets", "15 packets", "20 packets"]}
AT_RANDOM = {"flows.reno.start": {"uniform": ["0 s", "1 s"]}}
"""So that each seed gives other numbers."""


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Connected to worker processes on this machine."""
    with (
        distributed.LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            memory_limit="1GiB",
            dashboard_address="127.0.0.1:0",
        ) as workers,
        distributed.Client(workers, set_as_default=False) as connection,
    ):
        yield connection


@pytest.fixture
def address(client: Any) -> str:
    return str(client.scheduler.address)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_TIMEOUT_S", 0.5)


def numbers(runs: pa.Table) -> list[dict[str, Any]]:
    """All that a run says, but for how long it took."""
    rows: list[dict[str, Any]] = runs.drop_columns(["wall_s"]).to_pylist()
    for row in rows:
        row["summary"] = json.loads(row["summary"])
    return rows


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_sweep_on_a_cluster_is_the_local_sweep(
    client: Any, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The workers run in another directory, and must find the scenario's all the same.
    monkeypatch.chdir(tmp_path)
    how: dict[str, Any] = {"grid": LIMITS, "seeds": 4, "set": AT_RANDOM, "series": True}
    there = tr.sweep(small.name, store="there", executor=client, **how)
    here = tr.sweep(small.name, store="here", **how)
    assert there.runs.num_rows == 12
    assert numbers(there.store.runs()) == numbers(here.store.runs())
    assert not there.repeats_itself
    for key in there.runs["key"].to_pylist():
        series = there.store.table(key, "link_series")
        assert series is not None
        assert series.equals(here.store.table(key, "link_series"))
    assert client.status == "running"


def test_what_the_store_holds_is_not_run_again(client: Any, small: Path, tmp_path: Path) -> None:
    steps: list[RunProgress] = []
    tr.sweep(small, store=tmp_path / "store", seeds=3, set=AT_RANDOM, grid=LIMITS)
    tr.sweep(
        small,
        store=tmp_path / "store",
        seeds=4,
        set=AT_RANDOM,
        grid=LIMITS,
        executor=client,
        progress=steps.append,
    )
    assert (steps[-1].done, steps[-1].found) == (12, 9)


def lose_tailroom() -> None:
    sys.modules["tailroom._engine_before"] = sys.modules.pop("tailroom._engine")
    sys.modules["tailroom._engine"] = None  # type: ignore[assignment]
    del sys.modules["tailroom"]._engine


def find_tailroom() -> None:
    engine = sys.modules.pop("tailroom._engine_before")
    sys.modules["tailroom._engine"] = engine
    sys.modules["tailroom"]._engine = engine  # type: ignore[attr-defined]


def test_a_worker_without_tailroom_is_refused(client: Any, small: Path, tmp_path: Path) -> None:
    other = next(iter(client.run(os.getpid)))
    client.run(lose_tailroom, workers=[other])
    try:
        with pytest.raises(
            tr.ClusterError, match=f"^worker {other} cannot run tailroom: .*NotFound"
        ):
            tr.sweep(small, store=tmp_path / "store", grid=LIMITS, executor=client)
    finally:
        client.run(find_tailroom, workers=[other])
    assert not (tmp_path / "store").exists()


def have_build(build: str) -> None:
    _engine.build = lambda: build


def test_a_worker_with_another_engine_is_refused(
    client: Any, address: str, small: Path, tmp_path: Path, tailroom: Tailroom
) -> None:
    other = next(iter(client.run(os.getpid)))
    client.run(have_build, "9.9.9-other", workers=[other])
    try:
        ended = tailroom("sweep", small, "--store", tmp_path / "store", "--cluster", address)
    finally:
        client.run(have_build, _engine.build(), workers=[other])
    assert ended.status == 2
    assert ended.errors == (
        f"error: worker {other} has engine 9.9.9-other, but the study needs {_engine.build()}; "
        "install the same tailroom on every machine\n"
    )
    assert not (tmp_path / "store").exists()


def test_a_worker_with_another_engine_that_comes_later_stops_the_sweep(
    client: Any, small: Path, tmp_path: Path
) -> None:
    def exchange(progress: RunProgress) -> None:
        if progress.done == 2:
            client.run(have_build, "9.9.9-other")

    # One run at a time, so that some are left then.
    try:
        with pytest.raises(tr.ClusterError, match=r"^worker tcp://.* has engine 9\.9\.9-other"):
            tr.sweep(
                small,
                store=tmp_path / "store",
                grid=LIMITS,
                executor=client,
                progress=exchange,
                workers=1,
            )
    finally:
        client.run(have_build, _engine.build())
    assert tr.Store(tmp_path / "store").runs().num_rows == 2


def test_size_on_a_cluster_gives_the_local_answer(client: Any, small: Path) -> None:
    how: dict[str, Any] = {"set": AT_RANDOM, "max_seeds": 4, "precision": 0.2}
    there = tr.size(small, ["utilization >= 0.95"], executor=client, **how)
    here = tr.size(small, ["utilization >= 0.95"], **how)
    assert there.limit_packets is not None
    assert there.limit_packets == here.limit_packets
    assert [one.limit for one in there.tried] == [one.limit for one in here.tried]
    for one, other in zip(there.tried, here.tried, strict=True):
        assert one.point.values("utilization") == other.point.values("utilization")


class Half:
    """Reno that grows half as fast."""

    def __init__(self, part: float = 0.5) -> None:
        self.part = part

    def on_ack(self, event: tr.AckEvent) -> float:
        return event.cwnd_packets + self.part * event.acked_packets / event.cwnd_packets

    def on_congestion(self, event: tr.CongestionEvent) -> float:
        return event.cwnd_packets / 2


@pytest.mark.parametrize("control", [Half, functools.partial(Half, part=0.25), "laws:Law"])
def test_controls_of_the_users_own_travel(
    client: Any, small: Path, tmp_path: Path, control: Any
) -> None:
    (tmp_path / "laws.py").write_text(
        "import steps\n"
        "class Law:\n"
        "    def on_ack(self, event):\n"
        "        return event.cwnd_packets + steps.step(event)\n"
        "    def on_congestion(self, event):\n"
        "        return event.cwnd_packets / 2\n"
    )
    (tmp_path / "steps.py").write_text(
        "def step(event):\n    return 2 * event.acked_packets / event.cwnd_packets\n"
    )
    how: dict[str, Any] = {"grid": LIMITS, "seeds": 1, "congestion": {"reno": control}}
    there = tr.sweep(small, store=tmp_path / "there", executor=client, **how)
    here = tr.sweep(small, store=tmp_path / "here", **how)
    assert numbers(there.store.runs()) == numbers(here.store.runs())
    # Or a worker that stays up would run yesterday's code.
    assert not any(client.run(lambda: "laws" in sys.modules or "steps" in sys.modules).values())


def test_a_control_of_a_script_travels(address: str, small: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, tailroom as tr\n"
        "class Mine:\n"
        "    def on_ack(self, event):\n"
        "        return event.cwnd_packets + event.acked_packets / event.cwnd_packets\n"
        "    def on_congestion(self, event):\n"
        "        return 0.8 * event.cwnd_packets\n"
        "if __name__ == '__main__':\n"
        "    for store, cluster in (('there', sys.argv[2]), ('here', None)):\n"
        "        tr.sweep(sys.argv[1], store=store, congestion={'reno': Mine}, executor=cluster,\n"
        "                 grid={'flows.reno.count': [1, 2]}, seeds=1)\n"
    )
    command = [sys.executable, str(script), str(small), address]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=PATIENCE_S)
    there, here = (tr.Store(tmp_path / name).runs() for name in ("there", "here"))
    assert there.num_rows == 2
    assert numbers(there) == numbers(here)


class Broken(Half):
    def on_ack(self, event: tr.AckEvent) -> float:
        raise KeyError(f"nothing at {event.now_s}")


@pytest.mark.parametrize("where", ["cluster", "here"])
def test_an_exception_in_a_control_comes_back(
    client: Any, small: Path, tmp_path: Path, where: str
) -> None:
    with pytest.raises(tr.ControlError, match="on_ack raised KeyError") as raised:
        tr.sweep(
            small,
            store=tmp_path / "store",
            grid=LIMITS,
            congestion={"reno": Broken},
            executor=client if where == "cluster" else None,
        )
    assert "KeyError" in "".join(traceback.format_exception(raised.value))


LOCK = threading.Lock()


class Locked(Half):
    def on_ack(self, event: tr.AckEvent) -> float:
        with LOCK:
            return super().on_ack(event)


def test_a_control_that_cannot_travel_is_refused(client: Any, small: Path, tmp_path: Path) -> None:
    complaint = r"Locked cannot be sent to another machine: TypeError: cannot pickle '_thread.lock'"
    with pytest.raises(tr.ClusterError, match=complaint):
        tr.sweep(
            small,
            store=tmp_path / "store",
            grid=LIMITS,
            congestion={"reno": Locked},
            executor=client,
        )


def test_a_control_that_needs_what_a_worker_lacks_is_refused(
    client: Any, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "only_here.py").write_text("gain = 0.5\n")
    monkeypatch.syspath_prepend(library)
    (tmp_path / "needy.py").write_text(
        "import only_here\n"
        "from tests.test_cluster import Half\n"
        "class Needy:\n"
        "    def on_ack(self, event):\n"
        "        return event.cwnd_packets + only_here.gain\n"
        "    def on_congestion(self, event):\n"
        "        return event.cwnd_packets / 2\n"
    )
    with pytest.raises(
        tr.ClusterError,
        match=r"^worker tcp://.* cannot load the controls: ModuleNotFoundError: .*'only_here'",
    ):
        tr.sweep(
            small,
            store=tmp_path / "store",
            grid=LIMITS,
            congestion={"reno": "needy:Needy"},
            executor=client,
        )


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, r"^worker tcp://.*here\.trace.*same path on every machine"),
        (
            "1\n3\n",
            r"^worker tcp://.*has other content on that machine; .*same path on every machine",
        ),
    ],
)
def test_a_file_that_a_worker_lacks_or_has_otherwise_stops_the_sweep(
    client: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: str | None,
    complaint: str,
) -> None:
    # A path on which each process finds a file of its own, as machines without shared files do.
    trace = "/proc/self/cwd/here.trace"
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(SMALL.replace('rate = "10 Mbit/s"', f'trace = "{trace}"'))
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    (here / "here.trace").write_text("1\n2\n")
    if content is not None:
        (there / "here.trace").write_text(content)
    monkeypatch.chdir(here)
    before = client.run(os.getcwd)
    client.run(os.chdir, there)
    try:
        with pytest.raises(tr.ClusterError, match=complaint):
            tr.sweep(scenario, store=tmp_path / "store", grid=LIMITS, executor=client)
    finally:
        client.run(os.chdir, next(iter(before.values())))
    assert tr.Store(tmp_path / "store").runs().num_rows == 0


def test_interrupt_keeps_what_is_finished_and_frees_the_workers(
    client: Any, address: str, small: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    command = [sys.executable, "-m", "tailroom", "sweep", str(small), "--store", str(store)]
    durations = "duration=4 s, 5 s, 200000 s, 200001 s, 200002 s, 200003 s"

    def executing(dask_worker: Any) -> int:
        count: int = dask_worker.state.executing_count
        return count

    with subprocess.Popen(
        [*command, "--grid", durations, "--seeds", "1", "--cluster", address],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        wait_until(lambda: (store / "runs").is_dir() and len(tr.Store(store).runs()) == 2)
        wait_until(lambda: sum(client.run(executing).values()) == WORKERS)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    again = "give the same command again: tailroom sweep "
    told = [line for line in errors.splitlines() if not line.startswith("after ")]  # progress
    assert [line.partition(again)[:2] for line in told] == [
        ("interrupted: 2 of 6 runs are kept; to continue, ", again)
    ]
    assert "200000" not in output
    wait_until(lambda: sum(client.run(executing).values()) == 0)
    assert tr.Store(store).runs().num_rows == 2
    # And they work on.
    tr.sweep(small, store=tmp_path / "next", grid=LIMITS, executor=client)


MANY_RUNS: dict[str, tuple[str, ...]] = {
    "sweep": ("sweep", "FILE", "--store", "STORE", "--grid", "flows.reno.count=1, 2"),
    "size": ("size", "FILE", "--store", "STORE", "--target", "utilization >= 0.9"),
    "choices": ("run", "FILE", "--store", "STORE", "--vary", "flows.reno.count=1, 2"),
    "phases": ("run", "FILE", "--phase-check"),
    "compare": ("compare", "FILE", "--store", "STORE", "--seeds", "2"),
    "evaluate": ("evaluate", "reno", "--quick", "--store", "STORE"),
    "papers": ("papers", "run", "su-2005-fhstcp", "--quick", "--out", "STORE"),
}
"""A call of every command that performs many runs."""


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("command", "where"),
    [
        *((command, "tcp://127.0.0.1:1") for command in MANY_RUNS),
        ("sweep", "127.0.0.1"),
        ("sweep", "nowhere://x:1"),
    ],
)
def test_an_unreachable_cluster_is_reported(
    small: Path, tmp_path: Path, tailroom: Tailroom, command: str, where: str
) -> None:
    places = {"FILE": str(small), "STORE": str(tmp_path / "store")}
    arguments = [places.get(word, word) for word in MANY_RUNS[command]]
    ended = tailroom(*arguments, "--cluster", where)
    assert ended.status == 2
    assert ended.errors.startswith(
        f"error: cluster {where}: no scheduler answers at this address: "
    )
    assert ended.errors.count("\n") == 1
    assert ended.output == ""
    assert not (tmp_path / "store").exists()


def test_choices_phase_checks_and_comparisons_are_the_local_ones(
    client: Any, address: str, small: Path, tailroom: Tailroom
) -> None:
    how: dict[str, Any] = {"seeds": 2, "set": AT_RANDOM}
    there = tr.choices(small, LIMITS, executor=client, **how)
    here = tr.choices(small, LIMITS, **how)
    assert [one.metrics for one in there.choices] == [one.metrics for one in here.choices]
    assert tr.phase_check(small, seeds=2, executor=client) == tr.phase_check(small, seeds=2)
    compare = ("compare", small, "--seeds", 2, "--json")
    assert tailroom(*compare, "--cluster", address).output == tailroom(*compare).output


def test_an_executor_of_dask_performs_the_runs_and_stays_open(
    client: Any, small: Path, tmp_path: Path
) -> None:
    executor = client.get_executor()
    how: dict[str, Any] = {"grid": LIMITS, "seeds": 1}
    there = tr.sweep(small, store=tmp_path / "there", executor=executor, **how)
    here = tr.sweep(small, store=tmp_path / "here", **how)
    assert numbers(there.store.runs()) == numbers(here.store.runs())
    assert executor.submit(sum, [1, 2]).result() == 3


@pytest.mark.usefixtures("impatient")
def test_a_cluster_without_workers_is_reported(small: Path, tmp_path: Path) -> None:
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as empty,
        pytest.raises(tr.ClusterError, match=r"has no workers; start one: dask worker tcp://"),
    ):
        tr.sweep(small, store=tmp_path / "store", grid=LIMITS, executor=empty.scheduler_address)
    assert not (tmp_path / "store").exists()


def test_a_client_that_is_closed_is_reported(address: str, small: Path, tmp_path: Path) -> None:
    with distributed.Client(address, set_as_default=False) as closed:
        pass
    with pytest.raises(tr.ClusterError, match="give a client that is connected"):
        tr.sweep(small, store=tmp_path / "store", grid=LIMITS, executor=closed)


def test_without_dask_the_message_names_the_extra(
    small: Path, tmp_path: Path, tailroom: Tailroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    store = tmp_path / "store"
    ended = tailroom("sweep", small, "--store", store, "--cluster", "tcp://127.0.0.1:1")
    assert ended.status == 2
    assert 'pip install "tailroom[cluster]"' in ended.errors
    assert not store.exists()


class Emptied:
    """A client of a scheduler that replaced another, and does not know its workers."""

    asynchronous = False
    status = "running"
    scheduler = SimpleNamespace(address="tcp://there:8786")

    def __init__(self) -> None:
        self.threads = {"tcp://worker:1": 2}

    def wait_for_workers(self, *_: object, **__: object) -> None:
        """There are some at first."""

    def run(self, *_: object, **__: object) -> dict[str, Any]:
        return {}

    def nthreads(self) -> dict[str, int]:
        return self.threads


def test_a_sweep_without_workers_says_that_it_waits(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "REFRESH_S", 0.0)
    client: Any = Emptied()
    connected = cluster.Cluster(client)
    assert connected.at_a_time == cluster.FEWEST_AT_A_TIME
    assert capsys.readouterr().err == ""
    client.threads = {}
    for _ in range(3):
        assert connected.at_a_time == cluster.FEWEST_AT_A_TIME
    said = (
        "tcp://there:8786: has no workers any more; waiting for one: dask worker tcp://there:8786"
    )
    assert capsys.readouterr().err == f"{said}\n", "once"


# Last, as new workers take seconds to start.


def test_the_runs_of_a_killed_worker_are_done_again(
    client: Any, small: Path, tmp_path: Path
) -> None:
    how: dict[str, Any] = {"grid": LIMITS, "seeds": 8, "set": {**AT_RANDOM, "duration": "200 s"}}
    pids = client.run(os.getpid)
    killed: list[int] = []

    def kill_one(progress: RunProgress) -> None:
        if progress.done == 3 and not killed:
            busy = next(worker for worker, runs in client.processing().items() if runs)
            os.kill(pids[busy], signal.SIGKILL)
            killed.append(pids[busy])

    there = tr.sweep(small, store=tmp_path / "there", executor=client, progress=kill_one, **how)
    here = tr.sweep(small, store=tmp_path / "here", **how)
    assert killed
    assert numbers(there.store.runs()) == numbers(here.store.runs())
    assert killed[0] not in client.run(os.getpid).values()


def die_there(home: int) -> None:
    if os.getpid() != home:
        os.kill(os.getpid(), signal.SIGKILL)


class Deadly:
    """Kills its process, unless that is the one that it comes from."""

    def __init__(self, home: int) -> None:
        self.home = home

    def on_ack(self, event: tr.AckEvent) -> float:
        die_there(self.home)
        return event.cwnd_packets

    def on_congestion(self, event: tr.CongestionEvent) -> float:
        die_there(self.home)
        return event.cwnd_packets


def test_a_run_that_kills_its_workers_fails(client: Any, small: Path, tmp_path: Path) -> None:
    def allow(failures: int, dask_scheduler: Any) -> int:
        before: int = dask_scheduler.allowed_failures
        dask_scheduler.allowed_failures = failures
        return before

    before = client.run_on_scheduler(allow, 0)
    try:
        with pytest.raises(
            tr.RunError, match=r"1 of 1 runs failed.*1 workers ended while they performed it"
        ):
            tr.sweep(
                small,
                store=tmp_path / "store",
                grid={"links.bottleneck.queue.limit": ["10 packets"]},
                seeds=1,
                congestion={"reno": functools.partial(Deadly, os.getpid())},
                executor=client,
            )
    finally:
        client.run_on_scheduler(allow, before)


def test_cells_of_the_atlas_are_the_same_on_a_cluster(client: Any, tmp_path: Path) -> None:
    cell = Cell("home", Site(5 * 10**6, 20, 20, 1), "long", "cubic", "drop_tail")
    planned = [PlannedCell(cell, "short", warm_up_s=1.0, measured_s=3.0, core_s=1.0)]
    here = compute_atlas(planned, tmp_path / "here")
    there = compute_atlas(planned, tmp_path / "there", executor=client)
    assert there.answers == here.answers
    assert there.curves == here.curves
