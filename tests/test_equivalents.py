"""The same buffer in the words of other tools."""

from pathlib import Path

from tailroom.export.other_tools import equivalents
from tailroom.models.bottleneck import read_bottleneck
from tailroom.scenario.source import ScenarioSource


def test_ns3_is_told_to_remove_the_queue_before_that_of_the_device(small: Path) -> None:
    """Defect 20 of the first-contact review.

    The ns-3 manual, "Queue disciplines": Ipv4AddressHelper installs FqCoDel on a device, and
    TrafficControlHelper::Uninstall removes it.
    """
    link = read_bottleneck(ScenarioSource.of(small, {}, None), None, None)
    ns3 = [line for name, line in equivalents(link, 17).items() if name.startswith("ns-3")]
    assert '"MaxSize", StringValue("17p")' in ns3[0]
    assert ns3[1] == "TrafficControlHelper().Uninstall(devices);"
