"""Data files of flent (versions 1 to 4), from their series on common times.

A file is a JSON object: `x_values` are times in seconds, `results` maps the names of series to
values at these times or null. Names and units are those of flent's tests: "Ping (ms) ..." in ms,
"TCP upload ..." and "TCP download ..." in Mbit/s of payload, "...::tcp_rtt" in ms
(https://flent.org/data-format.html; the names are in flent's definitions of tests).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tailroom.errors import MeasurementError
from tailroom.measurements.json_fields import number, typed
from tailroom.measurements.samples import (
    IPV4_HEADERS_BYTES,
    IPV6_HEADERS_BYTES,
    LARGEST_BPS,
    LARGEST_RTT_S,
    LONGEST_S,
    Direction,
    Measurement,
    Values,
)

NEWEST_VERSION = 4
PACKET_BYTES = 1500
"""Packet of Ethernet; the files do not tell."""
BEFORE_LOAD_S = 1.0
"""Pings this long before the first report of a connection are idle; it reports after an interval.
flent waits five seconds before it starts a load."""
PINGS = ("Ping (ms) ICMP", "Ping (ms) UDP", "Ping (ms)")
"""Beginnings of the names of pings, the best first; an average of several servers is none."""


def is_flent(document: Mapping[str, Any]) -> bool:
    """Whether a JSON object has the keys of flent."""
    return "x_values" in document and "results" in document


def read(document: Mapping[str, Any]) -> Measurement:
    """Reads the JSON object of a data file.

    Raises:
        MeasurementError: A key has the wrong type, or there is neither ping nor TCP.
    """
    metadata = typed(document, "metadata", dict, missing={})
    version = number(document.get("version", 1), "version", 1e6)
    if version > NEWEST_VERSION:
        raise MeasurementError(
            f"version: {version:g} is newer than {NEWEST_VERSION}; use an older flent, or a newer "
            "tailroom"
        )
    times = _numbers(typed(document, "x_values", list), "x_values", LONGEST_S)
    if np.isnan(times).any() or np.any(np.diff(times) < 0):
        raise MeasurementError("x_values: times do not ascend; the file is damaged: measure again")
    results = typed(document, "results", dict)
    name = metadata.get("NAME")
    ways: tuple[Direction, ...] = ("upload", "download")
    sums = {way: _throughput(results, times, way) for way in ways}
    loads = {way: total for way, total in sums.items() if total is not None}
    rtts, probe = _rtts(results, times, metadata)
    if rtts is None and not loads:
        raise MeasurementError(
            "results: has neither a ping nor a TCP connection; run a test such as tcp_8up"
        )
    direction: Direction = "both" if len(loads) > 1 else next(iter(loads), "none")
    load = sum(loads.values()) if loads else np.full(len(times), np.nan)
    return _measurement(
        times,
        rtts if rtts is not None else np.full(len(times), np.nan),
        np.asarray(load),
        tool=f"flent {name}" if isinstance(name, str) else "flent",
        direction=direction,
        probe=probe,
        headers=IPV6_HEADERS_BYTES if metadata.get("IP_VERSION") == 6 else IPV4_HEADERS_BYTES,
    )


def _measurement(
    times: Values, rtts: Values, load: Values, *, headers: int, **about: Any
) -> Measurement:
    """Splits the series into idle and under load."""
    reported = times[~np.isnan(load)]
    first, last = (reported[0], reported[-1]) if len(reported) else (np.inf, np.inf)
    under_load = ~np.isnan(rtts) & (times >= first) & (times <= last)
    idle = ~np.isnan(rtts) & (times < first - BEFORE_LOAD_S)
    # A ping is idle whenever there is no load; RTTs of TCP exist under load only.
    return Measurement(
        rtt_time_s=times[under_load],
        rtt_s=rtts[under_load],
        idle_rtts_s=rtts[idle] if about["probe"] == "ping" else rtts[:0],
        throughput_time_s=reported,
        throughput_bps=load[~np.isnan(load)],
        payload_bytes=PACKET_BYTES - headers,
        packet_bytes=PACKET_BYTES,
        **about,
    )


def _throughput(results: Mapping[str, Any], times: Values, way: str) -> Values | None:
    """The payload rate of all connections of a direction, in bit/s; NaN where nothing is known."""
    whole = f"TCP {way} sum"
    parts = [
        name
        for name in results
        if name.startswith(f"TCP {way}")
        and "::tcp_" not in name
        and not name.endswith((" sum", " avg", " fairness"))
    ]
    names = [whole] if whole in results else parts
    series = [_series(results, name, times, LARGEST_BPS / 1e6) for name in names]
    known = [one for one in series if not np.isnan(one).all()]
    if not known:
        return None
    total = np.nansum(known, axis=0)
    total[np.isnan(known).all(axis=0)] = np.nan
    return np.asarray(1e6 * total)


def _rtts(
    results: Mapping[str, Any], times: Values, metadata: Mapping[str, Any]
) -> tuple[Values | None, str]:
    """The RTTs of the best ping, else the smallest of the connections, in seconds; NaN if lost."""
    most_ms = 1e3 * LARGEST_RTT_S
    pings = sorted(name for name in results if name.startswith(PINGS) and "avg" not in name)
    pings.sort(key=lambda name: next(i for i, ping in enumerate(PINGS) if name.startswith(ping)))
    for name in pings:
        series = _series(results, name, times, most_ms)
        if not np.isnan(series).all():
            return series / 1e3, "ping"
    of_tcp = [name for name in results if name.startswith("TCP ") and name.endswith("::tcp_rtt")]
    known = [_series(results, name, times, most_ms) for name in of_tcp]
    known = [one for one in known if not np.isnan(one).all()]
    if not known:
        return None, "ping"
    return np.fmin.reduce(known) / 1e3, "tcp"


def _series(results: Mapping[str, Any], name: str, times: Values, most: float) -> Values:
    series = _numbers(typed(results, name, list, "results."), f"results.{name}", most)
    if len(series) != len(times):
        raise MeasurementError(
            f"results.{name}: has {len(series):,} values at {len(times):,} times; the file is "
            "damaged: measure again"
        )
    return series


def _numbers(found: list[Any], place: str, most: float) -> Values:
    """Numbers of a list, NaN for null."""
    return np.array(
        [
            np.nan if value is None else number(value, f"{place}[{index}]", most)
            for index, value in enumerate(found)
        ],
        dtype=np.float64,
    )
