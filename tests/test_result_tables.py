"""What the engine declares about tables is what a result, its files and its documentation have."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tailroom as tr
from generate import site_files
from tailroom.simulation.arrow_tables import declarations
from tailroom.simulation.result_tables import ResultTables
from tailroom.storage.result_directory import TABLES

DOCS = Path(__file__).parents[1] / "docs"

EVERYTHING = {
    "series.interval": "100 ms",
    "links.bottleneck.packet_log": 50,
    "links.bottleneck.arrival_dispersion": "10 ms",
    "links.bottleneck.arrival_log": {"from": "1 s", "to": "2 s"},
    "links.bottleneck.queue": {"kind": "codel", "limit": "20 packets"},
    "links.back": {
        "rate": "10 Mbit/s",
        "delay": "5 ms",
        "queue": {"kind": "drop_tail", "limit": "20 packets"},
        "arrival_log": {"from": "1 s", "to": "4 s"},
    },
    "flows.reno.reverse_path": ["back"],
    "flows.reno.ecn": "classic",
    "flows.reno.endpoint_log": {"from": "0 s", "to": "2 s", "most_packets": 10_000},
    "pools": {"memory": {"size": "40 kB", "policy": "dynamic_threshold"}},
    "links.bottleneck.pool": "memory",
    "flows.short": {
        "path": ["bottleneck"],
        "congestion": {"kind": "reno"},
        "packet_size": "1000 B",
        "rtt": "20 ms",
        "source": {"kind": "finite_flows", "load": 0.1, "size": "20 kB", "flow_log": 10},
    },
}
"""Records every table."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tr.Result:
    scenario = tmp_path_factory.mktemp("tables") / "small.toml"
    scenario.write_text(
        """
        title = "every table"
        duration = "4 s"
        measure_from = "1 s"
        [links.bottleneck]
        rate = "10 Mbit/s"
        delay = "5 ms"
        queue = { kind = "drop_tail", limit = "20 packets" }
        [flows.reno]
        count = 2
        path = ["bottleneck"]
        congestion = { kind = "reno" }
        packet_size = "1000 B"
        rtt = "40 ms"
        """,
        encoding="utf-8",
    )
    return tr.run(scenario, set=EVERYTHING)


def content_type(column: dict[str, Any]) -> pa.DataType:
    if column["labels"] is not None:
        indices = {"u8": pa.int8(), "u32": pa.int32()}[column["element"]]
        return pa.dictionary(indices, pa.string())
    return {"u32": pa.uint32(), "u64": pa.uint64(), "f64": pa.float64()}[column["element"]]


@pytest.mark.parametrize("declared", declarations(), ids=lambda table: table["name"])
def test_a_declared_table_comes_out_of_a_run_with_its_columns(
    recorded: tr.Result, declared: dict[str, Any]
) -> None:
    table = getattr(recorded, declared["name"])
    assert table is not None
    assert table.num_rows > 0
    fixed = [column for column in declared["columns"] if not column["is_named_by_run"]]
    assert table.column_names[: len(fixed)] == [column["name"] for column in fixed]
    for column in fixed:
        assert table.schema.field(column["name"]).type == content_type(column)
    more = table.column_names[len(fixed) :]
    assert bool(more) == (len(fixed) < len(declared["columns"]))
    assert all(table.schema.field(name).type == pa.float64() for name in more)


def test_a_result_has_the_declared_tables_and_no_other() -> None:
    names = [table["name"] for table in declarations()]
    assert [field.name for field in fields(ResultTables)] == names
    assert sorted(names) == list(TABLES)


def test_labels_are_the_names_of_the_scenario(recorded: tr.Result) -> None:
    assert recorded.flow_series is not None
    assert recorded.flow_series["flow"].unique().to_pylist() == ["reno.0", "reno.1"]
    assert recorded.flow_log is not None
    assert recorded.flow_log["group"].unique().to_pylist() == ["short"]
    assert recorded.packets is not None
    assert set(recorded.packets["flow"].to_pylist()) == {"reno.0", "reno.1", "short"}
    ends = [f"reno.{flow}.{end}" for flow in (0, 1) for end in ("sender", "receiver")]
    places = recorded.packets["link"].unique().to_pylist()
    assert places[:2] == ["bottleneck", "back"]
    assert sorted(places[2:]) == sorted(ends)
    assert recorded.packet_log is not None
    events = set(recorded.packet_log["event"].to_pylist())
    assert events <= {"arrival", "departure", "drop", "mark"}
    assert {"arrival", "departure"} <= events


def test_every_table_is_saved_and_loaded(recorded: tr.Result, tmp_path: Path) -> None:
    recorded.save(tmp_path / "saved")
    loaded = tr.load(tmp_path / "saved")
    for name in TABLES:
        assert (tmp_path / "saved" / f"{name}.parquet").exists()
        saved, read = getattr(recorded, name), getattr(loaded, name)
        assert read.column_names == saved.column_names
        for column in saved.column_names:
            np.testing.assert_array_equal(saved[column].to_pylist(), read[column].to_pylist())


@pytest.fixture(scope="module")
def reference() -> str:
    return site_files()["docs/reference/results.md"]


@pytest.mark.parametrize("declared", declarations(), ids=lambda table: table["name"])
def test_the_reference_describes_every_table_and_column(
    declared: dict[str, Any], reference: str
) -> None:
    section = reference.split(f"### `{declared['name']}`\n")[1].split("\n### ", maxsplit=1)[0]
    assert declared["description"] in section
    for column in declared["columns"]:
        name = "..." if column["is_named_by_run"] else column["name"]
        (row,) = (line for line in section.splitlines() if line.startswith(f"| `{name}` |"))
        assert column["description"].replace("|", "\\|") in row
    guide = (DOCS / "guide" / "results.md").read_text(encoding="utf-8")
    assert f"`{declared['name']}.parquet`" in guide


def test_the_reference_describes_every_statistic(recorded: tr.Result, reference: str) -> None:
    tables_begin = reference.index("\n## Tables\n")
    described = {
        heading.splitlines()[0]: {
            line.split("`")[1] for line in heading.splitlines() if line.startswith("| `")
        }
        for heading in reference[:tables_begin].split("\n### ")[1:]
    }
    assert all(described["Links"] == set(link) for link in recorded.links.values())
    pool: Mapping[str, Any] = recorded.pools["memory"]
    assert described["Memory that links share"] == set(pool)
    assert described["Links of a pool"] == set(pool["links"]["bottleneck"])
    assert described["Flows"] == set(recorded.flows[0])
    short: Mapping[str, Any] = recorded.groups["short"]
    assert described["Groups"] == set(short) - {"settings"}
    assert described["Groups at a link"] == set(short["links"]["bottleneck"])
    assert described["Classes of sizes"] == set(short["all_sizes"])
