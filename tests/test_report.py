"""The tables of `tailroom run`: what a reader finds in them, at the widths that terminals have."""

import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import tailroom as tr
from tailroom.cli import report
from tailroom.cli.table import NumberTable, Parts
from tailroom.simulation.metrics import find_metric, metrics_of
from tests.conftest import Printed

CALL = """\
duration = "30 s"
measure_from = "10 s"

[defaults]
host = "plain"

[links.down]
rate = "10 Mbit/s"
delay = "5 ms"
queue = { kind = "drop_tail", limit = "100 packets" }

[links.core]
rate = "1 Gbit/s"
delay = "5 ms"
queue = { kind = "drop_tail", limit = "1000 packets" }

[flows.download]
count = 2
path = ["core", "down"]
congestion = "cubic"
rtt = "40 ms"

[flows.call]
path = ["core", "down"]
packet_size = "200 B"
rtt = "40 ms"
source = { kind = "cbr", rate = "80 kbit/s" }
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> tr.Result:
    path = tmp_path_factory.mktemp("report") / "call.toml"
    path.write_text(CALL, encoding="utf-8")
    return tr.run(path)


def shown(result: tr.Result, width: int = 80, *, explain: bool = False) -> str:
    text = io.StringIO()
    report.show(result, Console(file=text, width=width), explain=explain)
    return text.getvalue()


def table(text: str, title: str) -> str:
    """The lines of a table, from its title to the title of the next."""
    return re.split(r"\n(?=[A-Z])", text.partition(f"{title}")[2])[0]


def test_a_call_sees_the_delay_of_all_links_and_its_own(result: tr.Result) -> None:
    call: Mapping[str, Any] = result.groups["call"]
    # Without its waiting time: 10 ms of the links, 10 ms of its own, and 0.16 ms of transmissions.
    rest = call["one_way_delay_s_mean"] - call["queue_delay_s_mean"]
    assert rest == pytest.approx(20e-3 + 200 * 8 / 10e6 + 200 * 8 / 1e9, abs=1e-4)


def test_a_group_has_its_delay_where_it_applies_its_timeouts_and_its_index(
    printed: Printed, tmp_path: Path
) -> None:
    for name, text in {"call": CALL, "lossy": LOSSY}.items():
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    printed("report")


LOSSY = """
duration = "30 s"

[links.link]
rate = "10 Mbit/s"
delay = "5 ms"
loss = { kind = "bernoulli", probability = 0.1 }
queue = { kind = "drop_tail", limit = "200 packets" }

[flows.bbr]
path = ["link"]
rtt = "100 ms"
host = "plain"
congestion = "bbr1"
"""


@pytest.mark.parametrize(
    ("handshakes", "words"),
    [
        (("true", "true"), "Dynamic flows, times with the handshake"),
        (("false", '"done"'), "Dynamic flows, times without the handshake"),
        (("true", "false"), "Dynamic flows, times with the handshake: first"),
    ],
)
def test_completion_times_say_whether_the_handshake_is_in_them(
    handshakes: tuple[str, str], words: str, tmp_path: Path
) -> None:
    link, _ = CALL.split("[links.core]")
    groups = [
        f"""
[flows.{name}]
path = ["down"]
congestion = "cubic"
rtt = "40 ms"
handshake = {handshake}
source = {{ kind = "finite_flows", size = "20 kB", load = 0.2 }}
"""
        for name, handshake in zip(("first", "second"), handshakes, strict=True)
    ]
    path = tmp_path / "requests.toml"
    path.write_text(link + "".join(groups), encoding="utf-8")
    assert words in [line.strip() for line in shown(tr.run(path)).splitlines()]


def test_a_scenario_of_sources_alone_has_no_table_of_controlled_groups(tmp_path: Path) -> None:
    path = tmp_path / "sources.toml"
    start = CALL.index("[flows.download]")
    path.write_text(CALL[:start] + CALL[CALL.index("[flows.call]") :], encoding="utf-8")
    text = shown(tr.run(path, set={"duration": "2 s", "measure_from": "1 s"}))
    assert "Groups of flows" not in text
    assert "Sources without acknowledgements" in text


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_name_and_no_number_is_cut_off_in_a_narrow_terminal(
    result: tr.Result, width: int
) -> None:
    text = shown(result, width)
    assert "…" not in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    lines = [line for line in text.splitlines() if not line.startswith(" ")]
    for name in ("core", "down", "download", "call"):
        assert any(line.split()[:1] == [name] for line in lines), name
    assert result.links["down"]["utilization"] == pytest.approx(1, abs=5e-4)
    assert "100.0%" in table(text, "Links")


@pytest.mark.parametrize("width", [30, 40, 60, 80])
def test_a_number_and_its_unit_are_never_parted(result: tr.Result, width: int) -> None:
    text = shown(result, width, explain=True)
    units = r"(?:[GMk]?bit/s|[um]?s|B|packets|bdp|ns)"
    assert re.findall(rf"\d {units}\b", text)
    # A unit at the beginning of a line or of a cell has lost its number.
    assert not re.findall(rf"(?m)(?:^|  ){units}(?=$|[ ,])", text)


def test_what_explains_a_run_is_printed_on_request(result: tr.Result) -> None:
    plain, explained = shown(result), shown(result, explain=True)
    for title in ("Sharing of the links", "packet-hops", "queue mean", "1.500 bdp"):
        assert (title in explained, title in plain) == (title != "1.500 bdp", False), title
    assert "150,000 B" in explained
    assert "100 packets, 120 ms" in plain


def test_a_limit_is_printed_as_the_scenario_has_it(tmp_path: Path) -> None:
    path = tmp_path / "call.toml"
    for written, printed_limit in {
        "100 packets": "100 packets, 120 ms",
        "64 kB": "64,000 B, 51.2 ms",
        "20 ms": "20 ms, 25,000 B",
        "0.5 bdp": "0.5 bdp, 20 ms",
    }.items():
        text = CALL.replace('"100 packets"', f'"{written}"', 1)
        path.write_text(text.replace("30 s", "2 s").replace("10 s", "1 s"), encoding="utf-8")
        assert printed_limit in shown(tr.run(path), 120)


POOL = """
duration = "20 ms"
measure_from = "1 ms"

[switches.tor]
hosts = 16
delay = "1 us"
rate = "10 Gbit/s"
queue = "drop_tail"
pool = { size = "4 MB", policy = { kind = "dynamic_threshold", alpha = 1.0 } }

[flows.queries]
from = ["tor.h1", "tor.h2", "tor.h3"]
to = "tor.h0"
congestion = "dctcp"
ecn = "accurate"
"""


def test_of_a_pool_the_ports_that_held_memory_are_printed(tmp_path: Path) -> None:
    path = tmp_path / "pool.toml"
    path.write_text(POOL, encoding="utf-8")
    ran = tr.run(path)
    [(name, pool)] = ran.pools.items()
    held = [port for port, part in pool["links"].items() if part["memory_bytes_mean"]]
    assert len(pool["links"]) == 16 > len(held)
    text = table(shown(ran, 120), f"Shared memory of {name}, 4 MB")
    assert f": {len(held)} of 16, by memory" in text.splitlines()[0]
    rows = [line.split()[0] for line in text.splitlines()[4:] if line.strip()]
    assert [row for row in rows if row != "all"] == held
    # The memory is not the port's own: its packets, time and bdp would say nothing of this port.
    assert f"pool {name}" in table(shown(ran, 120), "Links")
    assert "bdp" not in table(shown(ran, 120), "Links")


def test_of_many_links_the_ports_of_a_switch_stand_before_those_of_hosts(tmp_path: Path) -> None:
    """Eight hosts send at line rate from their own queues; one port is full, seven pass some."""
    path = tmp_path / "many.toml"
    path.write_text("""
duration = "5 ms"
[switches.tor]
hosts = 8
rate = "1 Gbit/s"
delay = "1 us"
queue = { kind = "drop_tail", limit = "1 MB" }
[flows.f]
from = "tor"
congestion = "cubic"
count = 16
""")
    output = io.StringIO()
    report.show(tr.run(path), Console(file=output, width=100))
    links = re.findall(r"^(tor-\S+)", output.getvalue(), re.MULTILINE)
    assert len(links) == 10
    assert {f"tor-switch-h{host}" for host in range(8)} <= set(links)


def test_a_long_name_is_folded_and_not_cut_off() -> None:
    numbers = NumberTable("Title", "link", "one", "two")
    numbers.add_row("a-name-of-twenty-five-signs", "12,345.67 Mbit/s", "1.00e-04")
    text = io.StringIO()
    Console(file=text, width=40).print(numbers)
    lines = text.getvalue().splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 40
    assert (
        "".join(line.split("  ")[0].strip() for line in lines[4:]) == "a-name-of-twenty-five-signs"
    )


def test_a_table_of_words_too_long_for_the_terminal_becomes_a_list() -> None:
    numbers = NumberTable("Title", "link", "cuts", "mean / p99")
    numbers.add_row("name", "1" * 20, "2\n3")
    text = io.StringIO()
    Console(file=text, width=30).print(numbers)
    wanted = ["", "Title", "name", "  cuts", "1" * 20, "  mean / p99  2, 3"]
    assert [line.rstrip() for line in text.getvalue().splitlines()] == wanted


@pytest.mark.parametrize(
    ("width", "rows"),
    [
        (41, ["name  60.2 ms / 98.0 ms  10 B = 2 packets"]),
        (40, ["name     60.2 ms  10 B = 2 packets", "         98.0 ms"]),
        (33, ["name     60.2 ms       10 B", "         98.0 ms  2 packets"]),
    ],
)
def test_values_stand_on_one_line_where_there_is_room(width: int, rows: list[str]) -> None:
    numbers = NumberTable("Title", "link", "mean / p99", "limit")
    numbers.add_row("name", Parts("60.2 ms", "98.0 ms"), Parts("10 B", "2 packets", between=" = "))
    text = io.StringIO()
    Console(file=text, width=width).print(numbers)
    assert [line.rstrip() for line in text.getvalue().splitlines()][4:] == rows


def test_a_table_may_have_no_heading_and_no_rows() -> None:
    for headings in (("", "one"), ("link",)):
        text = io.StringIO()
        Console(file=text, width=5).print(NumberTable("T", *headings))
        assert text.getvalue().split()[:2] == ["T", headings[-1]]


def test_a_group_named_before_a_metric_is_a_group(result: tr.Result) -> None:
    known = metrics_of(result.summary)
    assert find_metric("call.queue_delay_s_p99", known) == "groups.call.queue_delay_s_p99"
    assert known["groups.call.queue_delay_s_p99"] == result.groups["call"]["queue_delay_s_p99"]
    for metric in ("one_way_delay_s_p99", "jitter_s_mean"):
        assert known[f"groups.call.{metric}"] is not None
        assert known[f"groups.download.{metric}"] is None


def test_a_sweep_stores_the_delays_of_a_group(tmp_path: Path) -> None:
    path = tmp_path / "call.toml"
    path.write_text(CALL, encoding="utf-8")
    limits = {"links.down.queue.limit": ["20 packets", "100 packets"]}
    short = {"duration": "3 s", "measure_from": "1 s"}
    swept = tr.sweep(path, store=tmp_path / "store", grid=limits, set=short, seeds=1, workers=1)
    runs = swept.runs.to_pylist()
    delays = [run["groups.call.queue_delay_s_p99"] for run in runs]
    one = tr.run(path, set={**short, "links.down.queue.limit": "20 packets"}, seed=1)
    assert delays[0] == one.groups["call"]["queue_delay_s_p99"]
    assert delays[0] < delays[1]


def test_of_many_groups_and_warnings_the_first_are_printed_and_all_are_counted(
    tmp_path: Path,
) -> None:
    head, _, rest = CALL.partition("[flows.download]")
    download = rest.partition("[flows.call]")[0].replace("count = 2\n", "")
    groups = "".join(f"[flows.g{number}]{download}" for number in range(130))
    path = tmp_path / "many.toml"
    path.write_text(head.replace("30 s", "12 s") + groups, encoding="utf-8")
    many = tr.run(path)
    assert "Groups of flows: 10 of 130, by loss; --json has all" in shown(many, 200)
    text = shown(many, 200, explain=True)
    assert "Groups of flows: 100 of 130, by loss; --json has all" in text
    rows = re.findall(r"(?m)^(g\d+) ", text)
    assert len(rows) == 100
    assert rows == [name for name in many.groups if name in rows]
    least = min(many.groups[name]["loss_fraction"] or 0.0 for name in rows)
    others = (group for name, group in many.groups.items() if name not in rows)
    assert all((group["loss_fraction"] or 0.0) <= least for group in others)
    few = sum(one["kind"] == "few_reductions" for one in many.warnings)
    assert text.count("window reductions per flow") == 10
    assert f"warning: {few - 10:,} more of kind few_reductions; --json has all" in text
