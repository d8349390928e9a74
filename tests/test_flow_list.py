"""Lists of flows as a source: CSV and Parquet mean the same, and what is no list is refused."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tailroom as tr
from tailroom.traffic_import.flow_list import write

SCENARIO = """\
duration = "5 s"

[defaults]
host = "plain"

[links.bottleneck]
rate = "10 Mbit/s"
delay = "5 ms"
queue = {{ kind = "drop_tail", limit = "20 packets" }}

[flows.listed]
path = ["bottleneck"]
congestion = "reno"
source = {{ kind = "trace", file = "{name}", flow_log = 10 }}
"""

FLOWS = pa.table(
    {
        "start_s": [0.25, 1.0],
        "bytes": [14_600, 2_920],
        "rate_bps": pa.array([None, 1_000_000.0], pa.float64()),
        "rtt_s": [0.05, None],
        "flow": ["a", "b, c"],
    }
)


def scenario(directory: Path, name: str) -> Path:
    path = directory / f"{name}.toml"
    path.write_text(SCENARIO.format(name=name))
    return path


def test_a_list_in_parquet_means_what_it_means_in_csv(tmp_path: Path) -> None:
    write(FLOWS.drop_columns("flow"), tmp_path / "flows.csv")
    write(FLOWS, tmp_path / "flows.parquet")
    csv, parquet = (
        tr.run(scenario(tmp_path, name)).summary for name in ("flows.csv", "flows.parquet")
    )
    assert csv["groups"] == parquet["groups"]
    assert csv["groups"]["listed"]["completed_flows"] == 2


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_content_of_a_list_is_part_of_the_hash(tmp_path: Path, ending: str) -> None:
    place = tmp_path / f"flows.{ending}"
    write(FLOWS.drop_columns("flow"), place)
    path = scenario(tmp_path, place.name)
    first = tr.run(path).summary["scenario_hash"]
    place.unlink()
    write(FLOWS.drop_columns("flow").slice(0, 1), place)
    assert tr.run(path).summary["scenario_hash"] != first


def test_what_is_no_list_in_parquet_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.parquet").write_text("start_s,bytes\n1,2\n")
    pq.write_table(pa.table({"start_s": ["soon"], "bytes": [1]}), tmp_path / "words.parquet")
    pq.write_table(pa.table({"start_s": [1.0]}), tmp_path / "short.parquet")
    pq.write_table(
        pa.table({"start_s": [2.0, 1.0], "bytes": [1, 1]}), tmp_path / "unsorted.parquet"
    )
    for name, problem in [
        ("text.parquet", "it is not a list of flows in Parquet"),
        ("words.parquet", "its column `start_s` holds string; write whole"),
        ("short.parquet", "line 1: there is no column bytes"),
        ("unsorted.parquet", "line 3: the flow starts before the one in front of it"),
        ("missing.parquet", "No such file"),
    ]:
        with pytest.raises(tr.ScenarioError, match=problem) as refused:
            tr.run(scenario(tmp_path, name))
        assert name in str(refused.value)
