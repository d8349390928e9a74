"""Configuration of a buffer in other tools: Linux tc, ns-3, Mahimahi.

Each queue discipline has lines of its own: a line for another discipline would remove the one that
was simulated. Sources: the manual pages of iproute2 (tc-codel(8), tc-fq_codel(8), tc-pie(8),
tc-fq_pie(8), tc-red(8), tc-tbf(8), tc-dualpi2(8)), `calculate_probability` in Linux's sch_pie.c,
the attributes of the queue discs of ns-3, and the usage message of mm-link.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from tailroom import _engine
from tailroom.models import Bottleneck

LINUX_HZ = 250
"""Timer interrupts per second of common Linux kernels. The burst of tbf must be at least rate / HZ
(tc-tbf(8), "burst")."""
TC_GAINS_PER_HZ = 16
"""Linux's pie and fq_pie take alpha and beta as whole numbers from 0 to 32, in sixteenths of 1/s
(sch_pie.c: "we use values 0-32 passed from user space to represent" 0 to 2)."""
TC_LARGEST_GAIN = 32
LINUX_MAX_BURST_S = 0.15
"""Burst allowance of Linux's pie and fq_pie, which is not an option (sch_pie.c)."""
LINUX_PIE_MARK_UP_TO = 0.1
"""Probability up to which Linux's pie marks, which is not an option (tc-pie(8), "ALGORITHM")."""

_TC = "tc qdisc replace dev DEV root"
_PORT = "on the router's own port"
_NONE = "no exact equivalent"


@dataclass(frozen=True)
class Equivalent:
    """The configuration of a buffer in another tool."""

    tool: str
    """The tool and what it configures."""
    purpose: str
    """Where the configuration belongs, and what else it does; may be empty."""
    text: str
    """The command or statement; without an exact equivalent, a sentence that says why."""

    @property
    def heading(self) -> str:
        """The tool with the purpose."""
        return f"{self.tool}, {self.purpose}" if self.purpose else self.tool


def equivalents(link: Bottleneck, limit_packets: int) -> tuple[Equivalent, ...]:
    """Returns the configuration of a link's queue discipline in other tools.

    `DEV` stands for the network interface. A tool that cannot express the discipline with these
    parameters has a sentence instead of a command, and never the command of another discipline.

    Args:
        link: The link with its queue discipline, rate, mean RTT and packet size.
        limit_packets: Largest number of waiting packets, at least 1.
    """
    return _DISCIPLINES.get(link.discipline, _without)(link, limit_packets)


def as_texts(lines: tuple[Equivalent, ...]) -> dict[str, str]:
    """Returns the commands and sentences by tool, as `--json` prints them."""
    return {line.tool: line.text for line in lines}


def _drop_tail(link: Bottleneck, limit: int) -> tuple[Equivalent, ...]:
    """The limit of netem also counts the packets that netem delays, here by half of the mean RTT.

    In ns-3, Ipv4AddressHelper::Assign installs FqCoDel on every device without a queue disc (ns-3
    manual, "Queue disciplines", Usage). FqCoDel queues up to 10240 packets while the queue of the
    device is full, so that queue is the only buffer only after FqCoDel has been removed.
    """
    rate = f"{link.rate_bps:.0f}bit"
    packet_bytes = ceil(link.packet_bytes)
    limit_bytes = round(limit * link.packet_bytes)
    delay_s = link.mean_rtt_s / 2
    delayed = ceil(link.capacity_pps * delay_s)
    burst = max(ceil(link.rate_bps / 8 / LINUX_HZ), packet_bytes)
    delay = f"{1e6 * delay_s:.0f}us"
    return (
        Equivalent("tc pfifo (packets)", _PORT, f"{_TC} pfifo limit {limit}"),
        Equivalent("tc bfifo (bytes)", _PORT, f"{_TC} bfifo limit {limit_bytes}"),
        Equivalent(
            "tc tbf (rate and buffer)",
            _shaper(burst, limit_bytes, packet_bytes),
            f"{_TC} tbf rate {rate} burst {burst} limit {limit_bytes}",
        ),
        Equivalent(
            "tc netem (rate, delay, buffer)",
            f"on a testbed: adds a delay of {delay}, half of the mean RTT",
            f"{_TC} netem rate {rate} delay {delay} limit {limit + delayed}",
        ),
        Equivalent(
            "ns-3 (queue of the device)",
            "",
            'pointToPoint.SetQueue("ns3::DropTailQueue<Packet>", '
            f'"MaxSize", StringValue("{limit}p"));',
        ),
        Equivalent(
            "ns-3 (after Assign, no FqCoDel before it)",
            "",
            "TrafficControlHelper().Uninstall(devices);",
        ),
        _mahimahi("droptail", f"packets={limit}"),
    )


def _shaper(burst: int, limit_bytes: int, packet_bytes: int) -> str:
    """What tbf is for, and why its burst is not smaller."""
    purpose = "a shaper in front of a slower line"
    if burst == packet_bytes:
        return f"{purpose}; its burst is one packet"
    least = f"its burst is the least at {LINUX_HZ} timer interrupts per second"
    if burst <= limit_bytes:
        return f"{purpose}; {least}"
    times = f"{burst / limit_bytes:.1f} times this buffer"
    return f"{purpose}; {least}, {times}, and passes without a queue"


def _drop_head(_link: Bottleneck, limit: int) -> tuple[Equivalent, ...]:
    return (
        Equivalent("tc pfifo_head_drop (packets)", _PORT, f"{_TC} pfifo_head_drop limit {limit}"),
        _none("ns-3", "it has no queue that drops from the head"),
        _mahimahi("drophead", f"packets={limit}"),
    )


def _codel(link: Bottleneck, limit: int) -> tuple[Equivalent, ...]:
    target, interval = (_microseconds(link, key) for key in ("target", "interval"))
    if target is None or interval is None:
        return (_none("tc, ns-3 and Mahimahi", "tc takes times in whole microseconds"),)
    times = f"target {_time(target)} interval {_time(interval)}"
    lines = (
        Equivalent("tc codel", _PORT, f"{_TC} codel limit {limit} {times} ecn"),
        *_ns3("CoDelQueueDisc", _codel_attributes(limit, target, interval)),
    )
    if target % 1000 or interval % 1000:
        return (*lines, _none("Mahimahi", "it takes times in whole milliseconds"))
    arguments = f"packets={limit}, target={target // 1000}, interval={interval // 1000}"
    return (*lines, _mahimahi("codel", arguments, "drops packets that ECN would mark"))


def _fq_codel(link: Bottleneck, limit: int) -> tuple[Equivalent, ...]:
    target, interval = (_microseconds(link, key) for key in ("target", "interval"))
    if target is None or interval is None:
        return (_none("tc, ns-3 and Mahimahi", "tc takes times in whole microseconds"),)
    flows, quantum = link.parameters["flows"], _quantum(link)
    times = f"target {_time(target)} interval {_time(interval)}"
    attributes = {**_codel_attributes(limit, target, interval), "Flows": f"UintegerValue({flows})"}
    after = f"DynamicCast<FqCoDelQueueDisc>(discs.Get(0))->SetQuantum({quantum});"
    return (
        Equivalent(
            "tc fq_codel",
            _PORT,
            f"{_TC} fq_codel limit {limit} {times} flows {flows} quantum {quantum} ecn",
        ),
        *_ns3("FqCoDelQueueDisc", attributes, after),
        _none("Mahimahi", "it has no fq_codel"),
    )


def _pie(link: Bottleneck, limit: int) -> tuple[Equivalent, ...]:
    given = link.parameters
    target, update = (_microseconds(link, key) for key in ("target", "update_interval"))
    burst = _microseconds(link, "max_burst")
    gains = _tc_gains(link)
    is_linux = burst == LINUX_MAX_BURST_S * 1e6 and given["derandomize"]
    if target and update and gains and is_linux and given["mark_up_to"] == LINUX_PIE_MARK_UP_TO:
        times = f"target {_time(target)} tupdate {_time(update)}"
        tc = Equivalent("tc pie", _PORT, f"{_TC} pie limit {limit} {times} {gains} ecn")
    else:
        tc = _none(
            "tc pie",
            "it has max_burst 150 ms, mark_up_to 0.1, derandomize true, times in whole "
            "microseconds, and alpha and beta up to 2 in sixteenths",
        )
    if target is None or update is None or burst is None:
        return (tc, _none("ns-3 and Mahimahi", "the times are not whole microseconds"))
    attributes = {
        "MaxSize": f'StringValue("{limit}p")',
        "QueueDelayReference": f'StringValue("{_time(target)}")',
        "Tupdate": f'StringValue("{_time(update)}")',
        "A": f"DoubleValue({given['alpha']:.6g})",
        "B": f"DoubleValue({given['beta']:.6g})",
        "MaxBurstAllowance": f'StringValue("{_time(burst)}")',
        "MeanPktSize": f"UintegerValue({ceil(link.packet_bytes)})",
        "UseEcn": "BooleanValue(true)",
        "MarkEcnThreshold": f"DoubleValue({given['mark_up_to']:.6g})",
        "UseDerandomization": f"BooleanValue({'true' if given['derandomize'] else 'false'})",
    }
    mahimahi = _none("Mahimahi", "its pie has other steps and updates every 30 ms")
    return (tc, *_ns3("PieQueueDisc", attributes), mahimahi)


def _fq_pie(link: Bottleneck, limit: int) -> tuple[Equivalent, ...]:
    given = link.parameters
    target, update = (_microseconds(link, key) for key in ("target", "update_interval"))
    gains = _tc_gains(link)
    percent = round(100 * given["mark_up_to"])
    is_linux = (
        _microseconds(link, "max_burst") == LINUX_MAX_BURST_S * 1e6
        and given["derandomize"]
        and abs(100 * given["mark_up_to"] - percent) < 1e-9
    )
    others = _none(
        "ns-3 and Mahimahi",
        "ns-3's full FqPieQueueDisc drops from the longest queue, and Mahimahi has no fq_pie",
    )
    if not (target and update and gains and is_linux):
        reason = (
            "it has max_burst 150 ms, derandomize true, mark_up_to in whole percent, times in "
            "whole microseconds, and alpha and beta up to 2 in sixteenths"
        )
        return (_none("tc fq_pie", reason), others)
    text = (
        f"{_TC} fq_pie limit {limit} flows {given['flows']} target {_time(target)} "
        f"tupdate {_time(update)} {gains} quantum {_quantum(link)} ecn_prob {percent} ecn"
    )
    return (Equivalent("tc fq_pie", _PORT, text), others)


def _red(_link: Bottleneck, _limit: int) -> tuple[Equivalent, ...]:
    return (
        _none(
            "tc and Mahimahi",
            "Linux's red has no gentle mode and takes the weight as a power of two, and Mahimahi "
            "has no red",
        ),
        Equivalent("ns-3", "", "RedQueueDisc has these parameters by other names; set them there"),
    )


_REASONS = {
    "step_mark": "their RED marks with a probability that grows between two thresholds",
    "wred": "their RED takes an average, and spaces its marks",
    "random_drop": "none of them drops a random packet of a full buffer",
    "dual_pi2": (
        "dualpi2 of Linux 6.17 marks L4S packets at a step without a ramp, and none while fewer "
        "than two packets wait"
    ),
    "fair": "Linux's sfq hashes flows into slots and has a limit per flow",
}
"""Why a discipline has no exact equivalent in any of the tools."""


def _without(link: Bottleneck, _limit: int) -> tuple[Equivalent, ...]:
    """The line of a discipline that no tool has."""
    reason = _REASONS.get(link.discipline, "none of them has this discipline")
    return (_none(f"{link.discipline} in tc, ns-3 and Mahimahi", reason),)


_DISCIPLINES: dict[str, Callable[[Bottleneck, int], tuple[Equivalent, ...]]] = {
    "drop_tail": _drop_tail,
    "drop_head": _drop_head,
    "codel": _codel,
    "fq_codel": _fq_codel,
    "pie": _pie,
    "fq_pie": _fq_pie,
    "red": _red,
    "adaptive_red": _red,
}


def _none(tool: str, reason: str) -> Equivalent:
    return Equivalent(tool, "", f"{_NONE}: {reason}")


def _mahimahi(queue: str, arguments: str, purpose: str = "") -> Equivalent:
    """The command of mm-link, whose times are in milliseconds."""
    options = f'--uplink-queue={queue} --uplink-queue-args="{arguments}"'
    return Equivalent("Mahimahi", purpose, f"mm-link UPLINK DOWNLINK {options}")


def _codel_attributes(limit: int, target: int, interval: int) -> dict[str, str]:
    return {
        "MaxSize": f'StringValue("{limit}p")',
        "Target": f'StringValue("{_time(target)}")',
        "Interval": f'StringValue("{_time(interval)}")',
        "UseEcn": "BooleanValue(true)",
    }


def _ns3(disc: str, attributes: dict[str, str], after: str = "") -> tuple[Equivalent, ...]:
    """The statements for a queue disc; behind it, the device keeps a queue of one packet."""
    pairs = ", ".join(f'"{name}", {value}' for name, value in attributes.items())
    statements = (
        "TrafficControlHelper control; "
        f'control.SetRootQueueDisc("ns3::{disc}", {pairs}); '
        f"QueueDiscContainer discs = control.Install(devices);{after and ' ' + after}"
    )
    one = 'pointToPoint.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1p"));'
    return (
        Equivalent("ns-3 (queue of the device)", "of one packet, the least", one),
        Equivalent(
            "ns-3 (before Assign)", "in place of the FqCoDel that Assign installs", statements
        ),
    )


def _tc_gains(link: Bottleneck) -> str:
    """Alpha and beta as options of tc; empty if tc cannot express them."""
    gains = {key: TC_GAINS_PER_HZ * link.parameters[key] for key in ("alpha", "beta")}
    if any(gain > TC_LARGEST_GAIN or gain != int(gain) for gain in gains.values()):
        return ""
    return " ".join(f"{key} {gain:.0f}" for key, gain in gains.items())


def _quantum(link: Bottleneck) -> int:
    return round(_engine.quantity("size", link.parameters["quantum"]))


def _microseconds(link: Bottleneck, key: str) -> int | None:
    """A duration in microseconds; `None` if it is not a whole number."""
    exact = 1e6 * _engine.quantity("duration", link.parameters[key])
    whole = round(exact)
    return whole if abs(exact - whole) < 1e-6 else None


def _time(microseconds: int) -> str:
    """A duration as tc and ns-3 write it."""
    whole, rest = divmod(microseconds, 1000)
    return f"{microseconds}us" if rest else f"{whole}ms"
