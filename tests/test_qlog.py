"""Traces in qlog have the fields and types of the drafts, and say what the run did."""

import json
from pathlib import Path
from typing import Any

import pytest

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

UINT, NUMBER, TEXT = "uint", "number", "text"
RAW = {"?length": UINT, "?payload_length": UINT}
FILE = {
    "file_schema": TEXT,
    "serialization_format": TEXT,
    "?title": TEXT,
    "?description": TEXT,
    "trace": {
        "?title": TEXT,
        "?description": TEXT,
        "?common_fields": {
            "?time_format": {"relative_to_epoch", "relative_to_previous_event"},
            "?reference_time": {"clock_type": {"system", "monotonic"}, "epoch": {"unknown"}},
        },
        "?vantage_point": {"?name": TEXT, "type": {"client", "server", "network", "unknown"}},
        "event_schemas": [TEXT],
    },
}
"""QlogFileSeq and TraceSeq of draft-ietf-quic-qlog-main-schema, as far as they are used; `?` marks
what may be left out."""
STREAM = {"frame_type": {"stream"}, "stream_id": UINT, "?offset": UINT, "?raw": RAW}
EVENTS = {
    "quic:packet_sent": {
        "header": {"packet_type": {"1RTT"}, "?packet_number": UINT},
        "?frames": [STREAM],
        "?raw": RAW,
    },
    "quic:recovery_metrics_updated": {
        "?smoothed_rtt": NUMBER,
        "?congestion_window": UINT,
        "?ssthresh": UINT,
    },
}
"""Events and frames of draft-ietf-quic-qlog-quic-events, with the fields that are used."""


def is_valid(value: Any, rule: Any) -> bool:
    """Whether a value has the type that a rule says, and no other members."""
    if isinstance(rule, list):
        return isinstance(value, list) and all(is_valid(one, rule[0]) for one in value)
    if isinstance(rule, set):
        return value in rule
    if isinstance(rule, dict):
        needed = {key for key in rule if not key.startswith("?")}
        known = {key.removeprefix("?"): of_key for key, of_key in rule.items()}
        return needed <= value.keys() <= known.keys() and all(
            is_valid(part, known[key]) for key, part in value.items()
        )
    if rule == TEXT:
        return isinstance(value, str)
    is_uint = isinstance(value, int) and value >= 0
    return is_uint if rule == UINT else is_uint or isinstance(value, float)


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
        assert is_valid(beginning, FILE), beginning
        for event in events:
            assert event.keys() == {"time", "name", "data"}
            assert is_valid(event["time"], NUMBER)
            assert is_valid(event["data"], EVENTS[event["name"]]), event
        times = [event["time"] for event in events]
        assert times == sorted(times)
        assert {event["name"] for event in events} == {*EVENTS}


def test_a_trace_has_each_packet_that_the_flow_sent_once(
    tailroom: Tailroom, scenario: Path, tmp_path: Path
) -> None:
    chosen = ("--only-flows", "far", "--from", "1 s", "--to", "2 s")
    assert tailroom("run", scenario, "--qlog", tmp_path / "traces", *chosen).status == 0
    span = {f"links.{link}.arrival_log": {"from": "1 s", "to": "2 s"} for link in ("a", "b")}
    log = tr.run(scenario, set=span).table("arrival_log").to_pandas()
    for flow in ("far.0", "far.1"):
        events = records(tmp_path / "traces" / f"{flow}.sqlog")[1:]
        sent = [event for event in events if event["name"] == "quic:packet_sent"]
        own = log[(log.flow == flow) & (log.link == "a")]
        assert [event["data"]["header"]["packet_number"] for event in sent] == [*range(len(own))]
        assert [event["time"] for event in sent] == pytest.approx([*(1e3 * own.sent_s)])
        offsets = [event["data"]["frames"][0]["offset"] for event in sent]
        assert offsets == [*(1448 * own.sequence)]
        assert len({*offsets}) == own.sequence.nunique()


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
            if event["name"] == "quic:recovery_metrics_updated"
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
        assert event["name"] == "quic:recovery_metrics_updated"
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
    sent = [event for event in records(file)[1:] if event["name"] == "quic:packet_sent"]
    assert sent[0]["time"] == 0.0
    assert len({event["data"]["header"]["packet_number"] for event in sent}) == len(sent)
