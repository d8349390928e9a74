"""Recordings of every callback: they are whole, and tailroom's controls give the same windows."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from tests.validation import exact as replays
from validation.kernel import bpf, exact
from validation.kernel.exact import CASES, Case

CASE = Case("reno", "tr_reno", "counting", {"kind": "reno"})
MSS = 1448


def record(kind: int, now_ns: int, una: int, acked: int = 0) -> bpf.Record:
    """A record of a flow whose window is 10 packets.

    Args:
        kind: What the callback is for.
        now_ns: The time.
        una: The first byte that is not acknowledged.
        acked: Packets acknowledged.
    """
    state = (kind, 40_000, acked, 10, 0, 20, 10, 0, 20, 0, 800_000, 0, 100_000)
    sequence = (una % 2**32, (una + 10 * MSS) % 2**32)
    return (now_ns, *state, *sequence, MSS, 1, 0, *[0] * 14)


def test_sequence_numbers_become_packets_though_they_wrap() -> None:
    begin = 2**32 - MSS
    text = exact.text_of(CASE, [record(0, 5_000, begin), record(1, 9_000, begin + 3 * MSS, 3)])
    description, *rows = text.splitlines()
    assert json.loads(description)["tailroom"] == {"kind": "reno"}
    assert rows[0] == "0,0,0,10,0,20,10,0,20,0,800000,0,100000,0,10,1,0"
    assert rows[1] == "1,4000,3,10,0,20,10,0,20,0,800000,0,100000,3,13,1,0"


def test_the_table_of_highspeed_is_that_of_the_rfc() -> None:
    """RFC 3649 appendix B: the first rows and two of the last; b(w) has two decimals there."""
    rows = bpf.highspeed_rows()
    assert [row[:2] for row in rows[:6]] == [
        (38, 1),
        (118, 2),
        (221, 3),
        (347, 4),
        (495, 5),
        (663, 6),
    ]
    assert [row[:2] for row in rows[-2:]] == [(84_035, 71), (89_053, 72)]
    for row, decrease in zip(rows, (0.5, 0.44, 0.41, 0.38, 0.37, 0.35), strict=False):
        assert row[2] / 256 == pytest.approx(decrease, abs=0.005 + 1 / 256)


def test_fhstcp_has_the_response_function_of_the_rfc() -> None:
    """RFC 3649 table 3: a(38) = 1 and b(38) = 0.5; a(1058) = 8 and b(1058) = 0.33, rounded."""
    responses = bpf.highspeed_responses()
    increase, kept = (value / 2**16 for value in responses[38])
    assert (increase, kept) == (1.0, 0.5)
    increase, kept = (value / 2**16 for value in responses[1058])
    assert increase == pytest.approx(8, abs=0.5)
    assert kept == pytest.approx(0.67, abs=0.005)


def test_what_is_missing_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bpf, "COMPILERS", ())
    lack = bpf.missing()
    assert lack is not None
    assert "clang" in lack
    assert "\n" not in lack


def test_every_control_has_a_recording() -> None:
    recorded = {path.name.removesuffix(".csv.gz") for path in exact.TRACES.glob("*.csv.gz")}
    assert recorded == {case.name for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_recording_is_whole(case: Case) -> None:
    path = exact.TRACES / f"{case.name}.csv.gz"
    assert path.stat().st_size < 500_000
    description, *rows = gzip.decompress(path.read_bytes()).decode().splitlines()
    stated = json.loads(description)
    assert stated["tailroom"] == case.tailroom
    kinds = Counter(row.split(",", 1)[0] for row in rows)
    # The kernel shows a control the answer to the SYN, or its loss, before the control begins.
    assert any(row.startswith("0,") for row in rows[:5])
    is_rate_based = case.source == "bbr"
    assert kinds["7" if is_rate_based else "1"] > 500  # ACKs
    assert is_rate_based or kinds["2"] >= 1  # congestion


@pytest.mark.slow
def test_the_windows_are_those_of_the_kernel() -> None:
    lines: list[str] = []
    assert replays.main([], lines.append) == 0, "\n".join(lines)


@pytest.mark.slow
def test_cubic_of_the_rfc_is_not_that_of_the_kernel(tmp_path: Path) -> None:
    """Before its first loss the kernel adds at least a packet per 20 acknowledged ones."""
    path = exact.TRACES / "kernel-cubic.csv.gz"
    description, rows = gzip.decompress(path.read_bytes()).decode().split("\n", 1)
    by_rfc = {"tailroom": {"kind": "cubic"}, "count_unit": 1.0}
    changed = tmp_path / path.name
    stated = json.dumps({**json.loads(description), **by_rfc})
    changed.write_bytes(gzip.compress(f"{stated}\n{rows}".encode()))
    assert replays.replay(path).counted["largest_by_epoch_packets"][0] == 0
    assert replays.replay(changed).counted["largest_by_epoch_packets"][0] > 20


@pytest.mark.slow
def test_another_window_is_noticed(tmp_path: Path) -> None:
    """One packet more after one ACK, from which the kernel's window goes on."""
    path = exact.TRACES / "reno.csv.gz"
    rows = gzip.decompress(path.read_bytes()).decode().splitlines()
    at = next(index for index, row in enumerate(rows) if index > 1_000 and row.startswith("1,"))
    fields = rows[at].split(",")
    fields[6] = str(int(fields[6]) + 1)
    rows[at] = ",".join(fields)
    changed = tmp_path / "reno.csv.gz"
    changed.write_bytes(gzip.compress("\n".join(rows).encode()))
    assert replays.replay(changed).counted["different"] >= 1
    assert not replays.replay(changed).is_met
