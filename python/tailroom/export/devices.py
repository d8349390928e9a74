"""Configuration of a port's buffer, and of WRED with ECN, on switches and routers.

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
    lines = _engine.device_equivalents(link, limit_packets)
    return {Device(key): Equivalent(*line) for key, *line in lines}
