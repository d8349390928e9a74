"""Configuration of a buffer in other tools: Linux tc, ns-3, Mahimahi."""

from math import ceil

from tailroom.models import Bottleneck

LINUX_HZ = 250
"""Timer interrupts per second of common Linux kernels. The burst of tbf must be at least rate / HZ
(tc-tbf(8), "burst")."""


def equivalents(link: Bottleneck, limit_packets: int) -> dict[str, str]:
    """Returns the configuration of a DropTail buffer in other tools, by tool.

    `DEV` stands for the network interface. The limit of netem also counts the packets that netem
    delays, here by half of the mean RTT.

    In ns-3, Ipv4AddressHelper::Assign installs FqCoDel on every device without a queue disc (ns-3
    manual, "Queue disciplines", Usage). FqCoDel queues up to 10240 packets while the queue of the
    device is full, so that queue is the only buffer only after FqCoDel has been removed.

    Args:
        link: The link with its rate, mean RTT and packet size.
        limit_packets: Largest number of waiting packets, at least 1.

    Returns:
        Commands for Linux and Mahimahi, and statements for ns-3.
    """
    rate = f"{link.rate_bps:.0f}bit"
    packet_bytes = ceil(link.packet_bytes)
    limit_bytes = limit_packets * packet_bytes
    delay_s = link.mean_rtt_s / 2
    delayed = ceil(link.capacity_pps * delay_s)
    burst = max(ceil(link.rate_bps / 8 / LINUX_HZ), packet_bytes)
    add = "tc qdisc replace dev DEV root"
    return {
        "tc pfifo (packets)": f"{add} pfifo limit {limit_packets}",
        "tc bfifo (bytes)": f"{add} bfifo limit {limit_bytes}",
        "tc tbf (rate and buffer)": f"{add} tbf rate {rate} burst {burst} limit {limit_bytes}",
        "tc netem (rate, delay, buffer)": (
            f"{add} netem rate {rate} delay {1e6 * delay_s:.0f}us limit {limit_packets + delayed}"
        ),
        "ns-3 (queue of the device)": (
            'pointToPoint.SetQueue("ns3::DropTailQueue<Packet>", '
            f'"MaxSize", StringValue("{limit_packets}p"));'
        ),
        "ns-3 (after Assign, no FqCoDel before it)": ("TrafficControlHelper().Uninstall(devices);"),
        "Mahimahi": (
            "mm-link UPLINK DOWNLINK --uplink-queue=droptail "
            f'--uplink-queue-args="packets={limit_packets}"'
        ),
    }
