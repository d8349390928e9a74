"""Damaged files, and files that are no measurement: one message with the place, and status 2."""

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import tailroom as tr
from tailroom.measurements.import_measurement import READER
from tests.conftest import Tailroom
from tests.measurements.damage import EXTREMES, damage_measurements, outcome, places, replaced
from tests.measurements.test_reading import FLENT, IPERF3, SS, WAVEFORM, saved


def refusal(path: Path) -> str:
    """The message without the file."""
    with pytest.raises(tr.MeasurementError) as refused:
        tr.compare_measured(path)
    return str(refused.value).removeprefix(f"{path}: ")


@pytest.mark.slow
@pytest.mark.parametrize("document", [FLENT, IPERF3], ids=["flent", "iperf3"])
def test_any_value_at_any_place_is_read_or_refused(tmp_path: Path, document: Any) -> None:
    path = tmp_path / "file"
    endings = {
        outcome(saved(path, replaced(document, place, value)))
        for place in places(document)
        for value in EXTREMES
    }
    assert endings == {"read", "refused"}


@pytest.mark.parametrize("seed", range(2))
def test_random_damage_is_read_or_refused(tmp_path: Path, seed: int) -> None:
    endings = damage_measurements(tmp_path, 200, seed, print)
    assert set(endings) == {"read", "refused"}


def test_a_truncated_compressed_file_is_refused_at_any_length(tmp_path: Path) -> None:
    whole = gzip.compress(json.dumps(FLENT).encode())
    path = tmp_path / "file"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        message = refusal(path)
        assert "damaged or truncated" in message or length < 2, (length, message)


def test_a_bomb_is_refused_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.flent.gz"
    path.write_bytes(gzip.compress(bytes(2 * READER.most_bytes), 1))
    tracemalloc.start()
    message = refusal(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert message.startswith("has more than 64 MB of text; measure for a shorter time")
    assert peak < 3 * READER.most_bytes


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("hello", "flent"),
        ("{", "line 1"),
        ("[1]", "not a JSON object"),
        ("{}", "neither"),
        ("[" * 200_000, "nested"),
        ('{"x_values": ' + "1" * 5000 + ', "results": {}}', "line 1: is not JSON (number"),
        ('{"x_values": [NaN], "results": {}}', "line 1: is not JSON"),
        ('{"x_values": [1e40], "results": {}}', "x_values[0]"),
        ('{"x_values": [2, 1], "results": {}}', "x_values"),
        ('{"x_values": [], "results": {}}', "neither a ping"),
        ('{"version": 5, "x_values": [], "results": {}}', "version"),
        (WAVEFORM.replace("90.5", "much"), "line 10: is not a number from 0 to 1e+06"),
        (WAVEFORM.replace("90.5", "-1"), "line 10"),
        (WAVEFORM.replace("(Mbps),100.5", "(Mbps)"), "Download speed (Mbps): is not a number"),
        (WAVEFORM.split("20\n")[0], "no RTT during a download or an upload"),
        ('{"intervals": []}', "start"),
        ('{"start": {}, "end": {}, "error": "no route"}', "error"),
        (SS.replace("rtt:60.5/1.2", "rtt:many"), "line 12: rtt"),
        (SS.replace("1700000001.500000000", "1600000000"), "ascend"),
        (SS.replace("1700000001.500000000\n", ""), "no time"),
        (SS.partition("1700000001.0")[0], "no socket sent"),
    ],
)
def test_a_message_names_place_and_problem(tmp_path: Path, content: str, named: str) -> None:
    assert named in refusal(saved(tmp_path / "file", content))


@pytest.mark.parametrize("mark", [":", " ", "a", "1", "rtt:", "1 ", "\n", "cubic "])
def test_a_long_line_takes_no_quadratic_time(tmp_path: Path, mark: str) -> None:
    """A reader that tries every pair of places would take hours."""
    outcome(saved(tmp_path / "file", f"{SS}0 0 {mark * 300_000}"))
    outcome(saved(tmp_path / "file", f"{SS}{mark * 300_000}x"))


def test_udp_is_refused_with_the_remedy(tmp_path: Path) -> None:
    udp = replaced(IPERF3, ("start", "test_start", "protocol"), "UDP")
    message = refusal(saved(tmp_path / "file", udp))
    assert message == "start.test_start.protocol: is not TCP; measure without --udp"


def test_a_log_without_any_clock_is_refused_with_the_remedy(tmp_path: Path) -> None:
    lines = [line for line in SS.splitlines() if not line.startswith("17000")]
    text = "\n".join(lines).replace("busy", "lazy")
    assert "date +%s.%N" in refusal(saved(tmp_path / "file", text))


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.mkdir()])
def test_what_cannot_be_read_is_refused(tailroom: Tailroom, tmp_path: Path, make: Any) -> None:
    path = tmp_path / "file"
    make(path)
    ended = tailroom("compare", "--measured", path)
    assert (ended.status, ended.output) == (2, "")
    assert ended.errors.startswith(f"error: {path}: cannot be read: ")
