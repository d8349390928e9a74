"""Figure 18: incast at ports with a static buffer, over the number of servers."""

from collections.abc import Sequence

from tailroom_papers.dctcp_2010 import points, variants
from tailroom_papers.dctcp_2010.drawing import draw_queries
from tailroom_papers.dctcp_2010.queries import mean_s, with_timeout
from tailroom_papers.dctcp_2010.setup import (
    BOUNDS,
    LABELS,
    RTOS,
    SENDERS_WORDS,
    Incast,
    incast,
)
from tailroom_papers.framework import *

STATIC = "100 kB"
"""The paper writes 100 packets, and computes with 100 KB."""
JUDGED = (5, 10, 20, 30, 40)
"""Servers at which claims are judged."""
TCP_BEGINS, DCTCP_BEGINS = (5, 20), (30, 40)
"""Servers between which each control begins to have timeouts."""
SERVERS = (1, 5, 10, 15, 20, 25, 30, 35, 40)


def cases(servers: Sequence[int], rtos: Sequence[str]) -> list[Incast]:
    """Returns both controls with these timeouts and numbers of servers."""
    return [Incast(control, n, rto) for control in LABELS for rto in rtos for n in servers]


def studies(form: Form) -> list[Study]:
    """Both controls, with both timeouts."""
    servers = form.of(JUDGED, JUDGED, SERVERS)
    return [incast("static", cases(servers, RTOS), form, STATIC)]


def variations(form: Form) -> list[Variation]:
    """The readings and the hosts that the paper leaves open, with the timeout of 10 ms."""
    if form is not Form.FULL:
        return []
    judged = [Incast("reno", n) for n in TCP_BEGINS] + [Incast("dctcp", n) for n in DCTCP_BEGINS]
    names = ("tcp-begins", "dctcp-begins")
    as_packets = Variation(
        "100 packets of 1500 B for each port",
        [incast("static", judged, form, "100 packets")],
        names,
        reason="the paper's words for the set-up; its explanation of the 35 senders computes with "
        "100 KB",
    )
    own = incast("static", judged, form, STATIC)
    slow_start = Variation(
        "slow start ends at 4 packets",
        [incast("static", judged[:2], form, STATIC).varied({"defaults.initial_ssthresh": 4})],
        names[:1],
        plausible=False,
        reason="chosen after the results, to see whether slow start, which a connection that "
        "stays open does not repeat, overfills the port",
    )
    return [as_packets, slow_start, *variants.of(own, names)]


def at(results: PartResults, control: str, servers: int, min_rto: str = "10 ms") -> PointResults:
    """Returns the runs of a control with a number of servers."""
    return points.at(results.study("static"), control, servers, min_rto)


def ratio(
    results: PartResults, servers: int, min_rto: str, of_dctcp: str = "10 ms"
) -> Interval | None:
    """Returns the mean completion time of DCTCP over that of TCP.

    Args:
        results: Results of the part.
        servers: Number of servers.
        min_rto: The shortest timeout of TCP.
        of_dctcp: That of DCTCP, which matters only where DCTCP has timeouts.
    """
    dctcp, tcp = at(results, "dctcp", servers, of_dctcp), at(results, "reno", servers, min_rto)
    return paired_ratio(dctcp, tcp, mean_s)


def judge_floor(results: PartResults) -> Judgement:
    """Queries without timeouts take what their bytes take."""
    ten = at(results, "dctcp", 10)
    check = ten.between("mean completion time, DCTCP, 10 servers, s", mean_s, BOUNDS["around-8-ms"])
    return Judgement((check,), "1 MB takes 8.2 ms with its headers; slow start adds the rest.")


def judge_tcp(results: PartResults) -> Judgement:
    """TCP has hardly a timeout with 5 servers, and many with 20."""
    few, many = (at(results, "reno", servers) for servers in TCP_BEGINS)
    checks = (
        few.below("queries with a timeout, TCP, 5 servers", with_timeout, BOUNDS["begins"]),
        many.above("queries with a timeout, TCP, 20 servers", with_timeout, BOUNDS["begins"]),
    )
    return Judgement(checks, lambda: points.shares(results.study("static"), "reno"))


def judge_dctcp(results: PartResults) -> Judgement:
    """DCTCP has timeouts only beyond about 35 servers."""
    few, many = (at(results, "dctcp", servers) for servers in DCTCP_BEGINS)
    checks = (
        few.below("queries with a timeout, DCTCP, 30 servers", with_timeout, BOUNDS["begins"]),
        many.above("queries with a timeout, DCTCP, 40 servers", with_timeout, BOUNDS["begins"]),
    )
    return Judgement(checks, lambda: points.shares(results.study("static"), "dctcp"))


def judge_better(results: PartResults) -> Judgement:
    """DCTCP takes at most half of the time that TCP takes, with either timeout."""
    checks = [
        below(
            f"DCTCP over TCP, timeout {rto}, {servers} servers",
            ratio(results, servers, rto),
            BOUNDS["much-better"],
        )
        for rto in RTOS
        for servers in (20, 30)
    ]
    return Judgement(tuple(checks), BETTER)


BETTER = (
    "TCP waits for a timer in every query or nearly so, and DCTCP in none. A wait of 10 ms about "
    "doubles the 8 ms of a query, so that the ratio is near the bound; one of 300 ms decides all."
)


def judge_converges(results: PartResults) -> Judgement:
    """With 40 servers both have the same timeouts."""
    checks = [
        between(
            f"DCTCP over TCP, timeout {rto}, 40 servers",
            ratio(results, 40, rto, rto),
            BOUNDS["equivalent"],
        )
        for rto in RTOS
    ]
    return Judgement(
        tuple(checks),
        "The first windows, 80 packets, overfill a port of 66, whatever the control does next.",
    )


def draw(results: PartResults) -> Figure:
    """Completion time, and share of queries with timeouts."""
    study = results.study("static")
    lines = {
        Incast(control, 1, rto).label: points.of(study, control, rto)
        for control in LABELS
        for rto in RTOS
    }
    return draw_queries("Figure 18: queries at a port with a static buffer of 100 kB", lines)


CLAIMS = (
    Claim(
        "floor",
        "The minimum query completion time is around 8 ms.",
        "Sec. 4.2.1",
        judge_floor,
    ),
    Claim(
        "tcp-begins",
        "TCP begins to suffer timeouts when the number of servers exceeds 10.",
        "Sec. 4.2.1, Figure 18(b)",
        judge_tcp,
    ),
    Claim(
        "dctcp-begins",
        "DCTCP senders only suffer timeouts once the number of senders is large enough so that "
        "each sending 2 packets exceeds the static buffer size (35 times 2 times 1.5 KB is more "
        "than 100 KB).",
        "Sec. 4.2.1, Figure 18(b)",
        judge_dctcp,
    ),
    Claim(
        "much-better",
        "DCTCP performs much better than both TCP variants.",
        "Sec. 4.2.1, Figure 18(a)",
        judge_better,
    ),
    Claim(
        "converges",
        "DCTCP eventually converges to equivalent performance as incast degree increases.",
        "Sec. 4.2.1, Figure 18(a)",
        judge_converges,
    ),
)
PART = Part(
    name="18",
    title="Incast with a static buffer",
    studies=studies,
    draw=draw,
    claims=CLAIMS,
    conditions=(points.explained("static-explained", "static"),),
    note=(
        "A client asks n servers for 1 MB / n each, and asks again when it has all answers. "
        + SENDERS_WORDS
        + "The paper has 1000 queries for each point; we have four runs of 4 s, and of 8 s with "
        "the timeout of 300 ms. The connections of the paper stay open from query to query; ours "
        "are open, and begin each query with a window of 2 packets. The paper gives each port 100 "
        "packets, and explains the 35 senders by 100 KB: we take 100 kB, and vary it."
    ),
    caption=(
        "Left: mean completion time of the queries, with the time that 1 MB takes. Right: share of "
        "queries that take as long as the shortest timeout, or longer. Bands are 95 % intervals."
    ),
    variations=variations,
)
