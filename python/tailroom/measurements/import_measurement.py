"""The reader of measurements, which recognizes the tool by the content of the file."""

import json
from os import PathLike, fspath

from tailroom import _engine
from tailroom.errors import MeasurementError
from tailroom.given_files import FileReader
from tailroom.measurements.samples import Measurement

READER = FileReader(
    error=MeasurementError,
    wanted="a file of flent, iperf3 -J, ss -tin or Waveform's test",
    most_bytes=64_000_000,
    shorter="measure for a shorter time, or with longer intervals",
)
"""A test of a minute takes 4 MB at most."""


def import_measurement(path: str | PathLike[str]) -> Measurement:
    """Reads a measurement of another tool (`crates/tailroom-rules/src/measurements`).

    Args:
        path: A data file of flent (compressed or not), the output of `iperf3 -J` over TCP, a log of
            repeated `ss -tin`, or the CSV of Waveform's bufferbloat test.

    Returns:
        RTTs, throughput and retransmissions under load, and RTTs of the idle path.

    Raises:
        MeasurementError: The file cannot be read, is damaged, or is of another tool; the message
            names the key or line.
    """
    try:
        text = READER.text(path, may_be_packed=True)
        return Measurement.of(json.loads(_engine.read_measurement(text)))
    except MeasurementError as error:
        raise MeasurementError(f"{fspath(path)}: {error}") from None
