"""A result as printed tables."""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from tailroom import _engine, written_numbers
from tailroom.cli.metric_cells import heading
from tailroom.cli.options import UNITS_S
from tailroom.cli.sentences import say
from tailroom.cli.table import NumberTable, Parts
from tailroom.cli.terminal_text import escape
from tailroom.simulation.lower_bounds import LEGEND, mark
from tailroom.simulation.metric_catalogue import IS_LOWER_BOUND, metric_of
from tailroom.simulation.result import Result

if TYPE_CHECKING:
    from tailroom.models import Bottleneck
    from tailroom.simulation.result_types import RunWarning, Timing

VISIBLE_DUPLICATES = 1e-3
"""Fraction of a link's capacity from which on duplicates are printed."""
_OF_HOST = re.compile(r"-h\d+-\w+$")
"""Ends the name of a link from a host to its switch."""
MOST_ROWS, MOST_ROWS_EXPLAINED = 10, 100
"""Maximum number of links, ports of a pool, flows and groups that are printed one by one; the
second with `--explain`."""
MOST_WARNINGS = 10
"""Maximum number of warnings of a kind that are printed one by one."""

Named = Mapping[str, Mapping[str, Any]]
"""Statistics of links, groups or flows by name."""


@dataclass(frozen=True)
class Shown:
    """A column of a table: heading, and the cells of links, groups or flows."""

    heading: str
    cells: Callable[[Sequence[Any]], Sequence[str | Parts]]


def _each(heading_text: str, cell: Callable[[Any], str | Parts]) -> Shown:
    """A column whose cells do not depend on one another."""
    return Shown(heading_text, lambda rows: [cell(values) for values in rows])


def show(result: Result, console: Console, *, explain: bool = False) -> None:
    """Prints what a run is about: links, memory, groups and warnings.

    Args:
        result: The result of the run.
        console: Where to print it.
        explain: Print what explains these numbers, too: more links, groups and flows, the queues in
            packets, limits in every unit, the state of disciplines, how flows share the links,
            dynamic flows by size, and the speed of the run.
    """
    summary = result.summary
    if summary["title"]:
        console.print(f"[bold]{escape(summary['title'])}[/bold]", highlight=False)
    say(
        console,
        f"seed {summary['seed']}, statistics from {summary['measured_from_s']:g} s "
        f"to {summary['measured_to_s']:g} s{_hosts(result.groups)}",
        is_one_line=False,
    )
    most = MOST_ROWS_EXPLAINED if explain else MOST_ROWS
    busy = {name: link for name, link in result.links.items() if link["arrivals_packets"]}
    links = _first(result.links if len(result.links) <= most else busy, most, _by_loss_and_delay)
    part = _part(links, result.links, "loss and queueing delay")
    console.print(_table(f"Links{part}", "link", _of_links(result, explain=explain), links))
    if explain and any(link["discipline_state"] for link in links.values()):
        console.print(_disciplines(links))
    for name, pool in result.pools.items():
        console.print(_pool(name, pool, result, most))
    paused = {name: link for name, link in links.items() if _may_pause(link)}
    if any(link["pause_frames"] is not None for link in paused.values()):
        console.print(_table(f"Pauses{part}", "link", PAUSES, paused))
    if explain:
        console.print(_table(f"Sharing of the links{part}", "link", SHARING, links))
    _show_groups(result.groups, console, most, explain=explain)
    if 1 < len(result.flows) <= most:
        flows = {flow["name"]: flow for flow in result.flows}
        console.print(_table("Flows", "flow", FLOWS, flows))
    console.print()
    show_warnings(summary["warnings"], console)
    if explain and result.timing:
        say(console, _speed(result.timing, summary["measured_to_s"]), is_one_line=False)


def _show_groups(all_groups: Named, console: Console, most: int, *, explain: bool) -> None:
    """Prints what concerns groups, at most so many of each kind: those that lose most."""
    for title, columns, is_shown in (
        ("Groups of flows", GROUPS, lambda group: group["congestion"] is not None),
        (
            "Sources without acknowledgements",
            UNACKNOWLEDGED,
            lambda group: group["congestion"] is None,
        ),
        ("Dynamic flows", SIZES, lambda group: group["size_classes"]),
        ("Queries and steps", COFLOWS, lambda group: group["coflows"]),
    ):
        concerned = {name: group for name, group in all_groups.items() if is_shown(group)}
        if not concerned:
            continue
        groups = _first(concerned, most, lambda _, group: group["loss_fraction"] or 0.0)
        part = _part(groups, concerned, "loss; --json has all")
        if columns is SIZES:
            part = f"{_handshakes(groups)}{part}"
            if explain:
                console.print(_by_size(f"{title}{part}", groups))
                continue
            groups = {name: group["all_sizes"] for name, group in groups.items()}
        elif columns is COFLOWS:
            groups = {name: group["coflows"] for name, group in groups.items()}
        console.print(_table(f"{title}{part}", "group", columns, groups))
    parts = (
        part
        for group in all_groups.values()
        for part in (*group["size_classes"], group["coflows"] or {})
    )
    if any(one for part in parts for name, one in part.items() if name.endswith(IS_LOWER_BOUND)):
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


def _table(title: str, first: str, columns: Iterable[Shown], rows: Named) -> Table:
    """A table with a row per name; a column without any value is left out."""
    cells = {column: column.cells([*rows.values()]) for column in columns}
    filled = {column: some for column, some in cells.items() if any(map(_is_known, some))}
    table = table_of(title, first, *(column.heading for column in filled))
    for name, *of_row in zip(rows, *filled.values(), strict=True):
        table.add_row(escape(name), *of_row)
    return table


def _is_known(cell: str | Parts) -> bool:
    return any(
        part not in ("", "-") for part in (cell.values if isinstance(cell, Parts) else (cell,))
    )


def _first(rows: Named, most: int, interest: Callable[[str, Any], Any]) -> Named:
    """The rows of most interest, in their order; all if there are few."""
    if len(rows) <= most:
        return rows
    kept = set(sorted(rows, key=lambda name: interest(name, rows[name]), reverse=True)[:most])
    return {name: values for name, values in rows.items() if name in kept}


def _part(shown_rows: Named, all_rows: Named, order: str) -> str:
    """The end of a title that says which rows a table has, unless it has all."""
    if len(shown_rows) == len(all_rows):
        return ""
    return f": {len(shown_rows)} of {len(all_rows):,}, by {order}"


def _by_loss_and_delay(name: str, link: Mapping[str, Any]) -> tuple[float, bool, float]:
    """Loss, then delay, at links of hosts last: their queue is their own."""
    is_port = not _OF_HOST.search(name)
    return link["loss_fraction"] or 0.0, is_port, link["queue_delay_s_p99"] or 0.0


def _may_pause(link: Mapping[str, Any]) -> bool:
    return link["pause_frames"] is not None or bool(link["blocked_fraction"])


def _of_links(result: Result, *, explain: bool) -> list[Shown]:
    """The columns of links; their queues in packets and every unit of the limit on request."""
    pools = {link: name for name, pool in result.pools.items() for link in pool["links"]}
    names = {id(link): name for name, link in result.links.items()}
    written = _written_limits(result)

    def limit_of(link: Mapping[str, Any]) -> str | Parts:
        pool = pools.get(names[id(link)])
        # The memory is not this port's alone, so that its time and bdp would say nothing.
        if pool and link["limit_bytes"] >= result.pools[pool]["shared_bytes"]:
            return f"pool {escape(pool)}"
        return _every_unit(link) if explain else limit(link, written.get(names[id(link)]))

    queue = [_metric("queue_packets_mean")] if explain else []
    return [
        _each("utilization", _utilization),
        _each(heading("loss_fraction"), loss_and_marks),
        _statistics("queue_delay_s", "mean", "p99"),
        *queue,
        _each("limit", limit_of),
    ]


def _utilization(link: Mapping[str, Any]) -> str:
    """Writes the utilization and, if duplicates take a visible part, what is left without them."""
    used, new = link["utilization"], link["utilization_without_duplicates"]
    lines = [of(link, "utilization")]
    if used - new >= VISIBLE_DUPLICATES:
        lines.append(f"new {of(link, 'utilization_without_duplicates')}")
    return "\n".join(lines)


def _disciplines(links: Named) -> Table:
    table = table_of("Queue disciplines", "link", "kind", "reports", "value")
    for name, link in links.items():
        first_cells = (escape(name), link["discipline"])
        for quantity, value in link["discipline_state"].items():
            table.add_row(*first_cells, quantity, shown(quantity, value))
            first_cells = ("", "")
    return table


def _pool(name: str, pool: Mapping[str, Any], result: Result, most: int) -> Table:
    """A pool and its ports that held memory, those that held most."""
    holding = {
        link: part
        for link, part in pool["links"].items()
        if part["memory_bytes_mean"] or part["threshold_fraction"]
    }
    ports = _first(holding, most, lambda _, part: part["memory_bytes_mean"] or 0.0)
    table = table_of(
        f"Shared memory of {escape(name)}, {written_numbers.size(pool['size_bytes'])}"
        f"{_part(ports, pool['links'], 'memory')}",
        "link",
        heading("memory_bytes_mean", "memory_bytes_p99", "memory_bytes_max"),
        "share",
        "drops by\nfull memory",
        "refused by\nthreshold",
    )
    refused = pool["drops_threshold_packets"] / max(pool["arrivals_packets"], 1)
    of_all = [pool[f"memory_bytes_{statistic}"] for statistic in ("mean", "p99", "max")]
    of_ports = [part["memory_bytes_mean"] for part in ports.values()]
    write = metric_of("memory_bytes_mean").unit.writer([*of_all, *of_ports])
    table.add_row(
        "all",
        Parts(*(_or_dash(value, write) for value in of_all)),
        "",
        count(pool["drops_pool_packets"]),
        shown("threshold_fraction", refused),
    )
    for (link, part), memory in zip(ports.items(), of_ports, strict=True):
        table.add_row(
            escape(link),
            _or_dash(memory, write),
            of(part, "memory_share"),
            count(result.links[link]["drops_pool_packets"]),
            of(part, "threshold_fraction"),
        )
    return table


def _by_size(title: str, groups: Named) -> Table:
    """Dynamic flows by the size of their payload."""
    table = table_of(title, "group", "payload from", *(column.heading for column in SIZES))
    rows = [
        (escape(name) if place == 0 else "", sizes)
        for name, group in groups.items()
        for place, sizes in enumerate(group["size_classes"])
    ]
    every = [sizes for _, sizes in rows]
    columns = (column.cells(every) for column in SIZES)
    for (name, sizes), *cells in zip(rows, *columns, strict=True):
        table.add_row(name, written_numbers.size(sizes["from_bytes"]), *cells)
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


def _speed(timing: "Timing", simulated_s: float) -> str:
    wall_s = timing["wall_s"]
    line = (
        f"{count(timing['packet_hops'])} packet-hops in {written_numbers.significant(wall_s, 3)} s"
    )
    if timing["ns_per_packet_hop"] is not None:
        line += f", {written_numbers.significant(timing['ns_per_packet_hop'], 3)} ns per packet-hop"
    return f"{line}, {count(simulated_s / wall_s)} times real time"


def of(values: Mapping[str, Any], metric: str) -> str:
    """Writes a metric of a link, a group or a flow."""
    return f"{mark(values, metric)}{shown(metric, values[metric])}"


def shown(metric: str, value: float | None) -> str:
    """Writes a value of a metric with its unit, or a dash if it is undefined."""
    return "-" if value is None else metric_of(metric).unit.text(value)


def count(value: float | None) -> str:
    """Writes a whole number."""
    return "-" if value is None else written_numbers.count(value)


def packets(value: float | None) -> str:
    """Writes a number of packets, which may be a fraction."""
    return "-" if value is None else written_numbers.packets(value)


def rate(value_bps: float) -> str:
    """Writes a rate, in bit/s, with an SI prefix."""
    return written_numbers.rate(value_bps)


def rate_of_link(link: "Bottleneck") -> str:
    """Writes the rate of a link; of one that is policed or shaped, that of the line and of each."""
    buckets = [
        f"a {kind} of {rate(_engine.quantity('rate', link.port[f'{kind}.rate']))}"
        for kind in ("policer", "shaper")
        if f"{kind}.rate" in link.port
    ]
    if not buckets or "rate" not in link.port:
        return rate(link.rate_bps)
    line = rate(_engine.quantity("rate", link.port["rate"]))
    return f"{line} behind {' and '.join(buckets)}"


def loss_and_marks(link: Mapping[str, Any]) -> str:
    """Writes the fraction of arrivals that were dropped and, if there are any, marked."""
    loss, marks = shown("loss_fraction", link["loss_fraction"]), link["marks_packets"]
    if not marks:
        return loss
    return f"{loss}\nmarks {shown('marked_fraction', marks / link['arrivals_packets'])}"


def limit(link: Mapping[str, Any], written: str | None) -> Parts:
    """Writes a limit as the scenario has it, and as the time that it takes to send.

    Args:
        link: The statistics of the link.
        written: The limit in the scenario; `None` if another key sets it.
    """
    packets_text, size, time, *_ = _amounts(link)
    number, _, unit = (written or packets_text).partition(" ")
    own = f"{int(number):,} {unit}" if number.isdecimal() else f"{number} {unit}"
    return Parts(own, size if unit in UNITS_S else time, between=", ")


def _every_unit(link: Mapping[str, Any]) -> Parts:
    return Parts(*_amounts(link), between=", ")


def _amounts(link: Mapping[str, Any]) -> list[str]:
    """A limit in packets, bytes, as time, and in bdp if the link has one."""
    amounts = [
        written_numbers.packet_limit(link["limit_packets"]),
        f"{link['limit_bytes']:,.0f} B",
        written_numbers.exact_delay(link["limit_ms"] / 1e3),
    ]
    if link["limit_bdp"] is not None:
        amounts.append(written_numbers.exact_bdp(link["limit_bdp"]))
    return amounts


def _written_limits(result: Result) -> dict[str, str]:
    """The limits of the links that the scenario has, as it has them; of few links."""
    if len(result.links) > MOST_ROWS_EXPLAINED:
        return {}
    links = tomllib.loads(result.scenario)["links"]
    queues = {name: link.get("queue", {}) for name, link in links.items()}
    return {name: str(queue["limit"]) for name, queue in queues.items() if "limit" in queue}


def column(rows: Sequence[Mapping[str, Any]], metric: str) -> list[str]:
    """Writes a metric of links, groups, flows or predictions, all in one unit; a dash for none."""
    return [cell for (cell,) in _together(rows, metric)]


def _together(rows: Sequence[Mapping[str, Any]], *metrics: str) -> list[tuple[str, ...]]:
    """Writes several statistics of a quantity of each row, all in one unit."""
    write = metric_of(metrics[0]).unit.writer(values[name] for values in rows for name in metrics)
    return [
        tuple(f"{mark(values, name)}{_or_dash(values[name], write)}" for name in metrics)
        for values in rows
    ]


def _or_dash(value: float | None, write: Callable[[float], str]) -> str:
    return "-" if value is None else write(value)


def _metric(name: str) -> Shown:
    return Shown(heading(name), lambda rows: column(rows, name))


def _statistics(quantity: str, *statistics: str) -> Shown:
    """Several statistics of a quantity in one column, as in `mean / p99`."""
    names = [f"{quantity}_{statistic}" for statistic in statistics]
    return Shown(heading(*names), lambda rows: [Parts(*cells) for cells in _together(rows, *names)])


def _of_controlled(name: str) -> Shown:
    """A count of flows under congestion control."""
    return _each(
        heading(name),
        lambda flow: "-" if flow["congestion"] is None else of(flow, name),
    )


GROUPS = (
    _metric("flows"),
    _metric("goodput_bps"),
    _metric("loss_fraction"),
    _metric("rtt_s_mean"),
    _statistics("queue_delay_s", "mean", "p99"),
    _each(
        heading("jain_index"),
        lambda group: shown("jain_index", group["jain_index"] if group["flows"] > 1 else None),
    ),
    _each(
        f"{heading('congestion_events')} /\n{heading('timeouts')}",
        lambda group: Parts(of(group, "congestion_events"), of(group, "timeouts")),
    ),
)
UNACKNOWLEDGED = (
    _metric("flows"),
    _metric("throughput_bps"),
    _metric("loss_fraction"),
    _statistics("one_way_delay_s", "mean", "p99"),
    _metric("jitter_s_mean"),
    _statistics("queue_delay_s", "mean", "p99"),
)
FLOWS = (
    _metric("goodput_bps"),
    _metric("loss_fraction"),
    _metric("rtt_s_mean"),
    _metric("cwnd_packets_mean"),
    _of_controlled("congestion_events"),
    _of_controlled("timeouts"),
)
SIZES = (
    _metric("completed_flows"),
    _metric("unfinished_flows"),
    _metric("loss_fraction"),
    _statistics("completion_time_s", "mean", "p99"),
    _statistics("slowdown", "mean", "p99"),
)
COFLOWS = (
    _metric("completed_coflows"),
    _metric("unfinished_coflows"),
    *(
        Shown(heading(f"coflows.{name}"), _metric(name).cells)
        for name in (f"completion_time_s_{key}" for key in ("mean", "p50", "p99", "p999"))
    ),
)
PAUSES = (
    _metric("pause_frames"),
    _metric("paused_fraction"),
    _metric("pause_s_max"),
    _metric("ingress_bytes_max"),
    _metric("headroom_bytes_max"),
    _metric("blocked_fraction"),
)
SHARING = (
    _each("regime", lambda link: str(link["regime"])),
    _metric("offered_load"),
    _statistics("flows_in_progress", "mean", "p99"),
    _statistics("bottlenecked_flows", "mean", "p99"),
    _metric("bottlenecked_time_fraction"),
)
