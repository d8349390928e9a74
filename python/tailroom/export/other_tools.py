"""Settings of a buffer in other tools: Linux tc, ns-3, Mahimahi."""

from math import ceil

from tailroom.models import Bottleneck

LINUX_HZ = 250
"""Timer interrupts per second of common Linux kernels; tc-tbf(8): burst of at least rate / HZ."""


def equivalents(link: Bottleneck, limit_packets: int) -> dict[str, str]:
    """Returns settings of other tools, by name, for a DropTail buffer of `limit_packets`.

    `DEV` stands for the network interface. netem's limit also counts the packets that it delays,
    here by half of the mean RTT.

    In ns-3, Ipv4AddressHelper::Assign installs FqCoDel on every device that has no queue disc (ns-3
    manual, "Queue disciplines", Usage). FqCoDel holds up to 10240 packets and drops while the
    device's queue is full, so the device's queue alone is not the buffer: remove FqCoDel.
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
