"""Traces in qlog have the fields and types of the drafts, and say what the run did."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import tailroom as tr
from tests.conftest import Printed, Tailroom

SCENARIO = """
duration = "4 s"
measure_from = "0 s"
[links.a]
rate = "20 Mbit/s"
delay = "1 ms"
queue = { kind = "drop_tail", limit = "100 packets" }
[links.b]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "drop_tail", limit = "20 packets" }
[flows.far]
count = 2
path = ["a", "b"]
congestion = "reno"
rtt = "40 ms"
[flows.near]
path = ["b"]
congestion = "cubic"
rtt = "30 ms"
[flows.udp]
path = ["b"]
source = { kind = "poisson", rate = "1 Mbit/s" }
"""

SCHEMA = json.loads((Path(__file__).parent / "qlog.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
EVENTS = set(SCHEMA["$defs"]["Event"]["properties"]["name"]["enum"])


def records(file: Path) -> list[dict[str, Any]]:
    """The records of a sequence (RFC 7464): each begins with RS and ends with LF."""
    first, *texts = file.read_bytes().split(b"\x1e")
    assert first == b""
    assert all(text.endswith(b"\n") for text in texts)
    return [json.loads(text) for text in texts]


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO)
    return path


def test_each_flow_has_a_trace_that_the_drafts_allow(
    tailroom: Tailroom, scenario: Path, tmp_path: Path
) -> None:
    ended = tailroom("run", scenario, "--qlog", tmp_path / "traces")
    assert (ended.status, ended.errors) == (0, "")
    files = sorted((tmp_path / "traces").iterdir())
    assert [file.name for file in files] == ["far.0.sqlog", "far.1.sqlog", "near.sqlog"]
    for file in files:
        beginning, *events = records(file)
        assert "trace" in beginning
        for record in (beginning, *events):
            VALIDATOR.validate(record)
        times = [event["time"] for event in events]
        assert times == sorted(times)
        assert {event["name"] for event in events} == EVENTS


def test_the_schema_refuses_what_the_drafts_do_not_have() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    header = {"packet_type": "1RTT", "packet_number": 0}
    good: dict[str, Any] = {"header": header, "frames": [{"frame_type": "ack"}]}
    assert VALIDATOR.is_valid({"time": 1, "name": "transport:packet_received", "data": good})
    some: list[list[list[int]]] = [[], [[]], [[1, 2, 3]]]
    frames = [{"frame_type": "ack", "acked_ranges": ranges} for ranges in some]
    wrong = [{**good, "frames": [frame]} for frame in frames]
    wrong += [{**good, "size": 1}, {"frames": []}, {"header": {"packet_type": "2RTT"}}]
    for data in wrong:
        record = {"time": 1, "name": "transport:packet_received", "data": data}
        assert not VALIDATOR.is_valid(record), data
    assert not VALIDATOR.is_valid({"time": 1, "name": "quic:packet_lost", "data": {}})


def test_a_trace_has_each_packet_that_the_flow_sent_once(
    tailroom: Tailroom, scenario: Path, tmp_path: Path
) -> None:
    chosen = ("--only-flows", "far", "--from", "1 s", "--to", "2 s")
    assert tailroom("run", scenario, "--qlog", tmp_path / "traces", *chosen).status == 0
    span = {"links.a.arrival_log": {"from": "0 s", "to": "3 s"}}
    log = tr.run(scenario, set=span).table("packets").to_pandas()
    log = log[(log.sent_s >= 1) & (log.sent_s < 2)]
    for flow in ("far.0", "far.1"):
        events = records(tmp_path / "traces" / f"{flow}.sqlog")[1:]
        sent = [event for event in events if event["name"] == "transport:packet_sent"]
        own = log[(log.flow == flow) & (log.link == "a")]
        assert [event["data"]["header"]["packet_number"] for event in sent] == [*range(len(own))]
        assert [event["time"] for event in sent] == pytest.approx([*(1e3 * own.sent_s)])
        offsets = [event["data"]["frames"][0]["offset"] for event in sent]
        assert offsets == [*(1448 * own.sequence)]
        assert len({*offsets}) == own.sequence.nunique()


def test_each_packet_is_acknowledged_once_and_none_before_it_is_sent(
    tailroom: Tailroom, scenario: Path, tmp_path: Path
) -> None:
    """By the cumulative ACKs and SACK blocks of the run, the data that they cover are the same."""
    assert tailroom("run", scenario, "--qlog", tmp_path / "traces").status == 0
    span = {"flows.far.endpoint_log": {"from": "0 s", "to": "4 s"}}
    result = tr.run(scenario, set=span)
    log = result.table("packets").to_pandas()
    acks = log[(log.link == "far.0.sender") & (log.content == "ack")]
    blocks = result.table("sack_blocks").to_pandas().set_index("packet")
    position: dict[int, int] = {}
    acked: set[int] = set()
    covered: set[int] = set()
    rows = iter(acks.itertuples())
    for event in records(tmp_path / "traces" / "far.0.sqlog")[1:]:
        data = event["data"]
        if event["name"] == "transport:packet_sent" and data["frames"]:
            position[data["header"]["packet_number"]] = data["frames"][0]["offset"] // 1448
        elif event["name"] == "transport:packet_received":
            row = next(rows)
            assert event["time"] == pytest.approx(1e3 * row.time_s)
            for first, *last in data["frames"][0].get("acked_ranges", []):
                news = {*range(first, (last or [first])[0] + 1)}
                assert not news & acked
                assert news <= position.keys()
                acked |= news
            if row.Index in blocks.index:
                for _, block in blocks.loc[[row.Index]].iterrows():
                    covered |= {*range(block.start, block.end)}
            covered |= {*range(row.sequence)}
            assert {position[number] for number in acked} == covered & {*position.values()}
    assert len(acked) > 500
    assert next(rows, None) is None
    assert not blocks.empty


def test_each_retransmission_tells_that_the_packet_before_is_lost(
    tailroom: Tailroom, scenario: Path, tmp_path: Path
) -> None:
    """The run counts retransmissions; a lost packet was sent, and nothing has acknowledged it."""
    assert tailroom("run", scenario, "--qlog", tmp_path / "traces").status == 0
    for flow in tr.run(scenario).flows[:3]:
        waiting: dict[int, int] = {}
        lost: list[int] = []
        offset: int | None = None
        for event in records(tmp_path / "traces" / f"{flow['name']}.sqlog")[1:]:
            data = event["data"]
            if event["name"] == "recovery:packet_lost":
                number = data["header"]["packet_number"]
                lost.append(number)
                offset = waiting.pop(number)
            elif event["name"] == "transport:packet_sent":
                for frame in data["frames"]:
                    assert offset in (None, frame["offset"])
                    waiting[data["header"]["packet_number"]] = frame["offset"]
                    offset = None
            elif event["name"] == "transport:packet_received":
                for first, *last in data["frames"][0].get("acked_ranges", []):
                    for number in range(first, (last or [first])[0] + 1):
                        del waiting[number]
        assert len(lost) == flow["retransmissions"] > 10


def test_metrics_outside_the_time_are_left_out_and_begin_with_those_that_hold(
    tailroom: Tailroom, scenario: Path, tmp_path: Path
) -> None:
    chosen = ("--only-flows", "near", "--from", "1.01 s", "--to", "2 s")
    assert tailroom("run", scenario, "--qlog", tmp_path / "whole").status == 0
    assert tailroom("run", scenario, "--qlog", tmp_path / "part", *chosen).status == 0
    whole, part = (
        [
            (event["time"], event["data"])
            for event in records(tmp_path / name / "near.sqlog")[1:]
            if event["name"] == "recovery:metrics_updated"
        ]
        for name in ("whole", "part")
    )
    held: dict[str, float] = {}
    for time_ms, data in whole:
        if time_ms <= 1010:
            held |= data
    assert held.keys() == {"congestion_window", "ssthresh", "smoothed_rtt"}
    inside = [(time_ms, data) for time_ms, data in whole if 1010 < time_ms <= 2000]
    assert len(inside) > 5
    assert part == [(1010, held), *inside]


def test_the_windows_are_those_of_the_series(scenario: Path, tmp_path: Path) -> None:
    result = tr.run(scenario, series_samples=100)
    result.save_qlog(tmp_path, flows=["near"])
    known: dict[str, float] = {}
    found = {}
    for event in records(tmp_path / "near.sqlog")[1:]:
        assert event["name"] == "recovery:metrics_updated"
        assert event["data"], "an event lists what has changed"
        known |= event["data"]
        found[event["time"] / 1e3] = dict(known)
    series = result.table("flow_series").to_pandas()
    for row in series[series.flow == "near"].itertuples():
        last = found[max(time for time in found if time <= row.time_s + 1e-9)]
        assert last["congestion_window"] == round(1448 * row.cwnd_packets)
        assert last.get("smoothed_rtt", 0.0) == pytest.approx(1e3 * row.srtt_s)


def test_wrong_requests_for_traces_are_refused(refused: Printed, scenario: Path) -> None:
    refused("qlog")


def test_vectors_of_senders_have_traces(tailroom: Tailroom, tmp_path: Path) -> None:
    names = ("reno.halving", "codel.drop-times")
    ended = tailroom("vectors", "run", *names, "--qlog", tmp_path / "traces")
    assert ended.status == 0
    assert json.loads(ended.output)["results"].keys() == {*names}
    [file] = (tmp_path / "traces").iterdir()
    assert file.name == "reno.halving.sqlog"
    sent = [event for event in records(file)[1:] if event["name"] == "transport:packet_sent"]
    assert sent[0]["time"] == 0.0
    assert len({event["data"]["header"]["packet_number"] for event in sent}) == len(sent)
