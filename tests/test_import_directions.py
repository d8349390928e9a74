"""Defect 13 of the first-contact review: an import keeps the flows of one direction."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

import tailroom as tr
from tailroom.traffic_import.capture_directions import Directions, find_directions
from tests.conftest import Printed, Tailroom
from tests.hand_made import RAW_IP, Segment, pcap

LOOPBACK = Path(__file__).parent / "captures" / "loopback.pcap"
CLIENTS = ("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.9", "2001:db8::7")
SERVER, SERVER_6 = "192.0.2.80", "2001:db8:1::80"


def requests(path: Path) -> Path:
    """Five requests of 100 bytes and five answers of 1000, one of each over IPv6."""
    packets = []
    for number, client in enumerate(CLIENTS):
        server = SERVER_6 if ":" in client else SERVER
        request = Segment((client, 5000), (server, 80), 1, 1, payload=bytes(100))
        answer = request.reply(sequence=1, acknowledgment=101, payload=bytes(1000))
        packets += [(number + 0.0, request.ip()), (number + 0.1, answer.ip())]
    path.write_bytes(pcap(packets, link_type=RAW_IP))
    return path


def sizes(capture: tr.Capture) -> list[int]:
    found: list[int] = capture.flows["bytes"].to_pylist()
    return found


def test_without_a_choice_both_counts_and_the_choice_are_told(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    ended = tailroom("import", requests(tmp_path / "both.pcap"))
    assert ended.status == 0
    assert len(ended.output.splitlines()) == 11
    assert ended.errors == (
        "note: flows go both ways: 4 to 192.0.2.80 (400 bytes), 4 from there (4,000 bytes), 2 "
        "between other addresses; a link carries one direction: choose it with --to 192.0.2.80 or "
        "--from 192.0.2.80\n"
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--to", "10.0.0.0/24"), [1000] * 4),
        (("--from", "192.0.2.80"), [1000] * 4),
        (("--to", "10.0.0.0/30"), [1000] * 3),
        (("--to", "10.0.0.77/24", "--to", "2001:db8::/48"), [1000] * 5),
        (("--to", "2001:db8:1::/48"), [100]),
        (("--from", "10.0.0.0/8", "--to", "192.0.2.0/24"), [100] * 4),
    ],
)
def test_prefixes_choose_a_direction(
    tailroom: Tailroom, tmp_path: Path, arguments: Sequence[str], expected: list[int]
) -> None:
    ended = tailroom("import", requests(tmp_path / "both.pcap"), *arguments)
    assert (ended.status, ended.errors) == (0, "")
    rows = ended.output.splitlines()[1:]
    assert [int(row.split(",")[1]) for row in rows] == expected


def test_python_chooses_as_the_command_does(tmp_path: Path) -> None:
    path = requests(tmp_path / "both.pcap")
    assert sizes(tr.import_capture(path, to="10.0.0.0/24")) == [1000] * 4
    assert sizes(tr.import_capture(path, from_=["10.0.0.1", "2001:db8::7"])) == [100] * 2
    both = tr.import_capture(path)
    assert both.directions == Directions((SERVER,), 4, 4, 400, 4000, 2)
    assert tr.import_capture(path, to="10.0.0.0/24").directions is None
    with pytest.raises(ValueError, match=r"to 10\.0\.0\.256: .*; write for example"):
        tr.import_capture(path, to="10.0.0.256")


def test_wrong_imports_are_refused(refused: Printed, tmp_path: Path) -> None:
    shutil.copy(LOOPBACK, tmp_path)
    requests(tmp_path / "both.pcap")
    (tmp_path / "taken.csv").write_text("precious", encoding="utf-8")
    refused("import")


def test_ends_of_one_address_are_told_apart_by_who_opened(tailroom: Tailroom) -> None:
    ended = tailroom("import", LOOPBACK)
    assert "4 forward, 4 reverse, between ends of the same address" in ended.errors


def test_a_side_of_many_addresses_is_named_by_the_prefix_that_holds_no_other() -> None:
    """Two servers that both serve clients: 10.0.0.1 to .9 are in 10.0.0.0/28."""
    pairs = [(f"10.0.0.{host}", f"192.0.2.{server}") for host in range(1, 10) for server in (1, 2)]
    pairs += [("10.0.0.1", "192.0.2.3")] * 20
    senders = [one for one, _ in pairs] + ["192.0.2.1"]
    receivers = [other for _, other in pairs] + ["10.0.0.4"]
    found = find_directions(senders, receivers, [10] * len(senders))
    assert found == Directions(("10.0.0.0/28",), 1, len(pairs), 10, 10 * len(pairs), 0)


def test_where_all_talk_to_all_the_busiest_address_is_one_side() -> None:
    senders = ["a", "b", "c", "a", "a", "b"]
    numbered = {"a": "10.0.0.1", "b": "10.0.0.2", "c": "10.0.0.3"}
    receivers = ["b", "c", "a", "c", "b", "a"]
    found = find_directions(
        [numbered[one] for one in senders], [numbered[one] for one in receivers], [1] * 6
    )
    assert found == Directions(("10.0.0.1",), 2, 3, 2, 3, 1)


def test_flows_of_one_direction_need_no_choice() -> None:
    assert find_directions(["10.0.0.1"], ["10.0.0.2"], [5]) is None
