"""A result as printed tables."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from tailroom.cli.sentences import say
from tailroom.cli.table import NumberTable, Parts
from tailroom.cli.terminal_text import escape
from tailroom.simulation import metric_units
from tailroom.simulation.lower_bounds import LEGEND, mark
from tailroom.simulation.metric_catalogue import IS_LOWER_BOUND, metric_of
from tailroom.simulation.result import Result

if TYPE_CHECKING:
    from tailroom.simulation.result_types import RunWarning

VISIBLE_DUPLICATES = 1e-3
"""Fraction of a link's capacity from which on duplicates are printed."""
MOST_FLOWS = 20
"""Maximum number of flows that are printed one by one."""
MOST_LINKS = 20
"""Maximum number of links that are printed one by one."""
MOST_GROUPS = 100
"""Maximum number of groups that are printed one by one."""
MOST_WARNINGS = 10
"""Maximum number of warnings of a kind that are printed one by one."""


def show(result: Result, console: Console) -> None:
    """Prints links, pools, groups, up to `MOST_FLOWS` flows, warnings and the speed of the run.

    Of many links, groups and warnings the first by interest are printed, with the number of all.
    """
    summary = result.summary
    if summary["title"]:
        console.print(f"[bold]{escape(summary['title'])}[/bold]", highlight=False)
    console.print(
        f"seed {summary['seed']}, statistics from {summary['measured_from_s']:g} s "
        f"to {summary['measured_to_s']:g} s{_hosts(result.groups)}",
        highlight=False,
    )
    links = _of_interest(result)
    part = f": {len(links)} of {len(result.links)}" if len(links) < len(result.links) else ""
    console.print(_links(links, part and f"{part}, by loss and queueing delay"))
    if any(link["discipline_state"] for link in links.values()):
        console.print(_disciplines(links))
    if result.pools:
        console.print(_pools(result))
    if any(link["pause_frames"] is not None for link in links.values()):
        console.print(_pauses(links, part))
    if any(link["regime"] != "elastic" or link["offered_load"] for link in links.values()):
        console.print(_sharing(links, part))
    _show_groups(result.groups, console)
    if 1 < len(result.flows) <= MOST_FLOWS:
        console.print(_flows(result))
    console.print()
    show_warnings(summary["warnings"], console)
    console.print(_speed(summary), highlight=False)


def _show_groups(all_groups: Mapping[str, Any], console: Console) -> None:
    """Prints what concerns groups, at most `MOST_GROUPS` of each kind: those that lose most."""
    for table, is_shown in (
        (_groups, lambda group: group["congestion"] is not None),
        (_unacknowledged, lambda group: group["congestion"] is None),
        (_sizes, lambda group: group["size_classes"]),
        (_coflows, lambda group: group["coflows"]),
    ):
        groups = {name: group for name, group in all_groups.items() if is_shown(group)}
        if len(groups) > MOST_GROUPS:
            by_loss = sorted(groups, key=lambda name: groups[name]["loss_fraction"] or 0.0)
            chosen = set(by_loss[-MOST_GROUPS:])
            part = f": {MOST_GROUPS} of {len(groups):,}, by loss; --json has all"
            console.print(table({name: groups[name] for name in groups if name in chosen}, part))
        elif groups:
            console.print(table(groups, ""))
    shown = (
        part
        for group in all_groups.values()
        for part in (*group["size_classes"], group["coflows"] or {})
    )
    if any(one for part in shown for name, one in part.items() if name.endswith(IS_LOWER_BOUND)):
        console.print(LEGEND)


def _hosts(groups: Mapping[str, Any]) -> str:
    """Names the hosts of the groups under congestion control, as in ", host linux"."""
    groups_of: dict[str, list[str]] = {}
    for name, group in groups.items():
        if group["congestion"] is not None:
            groups_of.setdefault(group["settings"]["host"], []).append(name)
    if len(groups_of) <= 1:
        return "".join(f", host {host}" for host in groups_of)
    parts = [f"{host} ({escape(', '.join(names))})" for host, names in groups_of.items()]
    return f", hosts {', '.join(parts)}"


def show_warnings(found: Iterable["RunWarning"], console: Console) -> None:
    """Prints each warning of a run on a line of its own, at most `MOST_WARNINGS` of a kind."""
    number: Counter[str] = Counter()
    for warning in found:
        number[warning["kind"]] += 1
        if number[warning["kind"]] <= MOST_WARNINGS:
            text = f"[yellow]warning:[/yellow] {escape(warning['text'])}"
            say(console, text, is_one_line=False)
    for kind, count in number.items():
        if count > MOST_WARNINGS:
            more = f"{count - MOST_WARNINGS:,} more of kind {kind}; --json has all"
            console.print(f"[yellow]warning:[/yellow] {more}", highlight=False)


def table_of(title: str, *headings: str) -> Table:
    """An empty table; the first column holds text, the others numbers."""
    return NumberTable(title, *headings)


def _of_interest(result: Result) -> dict[str, Any]:
    """The links with the largest loss, then the longest queues, in order; at most `MOST_LINKS`."""

    def interest(name: str) -> tuple[float, float]:
        link = result.links[name]
        return link["loss_fraction"] or 0.0, link["queue_delay_s_p99"] or 0.0

    shown = set(sorted(result.links, key=interest, reverse=True)[:MOST_LINKS])
    return {name: link for name, link in result.links.items() if name in shown}


def _links(links: Mapping[str, Any], part: str) -> Table:
    table = table_of(
        f"Links{part}",
        "link",
        "utilization",
        "loss",
        "queueing delay\nmean / p99",
        "queue\nmean",
        "limit",
    )
    for name, link in links.items():
        table.add_row(
            escape(name),
            _utilization(link),
            loss_and_marks(link),
            mean_and_p99(link, "queue_delay_s"),
            of(link, "queue_packets_mean"),
            limit(link),
        )
    return table


def _utilization(link: Mapping[str, Any]) -> str:
    """Writes the utilization and, if duplicates take a visible part, what is left without them."""
    used, new = link["utilization"], link["utilization_without_duplicates"]
    lines = [of(link, "utilization")]
    if used - new >= VISIBLE_DUPLICATES:
        lines.append(f"new {of(link, 'utilization_without_duplicates')}")
    return "\n".join(lines)


def _disciplines(links: Mapping[str, Any]) -> Table:
    table = table_of("Queue disciplines", "link", "kind", "reports", "value")
    for name, link in links.items():
        first_cells = (escape(name), link["discipline"])
        for quantity, value in link["discipline_state"].items():
            table.add_row(*first_cells, quantity, number(value, "{:,.6g}"))
            first_cells = ("", "")
    return table


def _pools(result: Result) -> Table:
    table = table_of(
        "Shared memory",
        "pool, link",
        "memory (B)\nmean / p99",
        "largest\n(B)",
        "share",
        "drops\nfull memory",
        "refused by\nthe threshold",
    )
    for name, pool in result.pools.items():
        refused = pool["drops_threshold_packets"] / max(pool["arrivals_packets"], 1)
        table.add_row(
            f"{escape(name)}, {size(pool['size_bytes'])}",
            mean_and_p99(pool, "memory_bytes"),
            of(pool, "memory_bytes_max"),
            "",
            count(pool["drops_pool_packets"]),
            shown("threshold_fraction", refused),
        )
        for link, part in pool["links"].items():
            table.add_row(
                f"  {escape(link)}",
                of(part, "memory_bytes_mean"),
                "",
                of(part, "memory_share"),
                count(result.links[link]["drops_pool_packets"]),
                of(part, "threshold_fraction"),
            )
    return table


def _pauses(links: Mapping[str, Any], part: str) -> Table:
    table = table_of(
        f"Pauses{part}",
        "link",
        "pause\nframes",
        "paused\ntime",
        "longest\npause",
        "ingress\nmost (B)",
        "headroom\nmost (B)",
        "blocked\ntime",
    )
    for name, link in links.items():
        if link["pause_frames"] is not None or link["blocked_fraction"]:
            table.add_row(
                escape(name),
                of(link, "pause_frames"),
                of(link, "paused_fraction"),
                of(link, "pause_s_max"),
                of(link, "ingress_bytes_max"),
                of(link, "headroom_bytes_max"),
                of(link, "blocked_fraction"),
            )
    return table


def _sharing(links: Mapping[str, Any], part: str) -> Table:
    table = table_of(
        f"Sharing of the links{part}",
        "link",
        "regime",
        "offered\nload",
        "in progress\nmean / p99",
        "bottlenecked\nmean / p99",
        "bottlenecked\nof the time",
    )
    for name, link in links.items():
        table.add_row(
            escape(name),
            link["regime"],
            of(link, "offered_load"),
            mean_and_p99(link, "flows_in_progress"),
            mean_and_p99(link, "bottlenecked_flows"),
            of(link, "bottlenecked_time_fraction"),
        )
    return table


def _sizes(groups: Mapping[str, Any], part: str) -> Table:
    table = table_of(
        f"Dynamic flows{part}{_handshakes(groups)}",
        "group",
        "payload from",
        "completed",
        "unfinished",
        "loss",
        "completion\ntime\nmean / p99",
        "slowdown\nmean / p99",
    )
    for name, group in groups.items():
        first_cell = escape(name)
        for sizes in group["size_classes"]:
            table.add_row(
                first_cell,
                size(sizes["from_bytes"]),
                of(sizes, "completed_flows"),
                of(sizes, "unfinished_flows"),
                of(sizes, "loss_fraction"),
                mean_and_p99(sizes, "completion_time_s"),
                mean_and_p99(sizes, "slowdown"),
            )
            first_cell = ""
    return table


def _coflows(groups: Mapping[str, Any], part: str) -> Table:
    table = table_of(
        f"Queries and steps{part}",
        "group",
        "completed",
        "unfinished",
        "completion\ntime mean",
        "median",
        "p99",
        "p99.9",
    )
    for name, group in groups.items():
        coflows = group["coflows"]
        keys = ("mean", "p50", "p99", "p999")
        times = (of(coflows, f"completion_time_s_{key}") for key in keys)
        counts = (of(coflows, f"{key}_coflows") for key in ("completed", "unfinished"))
        table.add_row(escape(name), *counts, *times)
    return table


def _handshakes(groups: Mapping[str, Any]) -> str:
    """Says of which groups the completion times include the handshake."""
    spends = {
        name: group["settings"].get("handshake") is True
        for name, group in groups.items()
        if group["size_classes"] and group["congestion"] is not None
    }
    if not spends:
        return ""
    if len(set(spends.values())) == 1:
        return f", times {'with' if all(spends.values()) else 'without'} the handshake"
    names = ", ".join(escape(name) for name, does in spends.items() if does)
    return f", times with the handshake: {names}"


def _groups(groups: Mapping[str, Any], part: str) -> Table:
    table = table_of(
        f"Groups of flows{part}",
        "group",
        "flows",
        "goodput",
        "loss",
        "RTT\nmean",
        "queueing\ndelay\nmean / p99",
        "Jain",
        "cuts /\ntimeouts",
    )
    for name, group in groups.items():
        table.add_row(
            escape(name),
            of(group, "flows"),
            of(group, "goodput_bps"),
            of(group, "loss_fraction"),
            of(group, "rtt_s_mean"),
            mean_and_p99(group, "queue_delay_s"),
            shown("jain_index", group["jain_index"] if group["flows"] > 1 else None),
            Parts(of(group, "congestion_events"), of(group, "timeouts")),
        )
    return table


def _unacknowledged(groups: Mapping[str, Any], part: str) -> Table:
    table = table_of(
        f"Sources without acknowledgements{part}",
        "group",
        "flows",
        "sent",
        "loss",
        "one-way\ndelay\nmean / p99",
        "jitter",
        "queueing\ndelay\nmean / p99",
    )
    for name, group in groups.items():
        table.add_row(
            escape(name),
            of(group, "flows"),
            of(group, "throughput_bps"),
            of(group, "loss_fraction"),
            mean_and_p99(group, "one_way_delay_s"),
            of(group, "jitter_s_mean"),
            mean_and_p99(group, "queue_delay_s"),
        )
    return table


def _flows(result: Result) -> Table:
    table = table_of("Flows", "flow", "goodput", "loss", "RTT mean", "window", "cuts", "timeouts")
    for flow in result.flows:
        is_controlled = flow["congestion"] is not None
        table.add_row(
            escape(flow["name"]),
            of(flow, "goodput_bps"),
            of(flow, "loss_fraction"),
            of(flow, "rtt_s_mean"),
            of(flow, "cwnd_packets_mean"),
            shown("congestion_events", flow["congestion_events"] if is_controlled else None),
            shown("timeouts", flow["timeouts"] if is_controlled else None),
        )
    return table


def _speed(summary: Mapping[str, Any]) -> str:
    timing = summary["timing"]
    wall_s = timing["wall_s"]
    line = f"{timing['packet_hops']:,} packet-hops in {wall_s:.2f} s"
    if timing["ns_per_packet_hop"] is not None:
        line += f", {timing['ns_per_packet_hop']:.1f} ns per packet-hop"
    return f"{line}, {summary['measured_to_s'] / wall_s:,.1f} times real time"


def number(value: float | None, layout: str) -> str:
    """Writes a number, or a dash if it is undefined."""
    return "-" if value is None else layout.format(value)


def of(values: Mapping[str, Any], metric: str) -> str:
    """Writes a metric of a link, a group or a flow."""
    return f"{mark(values, metric)}{shown(metric, values[metric])}"


def shown(metric: str, value: float | None) -> str:
    """Writes a value of a metric with its unit, or a dash if it is undefined."""
    return "-" if value is None else metric_of(metric).unit.brief(value)


def count(value: float | None) -> str:
    """Writes a whole number."""
    return "-" if value is None else metric_units.count(value)


def packets(value: float | None) -> str:
    """Writes a number of packets, which may be a fraction."""
    return "-" if value is None else metric_units.packets(value)


def rate(value_bps: float) -> str:
    """Writes a rate, in bit/s, with an SI prefix."""
    return metric_units.rate(value_bps)


def loss_and_marks(link: Mapping[str, Any]) -> str:
    """Writes the fraction of arrivals that were dropped and, if there are any, marked."""
    loss, marks = shown("loss_fraction", link["loss_fraction"]), link["marks_packets"]
    if not marks:
        return loss
    return f"{loss}\nmarks {shown('marked_fraction', marks / link['arrivals_packets'])}"


def mean_and_p99(values: Mapping[str, Any], quantity: str) -> Parts:
    """Writes mean and 99th percentile of a quantity."""
    return Parts(of(values, f"{quantity}_mean"), of(values, f"{quantity}_p99"))


def size(value_bytes: float) -> str:
    """Writes a size, in bytes, with an SI prefix."""
    for unit_bytes, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value_bytes >= unit_bytes:
            return f"{value_bytes / unit_bytes:g} {unit}"
    return f"{value_bytes:.0f} B"


def limit(link: Mapping[str, Any]) -> Parts:
    """Writes a buffer limit in packets, bytes, milliseconds at the link's rate, and bdp."""
    lines = [
        metric_units.packet_limit(link["limit_packets"]),
        f"{link['limit_bytes']:,.0f} B",
        f"{link['limit_ms']:,.2f} ms",
    ]
    if link["limit_bdp"] is not None:
        lines.append(f"{link['limit_bdp']:.3f} bdp")
    return Parts(*lines, between=" = ")
