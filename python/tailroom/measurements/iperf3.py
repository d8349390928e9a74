"""Results of `iperf3 -J` over TCP, from the side that sends.

Each interval has its streams: `rtt` in microseconds (the kernel's smoothed RTT), `bytes`,
`retransmits` and `pmtu` if the host sends; `sum` has the bytes of all (names as iperf 3.9 to 3.17
write them). The connections load the path from the start on, so the idle RTT is not in the file.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tailroom.errors import MeasurementError
from tailroom.measurements.json_fields import number, typed
from tailroom.measurements.samples import (
    IPV4_HEADERS_BYTES,
    IPV6_HEADERS_BYTES,
    LARGEST_BPS,
    LARGEST_PACKET_BYTES,
    LARGEST_RTT_S,
    LONGEST_S,
    SMALLEST_PAYLOAD_BYTES,
    USUAL_PAYLOAD_BYTES,
    Measurement,
    values,
)

SERVER = "server_output_json"
"""What the server saw, with `--get-server-output`."""
BOTH_WAYS = "sum_bidir_reverse"


def is_iperf3(document: Mapping[str, Any]) -> bool:
    """Whether a JSON object has the keys of iperf3."""
    return "intervals" in document or ("start" in document and "end" in document)


def read(document: Mapping[str, Any]) -> Measurement:
    """Reads the JSON object of a test.

    Raises:
        MeasurementError: The test failed or was no TCP test, or a key has the wrong type.
    """
    if "error" in document:
        raise MeasurementError("error: iperf3 reported that the test failed; measure again")
    start = typed(document, "start", dict)
    test = typed(start, "test_start", dict, "start.")
    if test.get("protocol") != "TCP":
        raise MeasurementError("start.test_start.protocol: is not TCP; measure without --udp")
    is_reverse = bool(test.get("reverse"))
    # The client of a download sees no RTTs; the server does.
    seen = typed(document, SERVER, dict) if is_reverse and SERVER in document else document
    place = f"{SERVER}." if seen is not document else ""
    intervals = list(_intervals(seen, place))
    rtts = [(end, rtt) for end, _, rtt, _ in intervals if rtt is not None]
    counted = [lost for *_, lost in intervals if lost is not None]
    both_ways = any(BOTH_WAYS in interval for interval in typed(seen, "intervals", list, place))
    payload = number(
        start.get("tcp_mss_default") or USUAL_PAYLOAD_BYTES,
        "start.tcp_mss_default",
        LARGEST_PACKET_BYTES,
        SMALLEST_PAYLOAD_BYTES,
    )
    return Measurement(
        tool="iperf3",
        direction="both" if both_ways else "download" if is_reverse else "upload",
        probe="tcp",
        rtt_time_s=values([time_s for time_s, _ in rtts]),
        rtt_s=values([rtt for _, rtt in rtts]),
        idle_rtts_s=values([]),
        throughput_time_s=values([end for end, *_ in intervals]),
        throughput_bps=values([rate for _, rate, *_ in intervals]),
        congestion=_congestion(document),
        retransmissions=round(sum(counted)) if counted else None,
        payload_bytes=round(payload),
        packet_bytes=round(payload) + _headers(start),
    )


def _congestion(document: Mapping[str, Any]) -> str | None:
    name = typed(document, "end", dict, missing={}).get("sender_tcp_congestion")
    return name if isinstance(name, str) else None


def _headers(start: Mapping[str, Any]) -> int:
    connected = typed(start, "connected", list, "start.", missing=[])
    host = connected[0].get("local_host") if connected and isinstance(connected[0], dict) else None
    is_ipv6 = isinstance(host, str) and ":" in host
    return IPV6_HEADERS_BYTES if is_ipv6 else IPV4_HEADERS_BYTES


def _intervals(
    seen: Mapping[str, Any], parent: str
) -> Iterator[tuple[float, float, float | None, float | None]]:
    """Yields end in s, rate in bit/s, smallest RTT in s and retransmissions of each interval.

    Raises:
        MeasurementError: The times do not ascend.
    """
    before_s = 0.0
    for index, interval in enumerate(typed(seen, "intervals", list, parent)):
        place = f"{parent}intervals[{index}]."
        total = typed(interval, "sum", dict, place)
        if total.get("omitted"):  # before the test proper, whose times begin at 0 again
            continue
        end_s = number(total.get("end"), f"{place}sum.end", LONGEST_S)
        if end_s < before_s:
            raise MeasurementError(f"{place}sum.end: times do not ascend; measure again")
        before_s = end_s
        rate = number(total.get("bits_per_second"), f"{place}sum.bits_per_second", LARGEST_BPS)
        lost = total.get("retransmits")
        yield (
            end_s,
            rate,
            min(_rtts(interval, place), default=None),
            None if lost is None else number(lost, f"{place}sum.retransmits", 1e15),
        )


def _rtts(interval: Mapping[str, Any], place: str) -> Iterator[float]:
    """Yields the RTTs of an interval's streams that send, in seconds; a receiver writes 0."""
    for index, stream in enumerate(typed(interval, "streams", list, place)):
        if isinstance(stream, dict) and stream.get("rtt"):
            here = f"{place}streams[{index}].rtt"
            yield number(stream["rtt"], here, 1e6 * LARGEST_RTT_S) / 1e6
