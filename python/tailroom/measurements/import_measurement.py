"""The reader of measurements, which recognizes the tool by the content of the file."""

import json
from os import PathLike, fspath

from tailroom import _engine
from tailroom.errors import MeasurementError
from tailroom.measurements.file_text import read_text
from tailroom.measurements.samples import Measurement


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
        return Measurement.of(json.loads(_engine.read_measurement(read_text(path))))
    except MeasurementError as error:
        raise MeasurementError(f"{fspath(path)}: {error}") from None
