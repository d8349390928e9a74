"""`tailroom import`: a packet capture as a list of flows."""

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from tailroom import capture as captures
from tailroom import flow_list
from tailroom.cli import failures

UNITS_S = {"s": 1.0, "ms": 1e-3, "us": 1e-6}


def import_capture(
    file: Annotated[
        Path, typer.Argument(metavar="CAPTURE", help="Packet capture (pcap or pcapng).")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the list into a new FILE: Parquet if it ends in .parquet, otherwise CSV. "
            "Printed as CSV if left out.",
        ),
    ] = None,
    window: Annotated[
        str, typer.Option(metavar="DURATION", help="Peak rates are over this time.")
    ] = "100 ms",
) -> None:
    """Turn a packet capture into a list of TCP flows.

    Each direction of a connection that carried data is a flow: when it started, how many bytes it
    sent, its peak rate, and the round-trip time that the handshake shows.
    """
    with failures.reported():
        window_s = _window_s(window)
        try:
            if out:
                flow_list.check_free(out)
            capture = captures.import_capture(file, window_s=window_s)
            if out:
                flow_list.write(capture.flows, out)
            else:
                flow_list.write_csv(capture.flows, sys.stdout)
        except flow_list.FlowListError as error:
            raise failures.InputError(str(error)) from None
        _tell_what_is_missing(file, capture)
        if out:
            print(f"{capture.flows.num_rows:,} flows of {capture.packets:,} packets are in {out}")


def _window_s(text: str) -> float:
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(s|ms|us)\s*", text)
    window_s = float(match[1]) * UNITS_S[match[2]] if match else 0.0
    if not captures.SHORTEST_WINDOW_S <= window_s <= captures.LONGEST_WINDOW_S:
        raise failures.InputError(
            f'--window {text}: no duration from 1 us to 3600 s; write for example "100 ms"'
        )
    return window_s


def _tell_what_is_missing(file: Path, capture: captures.Capture) -> None:
    if capture.broken:
        offset, why = capture.broken
        print(
            f"warning: {file}: broken at byte {offset:,}: {why}; what comes before was imported",
            file=sys.stderr,
        )
    if capture.skipped:
        print(f"skipped: {captures.skipped_text(capture)}", file=sys.stderr)
    if capture.unseen_bytes:
        print(
            f"note: {capture.unseen_bytes:,} bytes were acknowledged but are not in the capture; "
            "the flows include them",
            file=sys.stderr,
        )
