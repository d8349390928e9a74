"""Configuration of a buffer, of shared memory, and of WRED with ECN, on switches and routers.

`crates/tailroom-rules/src/devices` has the lines and their sources.
"""

from enum import StrEnum

from tailroom import _engine
from tailroom.export.other_tools import Equivalent
from tailroom.models import Bottleneck


class Device(StrEnum):
    """Systems of switches and routers."""

    SONIC = "sonic"
    OPENCONFIG = "openconfig"
    IOSXR = "iosxr"
    JUNOS = "junos"
    EOS = "eos"
    SROS = "sros"


def on_devices(link: Bottleneck, limit_packets: int) -> dict[Device, Equivalent]:
    """Returns the configuration of a link's queue discipline on switches and routers.

    `PORT`, `QUEUE`, `POOL` and `POLICY` stand for names of the device, `tailroom` for new profiles.
    Amounts are rounded down to the step of the device. A system that cannot express the discipline
    with these parameters has a sentence instead of lines. No line was tried on a device.

    Args:
        link: The link with its queue discipline, rate and packet size.
        limit_packets: Largest number of waiting packets, at least 1.
    """
    return _by_device(_engine.device_equivalents(link, limit_packets))


def pool_on_devices(size_bytes: int, alpha: float) -> dict[Device, Equivalent]:
    """Returns the configuration of memory that ports share with dynamic thresholds.

    A system without a source for such lines, or that cannot express alpha, has a sentence instead.

    Args:
        size_bytes: Size of the pool.
        alpha: Threshold of a queue, relative to what is free.
    """
    return _by_device(_engine.pool_equivalents(size_bytes, alpha))


def _by_device(lines: "list[tuple[str, str, str, str]]") -> dict[Device, Equivalent]:
    return {Device(key): Equivalent(*line) for key, *line in lines}
