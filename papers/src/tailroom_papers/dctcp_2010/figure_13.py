"""Figures 1 and 13: the queue that long-lived flows build, under TCP and DCTCP."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tailroom_papers.dctcp_2010.setup import (
    BOUNDS,
    ECN,
    LABELS,
    LINK,
    POOL,
    SENDERS_WORDS,
    K,
    hosts,
    port,
    scenario,
    spread,
    together,
)
from tailroom_papers.framework import *

FLOWS = (2, 20)
SMALLEST_K = 5
SHOWN_S = 2.0
"""Of the time series of Figure 1."""
SENDERS_KEY = "flows"
PORT_KEY = f"links.{LINK}.queue"
CLOCKS_PPM = 100
"""Largest difference of the clock of an interface that IEEE 802.3 allows at 1 Gbit/s."""


def rates(ppm: float) -> dict[str, str]:
    """Returns the rate of each host's link by name, spread evenly around 1 Gbit/s.

    Args:
        ppm: Largest difference, in millionths.
    """
    differences = np.linspace(-ppm, ppm, FLOWS[-1])
    return {f"h{i}": f"{1e9 + 1e3 * each:.0f} bit/s" for i, each in enumerate(differences, 1)}


def senders(flows: int) -> dict[str, object]:
    """Returns the flows, each from a host of its own, with clocks as different as can be."""
    names = list(rates(CLOCKS_PPM))
    chosen = names[:: len(names) - 1] if flows == FLOWS[0] else names
    start = {"uniform": ["0 s", "100 ms"]}
    return {name: {"path": [name, LINK], "rtt": "100 us", "start": start} for name in chosen}


NIC = {"delay": "25 us", "queue": {"kind": "drop_tail", "limit": "10000 packets"}}
LONG = scenario(
    "DCTCP 2010: long-lived flows",
    senders(FLOWS[0]),
    pools={"tor-switch": POOL},
    links={
        LINK: {"rate": "1 Gbit/s", "delay": "25 us", "queue": port("reno"), "pool": "tor-switch"},
        **{name: {"rate": rate, **NIC} for name, rate in rates(CLOCKS_PPM).items()},
    },
    series={"interval": "5 ms"},
    measure_from="2 s",
)


def long(cases: Sequence[tuple[str, int, int]], form: Form) -> Study:
    """Returns a study of long-lived flows.

    Args:
        cases: Control, number of flows and threshold of each point.
        form: Extent of the reproduction.
    """
    return Study(
        "long",
        LONG,
        together=together({**hosts(case[0]), **key(*case)} for case in cases),
        set={"duration": form.of("3 s", "4 s", "8 s")},
        seeds=spread(form),
        keep=("link_series",),
    )


def key(control: str, flows: int, threshold: int) -> dict[str, object]:
    """Returns what distinguishes a point."""
    return {
        ECN: hosts(control)[ECN],
        SENDERS_KEY: senders(flows),
        PORT_KEY: port(control, threshold=threshold),
    }


def studies(form: Form) -> list[Study]:
    """Each control with 2 and 20 flows, and DCTCP with the smallest threshold."""
    cases = [
        *((control, flows, K) for control in LABELS for flows in FLOWS),
        *(("dctcp", flows, SMALLEST_K) for flows in FLOWS),
    ]
    return [long(cases, form)]


def variations(form: Form) -> list[Variation]:
    """Other clocks of the hosts, which decide which flow finds room in a full port."""
    if form is not Form.FULL:
        return []
    two = long([(control, FLOWS[0], K) for control in LABELS], form)

    def clocks(name: str, ppm: float, reason: str, plausible: bool) -> Variation:
        set_rates = {f"links.{host}.rate": rate for host, rate in rates(ppm).items()}
        return Variation(name, [two.varied(set_rates)], ("ten-times",), plausible, reason)

    return [
        clocks("clocks within 10 ppm", 10, "interfaces are often better than they must be", True),
        clocks(
            "clocks that agree exactly",
            0,
            "our first set-up, mended after its results: one flow fills the port at exactly the "
            "rate at which it empties, never loses a packet, and starves the other",
            False,
        ),
    ]


def at(results: PartResults, control: str, flows: int, threshold: int = K) -> PointResults:
    """Returns the runs of a control with a number of flows."""
    return results.study("long").at(key(control, flows, threshold))


def span_packets(run: StoredRun) -> float:
    """From the 1st to the 95th percentile of the queue."""
    return float(link(run)["queue_packets_p95"]) - float(link(run)["queue_packets_p01"])


def median_packets(run: StoredRun) -> float:
    """Median of the queue."""
    return float(link(run)["queue_packets_p50"])


def utilization(run: StoredRun) -> float:
    """Utilization of the receiver's link."""
    return float(link(run)["utilization"])


def memory_bytes_max(run: StoredRun) -> float:
    """Largest memory that the switch has occupied."""
    return float(run.summary["pools"]["tor-switch"]["memory_bytes_max"])


def over_k_plus_n(run: StoredRun) -> float:
    """95th percentile of the queue over K + n."""
    return float(link(run)["queue_packets_p95"]) / (K + len(run.summary["flows"]))


def link(run: StoredRun) -> dict[str, float]:
    """Returns the measurements of the receiver's link."""
    measured: dict[str, float] = run.summary["links"][LINK]
    return measured


def judge_throughput(results: PartResults) -> Judgement:
    """The link is busy under both controls, and under DCTCP with K = 5 too."""
    cases = [("reno", K), ("dctcp", K), ("dctcp", SMALLEST_K)]
    checks = []
    for control, threshold in cases:
        for flows in FLOWS:
            words = f"{LABELS[control]}, K = {threshold}" if control == "dctcp" else "TCP"
            point = at(results, control, flows, threshold)
            what = f"utilization, {words}, {flows} flows"
            checks.append(point.above(what, utilization, BOUNDS["nearly-100"]))
    return Judgement(
        tuple(checks),
        "The bandwidth-delay product is 8 packets, so that even a small queue keeps the link busy "
        "while windows are reduced.",
    )


def judge_queue(results: PartResults) -> Judgement:
    """The queue of DCTCP is near K + n."""
    two = at(results, "dctcp", 2)
    checks = [two.between("median with 2 flows, packets", median_packets, BOUNDS["around-20"])]
    for flows in FLOWS:
        what = f"95th percentile over K + n, {flows} flows"
        checks.append(at(results, "dctcp", flows).between(what, over_k_plus_n, BOUNDS["k-plus-n"]))
    return Judgement(
        tuple(checks),
        lambda: _medians(results),
    )


def _medians(results: PartResults) -> str:
    said = (
        f"{flows} flows {shown(at(results, 'dctcp', flows).interval(median_packets))}"
        for flows in FLOWS
    )
    return (
        f"Medians in packets: {'; '.join(said)}. K + n is the largest queue of synchronized "
        "sawtooths (Equation 10). With 20 flows, windows are at the smallest that DCTCP has, 2 "
        "packets, so that there is no sawtooth, and the queue is what 40 packets leave."
    )


def judge_ten_times(results: PartResults) -> Judgement:
    """The queue of TCP is ten times larger, varies widely, and ends at 700 kB."""
    tcp, dctcp = at(results, "reno", 2), at(results, "dctcp", 2)
    ratio = paired_ratio(tcp, dctcp, median_packets)
    spans = paired_ratio(tcp, dctcp, span_packets)
    checks = (
        between("median of TCP over that of DCTCP, 2 flows", ratio, BOUNDS["ten-times"]),
        above("span of TCP over that of DCTCP, 2 flows", spans, BOUNDS["varies-widely"]),
        tcp.between(
            "largest memory, TCP, 2 flows, bytes", memory_bytes_max, BOUNDS["up-to-700-kb"]
        ),
    )
    return Judgement(
        checks,
        lambda: (
            f"Medians in packets: TCP {shown(tcp.interval(median_packets))}; DCTCP "
            f"{shown(dctcp.interval(median_packets))}. TCP fills what the dynamic threshold gives "
            "to a single port, and a loss halves one window or both: the sawtooth of Figure 1."
        ),
    )


def queue(run: StoredRun) -> "tuple[NDArray[np.float64], NDArray[np.float64]]":
    """Returns times (s) and queue (packets) at the receiver's link, in the measured window."""
    table = run.table("link_series")
    mine = np.array(table["link"].cast("string").to_pylist()) == LINK
    times, packets = (
        table[name].to_numpy(zero_copy_only=False)[mine] for name in ("time_s", "queue_packets")
    )
    measured = times >= float(run.summary["measured_from_s"])
    return times[measured], packets[measured]


def draw(results: PartResults) -> Figure:
    """The distribution of the queue, and its time series with two flows."""
    figure, (left, right) = figure_of("Figures 13 and 1: queue at 1 Gbit/s", 1, 2)
    cases = {
        f"{LABELS[control]}, {flows} flows": at(results, control, flows)
        for flows in FLOWS
        for control in ("dctcp", "reno")
    }
    shares = np.linspace(0, 1, 201)
    for label, point, look in styled(cases, style.line_styles()):
        samples = np.concatenate([queue(run)[1] for run in point.runs])
        left.plot(np.quantile(samples, shares), shares, label=label, **look)
        if label.endswith(" 2 flows"):
            times, packets = queue(point.runs[0])
            shown_part = times <= times[0] + SHOWN_S
            right.plot((times - times[0])[shown_part], packets[shown_part], **look)
    frame(left, x="queue (packets)", y="share of samples", ylim=(0, 1), xlim=(0, None))
    frame(right, x="time (s)", y="queue (packets)", ylim=(0, None), xlim=(0, SHOWN_S))
    return legend_below(figure)


CLAIMS = (
    Claim(
        "throughput",
        "Both TCP and DCTCP achieve the maximum throughput, and link utilization is nearly 100 %; "
        "also with K = 5.",
        "Sec. 4.1",
        judge_throughput,
    ),
    Claim(
        "queue",
        "The queue of DCTCP is stable around 20 packets, equal to K + n, as predicted.",
        "Sec. 4.1, Figure 13",
        judge_queue,
    ),
    Claim(
        "ten-times",
        "The queue of TCP is 10X larger and varies widely; its upper limit is the 700 kB that the "
        "switch gives to a single busy port.",
        "Sec. 4.1, Figures 1 and 13",
        judge_ten_times,
    ),
)
PART = Part(
    name="13",
    title="Throughput and queue of long-lived flows",
    studies=studies,
    draw=draw,
    claims=CLAIMS,
    note=(
        SENDERS_WORDS + "The switch has 4 MB, of which a dynamic threshold gives a single busy "
        "port 700 kB; the paper states both amounts and not the policy. The paper samples the "
        "queue every 125 ms, and we every 5 ms. K counts the packets that wait, without "
        "the one being sent. The clocks of the interfaces of hosts differ by up to 100 ppm, which "
        "IEEE 802.3 allows; the paper does not state them. If they agree exactly, one flow starves."
    ),
    caption=(
        "Left: distribution of the packets that wait for the receiver's link, samples of all "
        f"runs. Right: {SHOWN_S:g} s of a run with two flows."
    ),
    variations=variations,
)
