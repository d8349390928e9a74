"""Figure 19: incast at a switch with dynamic buffering, over the number of servers."""

from tailroom_papers.dctcp_2010 import figure_18, points, variants
from tailroom_papers.dctcp_2010.drawing import draw_queries
from tailroom_papers.dctcp_2010.figure_13 import memory_bytes_max
from tailroom_papers.dctcp_2010.queries import p95_s, timeouts, with_timeout
from tailroom_papers.dctcp_2010.setup import BOUNDS, LABELS, Incast, incast
from tailroom_papers.framework import *

JUDGED = (10, 20, 40)
"""Servers at which claims are judged."""
SERVERS = (1, 10, 20, 30, 40)


def studies(form: Form) -> list[Study]:
    """Both controls with shared memory, and the static ports with which the paper compares."""
    servers = form.of(JUDGED, JUDGED, SERVERS)
    static = figure_18.cases((20, 40), ["10 ms"])
    return [
        incast("dynamic", figure_18.cases(servers, ["10 ms"]), form),
        incast("static", static, form, figure_18.STATIC),
    ]


def variations(form: Form) -> list[Variation]:
    """The hosts that the paper leaves open, at the judged numbers of servers."""
    if form is not Form.FULL:
        return []
    judged = [*(Incast("dctcp", servers) for servers in JUDGED), Incast("reno", JUDGED[-1])]
    names = ("dctcp-none", "tcp-continues")
    kept = Variation(
        "an initial window of a whole answer",
        [incast("dynamic", judged[-1:], form).varied({"defaults.initial_window": 18})],
        names[1:],
        plausible=False,
        reason="chosen after the results, to see what windows do that connections keep from query "
        "to query: an answer of 25 kB has 18 packets, the most that can remain",
    )
    return [kept, *variants.of(incast("dynamic", judged, form), names)]


def at(results: PartResults, control: str, servers: int) -> PointResults:
    """Returns the runs of a control with a number of servers."""
    return points.at(results.study("dynamic"), control, servers)


def judge_none(results: PartResults) -> Judgement:
    """DCTCP has no timeout with up to 40 servers."""
    checks = [
        at(results, "dctcp", servers).below(
            f"timeouts, DCTCP, {servers} servers", timeouts, BOUNDS["no-timeouts"]
        )
        for servers in JUDGED
    ]
    return Judgement(
        tuple(checks),
        lambda: (
            f"The port may take 700 kB, and takes {_memory(results, 'dctcp', 40)} with 40 servers."
        ),
    )


def judge_continues(results: PartResults) -> Judgement:
    """TCP has timeouts with 40 servers."""
    check = at(results, "reno", 40).above(
        "queries with a timeout, TCP, 40 servers", with_timeout, BOUNDS["begins"]
    )
    return Judgement(
        (check,),
        lambda: (
            "The answers of 40 servers, which begin in slow start, take "
            f"{_memory(results, 'reno', 40)} of the 700 kB. "
            + points.shares(results.study("dynamic"), "reno")
            + " The connections of the paper stay open, and may keep larger windows."
        ),
    )


def _memory(results: PartResults, control: str, servers: int) -> str:
    """Returns the largest memory that the ports take, in words."""
    return f"at most {at(results, control, servers).mean(memory_bytes_max) / 1e3:.0f} kB"


def judge_mitigates(results: PartResults) -> Judgement:
    """TCP has fewer timeouts than with static ports."""
    checks = [
        less(
            f"queries with a timeout, TCP, {servers} servers: dynamic less static",
            at(results, "reno", servers),
            points.at(results.study("static"), "reno", servers),
            with_timeout,
            "fewer",
            percent=True,
        )
        for servers in (20, 40)
    ]
    return Judgement(tuple(checks), MITIGATES)


MITIGATES = (
    "Every query has a timeout at a static port and none has one here: relief is complete, where "
    "the paper has it in part."
)


def judge_ten(results: PartResults) -> Judgement:
    """10 servers cause no timeouts under either control."""
    checks = [
        at(results, control, 10).below(
            f"timeouts, {label}, 10 servers", timeouts, BOUNDS["no-timeouts"]
        )
        for control, label in LABELS.items()
    ]
    return Judgement(
        tuple(checks),
        lambda: f"The answers take {_memory(results, 'reno', 10)} under TCP, of 700 kB.",
    )


def judge_table_2(results: PartResults) -> Judgement:
    """The 95th percentiles with 10 servers are those of Table 2."""
    checks = (
        at(results, "reno", 10).between("95th percentile, TCP, s", p95_s, BOUNDS["p95-tcp"]),
        at(results, "dctcp", 10).between("95th percentile, DCTCP, s", p95_s, BOUNDS["p95-dctcp"]),
    )
    return Judgement(
        checks,
        "Queries take little more than their bytes, 8.2 ms with headers. Measurements contain "
        "delays of hosts, which our runs do not have.",
    )


def draw(results: PartResults) -> Figure:
    """Completion time, and share of queries with timeouts."""
    study = results.study("dynamic")
    lines = {Incast(control, 1).label: points.of(study, control) for control in LABELS}
    return draw_queries("Figure 19: queries at a switch with dynamic buffering", lines)


CLAIMS = (
    Claim(
        "dctcp-none",
        "DCTCP no longer suffers incast timeouts even when the number of servers grows to 40.",
        "Sec. 4.2.1, Figure 19",
        judge_none,
    ),
    Claim(
        "tcp-continues",
        "TCP continues to suffer from incast timeouts.",
        "Sec. 4.2.1, Figure 19",
        judge_continues,
    ),
    Claim(
        "mitigates",
        "The dynamic buffering algorithm mitigates the impact on TCP.",
        "Sec. 4.2.1",
        judge_mitigates,
    ),
    Claim(
        "ten",
        "The switch can easily handle 10:1 incast with both TCP and DCTCP, without inducing any "
        "timeouts.",
        "Sec. 4.2.3",
        judge_ten,
    ),
    Claim(
        "table-2",
        "The 95th percentile of query completion time of 10:1 incast is 9.87 ms under TCP and "
        "9.17 ms under DCTCP.",
        "Table 2, without background traffic",
        judge_table_2,
    ),
)
PART = Part(
    name="19",
    title="Incast with dynamic buffering",
    studies=studies,
    draw=draw,
    claims=CLAIMS,
    conditions=(points.explained("dynamic-explained", "dynamic"),),
    note=(
        "As Figure 18, with the timeout of 10 ms, and with 4 MB that the ports share. The dynamic "
        "threshold gives a single busy port 700 kB, as the paper states."
    ),
    caption=figure_18.PART.caption,
    variations=variations,
)
