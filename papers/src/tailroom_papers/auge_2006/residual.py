"""Residual capacity, the flows' share of it, and loss and delay of the background."""

from typing import Any

from tailroom_papers.auge_2006.setup import BACKGROUND, LINK
from tailroom_papers.framework import *


def residual_share(run: StoredRun) -> float:
    """Carried rate of all other flows over the residual capacity of the link."""
    summary = run.summary
    capacity_bps = summary["links"][LINK]["capacity_bps"]
    carried_bps = {name: carried(run, name) for name in summary["groups"]}
    background_bps = carried_bps.pop(BACKGROUND, 0.0)
    return sum(carried_bps.values()) / (float(capacity_bps) - background_bps)


def carried(run: StoredRun, group: str) -> float:
    """Bits per second of a group that the link takes, headers included; packets have one size."""
    link = run.summary["links"][LINK]
    taken = {name: _taken(run, name) for name in run.summary["groups"]}
    return float(link["utilization"] * link["capacity_bps"] * taken[group] / sum(taken.values()))


def _taken(run: StoredRun, group: str) -> int:
    packets = at_link(run, group)
    return int(packets["arrivals_packets"] - packets["drops_packets"])


def at_link(run: StoredRun, group: str) -> dict[str, Any]:
    """What the packets of a group meet at the link."""
    link: dict[str, Any] = run.summary["groups"][group]["links"][LINK]
    return link


def background_drops(run: StoredRun) -> float:
    """Packets of the background that are dropped."""
    return float(at_link(run, BACKGROUND)["drops_packets"])


def background_loss(run: StoredRun) -> float:
    """Loss of the background."""
    return float(at_link(run, BACKGROUND)["loss_fraction"] or 0.0)


def background_delay_ms(run: StoredRun) -> float:
    """99th percentile of the queueing delay of background packets, in ms."""
    return 1e3 * float(at_link(run, BACKGROUND)["queue_delay_s_p99"])


def flow_names(run: StoredRun) -> list[str]:
    """The flows under congestion control."""
    return [flow["name"] for flow in run.summary["flows"] if flow["congestion"]]


def goodput_of(run: StoredRun, group: str) -> float:
    """Goodput of a group."""
    return float(run.summary["groups"][group]["goodput_bps"])


def seconds_between_reductions(run: StoredRun) -> float | None:
    """Mean of the flows' own means, without those that reduce too seldom to tell."""
    means = [flow["seconds_between_reductions_mean"] for flow in run.summary["flows"]]
    known = [float(mean) for mean in means if mean is not None]
    return sum(known) / len(known) if known else None


def timeouts(run: StoredRun) -> float:
    """Of all flows together."""
    return float(sum(flow["timeouts"] or 0 for flow in run.summary["flows"]))
