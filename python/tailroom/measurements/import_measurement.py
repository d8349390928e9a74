"""The reader of measurements, which recognizes the tool by the content of the file."""

import json
from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

from tailroom.errors import MeasurementError
from tailroom.measurements import flent, iperf3, socket_statistics
from tailroom.measurements.file_text import read_text
from tailroom.measurements.samples import Measurement

SUPPORTED = "data of flent, JSON of `iperf3 -J`, or a log of `ss -tin`"


def import_measurement(path: str | PathLike[str]) -> Measurement:
    """Reads a measurement of flent, iperf3 or ss.

    Args:
        path: A data file of flent (compressed or not), the output of `iperf3 -J` over TCP, or a log
            of repeated `ss -tin`.

    Returns:
        RTTs, throughput and retransmissions under load, and RTTs of the idle path.

    Raises:
        MeasurementError: The file cannot be read, is damaged, or is of another tool; the message
            names the key or line.
    """
    try:
        return _measurement(read_text(path))
    except MeasurementError as error:
        raise MeasurementError(f"{fspath(path)}: {error}") from None


def _measurement(text: str) -> Measurement:
    if not text.lstrip().startswith(("{", "[")):
        if socket_statistics.is_log(text):
            return socket_statistics.read(text)
        raise MeasurementError(f"is no measurement that tailroom knows; give {SUPPORTED}")
    document = _document(text)
    if flent.is_flent(document):
        return flent.read(document)
    if iperf3.is_iperf3(document):
        return iperf3.read(document)
    raise MeasurementError(f"has neither the keys of flent nor those of iperf3; give {SUPPORTED}")


def _document(text: str) -> Mapping[str, Any]:
    try:
        document = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise MeasurementError(
            f"line {error.lineno:,}: is not JSON ({error.msg}); the file is damaged or truncated: "
            "copy it again"
        ) from None
    except RecursionError:
        raise MeasurementError("is nested too deeply; the file is damaged: measure again") from None
    except ValueError as error:  # an integer of thousands of digits
        raise MeasurementError(f"has a number that is too long; measure again ({error})") from None
    if not isinstance(document, dict):
        raise MeasurementError(f"is not a JSON object; give {SUPPORTED}")
    return document


def _refuse_constant(name: str) -> float:
    """Refuses NaN and infinities, which are not JSON.

    Raises:
        MeasurementError: Always.
    """
    raise MeasurementError(f"has the value {name}, which is no number; measure again")
