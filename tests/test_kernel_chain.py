"""Recordings of the kernel's sender: they are whole, and tailroom's sender finds what it found."""

import json
import lzma
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.validation import chain as replays
from validation.kernel import bpf, chain
from validation.kernel.chain import CASES, ChainCase
from validation.kernel.harness import RecordingError

CUBIC = ChainCase("cubic", "tr_kernel_cubic", "kernel", 40, duration_s=1)
BBR = ChainCase("bbr", "tr_kernel_bbr", "bbr", 40, duration_s=1)
MSS, PORT, BEGIN = 1448, 40_000, 2**32 - 2 * 1448


def sequence(packet: int) -> int:
    """Return the number of the first byte of a packet; it wraps after the second one."""
    return (BEGIN + packet * MSS) % 2**32


def log() -> Iterator[str]:
    """A SYN, three packets of which the second is lost, and an ACK for the others."""
    yield f"s,1000,{PORT},1,{BEGIN - 1},0,0,500,0"
    yield f"r,41000000,{PORT},1,7,0,{BEGIN},900,500"
    yield f"s,41001000,{PORT},0,{BEGIN},0,8,541,900"
    for packet in range(3):
        yield f"s,41{packet + 2}00000,{PORT},0,{sequence(packet)},{MSS},8,541,900"
    blocks = f"{sequence(2)},{sequence(3)}"
    yield f"r,82000000,{PORT},0,8,0,{sequence(1)},940,541,{blocks}"


def record(kind: int, now_ns: int, una: int, delivered: int, acked: int = 0) -> bpf.Record:
    """A record of a flow with a window of ten packets, of which three were sent.

    Args:
        kind: What the callback is for.
        now_ns: The time.
        una: The first packet that is not acknowledged.
        delivered: Packets delivered.
        acked: Packets acknowledged.
    """
    window = (10, 0, 20, 10, 0, 20)
    numbers = (sequence(una), sequence(3), MSS, 1, 0)
    rate = (delivered, 2, 40_000, 2**32 - 1, 1, 2, 3, 1, 0, 1, 0, 0, 1_000_000, 0)
    state = (kind, PORT, acked, *window, 0, 320_000, 40_500, 40_000)
    return (now_ns, *state, *numbers, delivered, 1, 1, *rate)


def records(kind: int) -> list[bpf.Record]:
    """The records of the callbacks: the answer to the SYN, the beginning, and two ACKs.

    Args:
        kind: Kind of the callback of an ACK.
    """
    answers = [record(kind, at, 1, delivered=3, acked=1) for at in (82_010_000, 90_000_000)]
    begin = [record(kind, 41_000_500, 0, delivered=1), record(0, 41_000_900, 0, delivered=1)]
    return [*begin, *answers]


def test_packets_acks_and_callbacks_become_rows_in_packets_though_numbers_wrap() -> None:
    description, *rows = chain.Flow(CUBIC, "\n".join(log()), records(6)).text().splitlines()
    assert json.loads(description)["srtt_8us"] == 320_000
    assert rows == [
        "s,199,0,41",
        "s,100,1,41",
        "s,100,2,41",
        "r,40600,1,41,2,3",
        "c,10,6,1,10,320000,40500,1,3,2,0,1",
    ]


def test_a_rate_sample_has_its_own_rtt_and_a_callback_without_one_has_zero() -> None:
    row = chain.Flow(BBR, "\n".join(log()), records(7)).text().splitlines()[-1]
    assert row == "c,10,7,1,10,320000,0,1,3,2,0,1,3,1,2,2,40000,1,1000000"


def test_a_log_without_the_syn_is_refused() -> None:
    text = "\n".join(list(log())[1:])
    with pytest.raises(RecordingError, match="no connection"):
        chain.Flow(CUBIC, text, records(6))


def test_an_ack_without_its_callback_is_refused() -> None:
    one_more = f"r,81000000,{PORT},0,8,0,{sequence(0)},940,541"
    lines = list(log())
    text = "\n".join([*lines[:-1], one_more, lines[-1]])
    with pytest.raises(RecordingError, match="not the same"):
        chain.Flow(CUBIC, text, records(6)).text()


def test_every_case_has_a_recording_and_they_are_small() -> None:
    recorded = {path.name.removesuffix(".csv.xz"): path for path in _recordings()}
    assert recorded.keys() == {case.name for case in CASES}
    assert sum(path.stat().st_size for path in recorded.values()) < 600_000


def _recordings() -> list[Path]:
    return sorted(chain.RECORDINGS.glob("*.csv.xz"))


@pytest.mark.parametrize("path", _recordings(), ids=lambda path: path.name)
def test_a_recording_has_acks_and_losses(path: Path) -> None:
    _, *rows = lzma.decompress(path.read_bytes()).decode().splitlines()
    letters = Counter(row[0] for row in rows)
    calls = Counter(row.split(",")[2] for row in rows if row.startswith("c"))
    assert letters["r"] > 1_000
    assert letters["r"] == calls["6"] + calls["7"]
    assert calls["2"] >= 5


def test_the_sender_agrees_with_the_kernel_but_for_what_is_known() -> None:
    chains = replays.replays()
    assert len(chains) == len(CASES)
    assert all(one.is_as_expected for one in chains), "\n".join(replays.table(chains))


def test_a_loss_that_the_kernel_did_not_find_is_noticed(tmp_path: Path) -> None:
    """Of the kernel's sums of lost packets, one packet less."""
    path = chain.RECORDINGS / "cubic-drops.csv.xz"
    description, *rows = lzma.decompress(path.read_bytes()).decode().splitlines()
    callbacks = (row.split(",") for row in rows)
    fewer = [
        ",".join([*row[:10], str(max(int(row[10]) - 1, 0)), *row[11:]])
        if row[0] == "c"
        else ",".join(row)
        for row in callbacks
    ]
    changed = tmp_path / path.name
    changed.write_bytes(lzma.compress("\n".join([description, *fewer]).encode()))
    assert replays.replay(changed).misses() - replays.replay(path).misses() == {
        "lost",
        "lost_in_time",
    }
