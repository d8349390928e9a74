"""`tailroom import`: a packet capture as a list of flows."""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from tailroom.cli.options import read_duration_s
from tailroom.cli.signature import options_of
from tailroom.storage.output import output_file
from tailroom.traffic_import import capture as captures
from tailroom.traffic_import import flow_list
from tailroom.traffic_import.capture_directions import parse_prefixes


@options_of("import_capture", without=("window_s",))
def import_capture(
    path: Annotated[
        Path, typer.Argument(metavar="CAPTURE", help="Packet capture (pcap or pcapng).")
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the list into a new file: Parquet if its name ends in .parquet, else CSV "
            "(default: print CSV).",
        ),
    ] = None,
    window: Annotated[
        str, typer.Option(metavar="DURATION", help="Time window of peak rates, in s, ms or us.")
    ] = "100 ms",
    **prefixes: Any,
) -> None:
    """Turn a packet capture into a list of TCP flows.

    Each direction of a connection that carried data is a flow, with its start, its bytes, its peak
    rate, and the round-trip time of the handshake. A link carries one direction: choose it with
    --to or --from.
    """
    window_s = read_duration_s("window", window, captures.WINDOW)
    for name, texts in prefixes.items():
        parse_prefixes(texts, name)
    if out:
        flow_list.check_free(out)
    with output_file(out) if out else nullcontext() as output:
        capture = captures.import_capture(path, window_s=window_s, **prefixes)
        if output:
            output.write(lambda file: flow_list.write(capture.flows, file))
        else:
            flow_list.write_csv(capture.flows, sys.stdout)
    _tell_what_is_missing(path, capture)
    _tell_directions(capture)
    if out:
        print(f"{capture.flows.num_rows:,} flows of {capture.packets:,} packets are in {out}")


def _tell_what_is_missing(file: Path, capture: captures.Capture) -> None:
    if capture.broken:
        offset, why = capture.broken
        print(
            f"warning: {file}: broken at byte {offset:,}: {why}; "
            "the packets before it were imported",
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


def _tell_directions(capture: captures.Capture) -> None:
    """Prints how to choose a direction if flows go both ways."""
    if capture.directions:
        side = capture.directions.side[0]
        ways = captures.directions_text(capture.directions)
        remedy = f"choose it with --to {side} or --from {side}"
    else:
        directions = capture.flows["direction"].to_pylist()
        counts = [directions.count(direction) for direction in ("forward", "reverse")]
        if not all(counts):
            return
        ways = f"{counts[0]:,} forward, {counts[1]:,} reverse, between ends of the same address"
        remedy = "keep the rows of one `direction`"
    print(
        f"note: flows go both ways: {ways}; a link carries one direction: {remedy}", file=sys.stderr
    )
