"""Figure 20: all machines ask all others at once."""

import numpy as np

from tailroom_papers.dctcp_2010.queries import (
    durations_s,
    timeouts,
    timeouts_per_query,
    with_timeout,
)
from tailroom_papers.dctcp_2010.setup import (
    BOUNDS,
    CONTROL,
    LABELS,
    MACHINES,
    POOL,
    QUERY,
    QUEUE,
    hosts,
    port,
    scenario,
    together,
)
from tailroom_papers.framework import *

SOURCE = {**QUERY["source"], "flow_log": 40 * 1000}
ALL_TO_ALL = scenario(
    "DCTCP 2010: all-to-all incast",
    {
        f"client{number}": {**QUERY, "to": f"tor.h{number}", "source": SOURCE}
        for number in range(MACHINES)
    },
)


def studies(form: Form) -> list[Study]:
    """Each control."""
    rows = [{**hosts(control), QUEUE: port(control)} for control in LABELS]
    return [
        Study(
            "all-to-all",
            ALL_TO_ALL,
            together=together(rows),
            set={"switches.tor.pool": POOL, "duration": form.of("0.1 s", "0.3 s", "1 s")},
            seeds=form.of(2, 2, 5),
            keep=("flow_log",),
        )
    ]


def at(results: PartResults, control: str) -> PointResults:
    """Returns the runs of a control."""
    return results.study("all-to-all").at({CONTROL: control})


def judge_dctcp(results: PartResults) -> Judgement:
    """DCTCP has no timeout."""
    check = at(results, "dctcp").below("timeouts, DCTCP", timeouts, BOUNDS["no-timeouts"])
    return Judgement(
        (check,),
        "41 queues of some 20 packets, and of two packets per server when queries begin, fit into "
        "the 4 MB.",
    )


def judge_tcp(results: PartResults) -> Judgement:
    """More than 55 % of the queries under TCP have a timeout."""
    tcp = at(results, "reno")
    checks = (
        tcp.above("queries of 10 ms and more, TCP", with_timeout, BOUNDS["over-55"]),
        tcp.above("timeouts per query, TCP", timeouts_per_query, BOUNDS["over-55"], percent=False),
    )
    return Judgement(
        checks,
        lambda: "Results do not say which queries had a timeout. If more than 55 % had one, then so "
        "many took 10 ms, and there are so many timeouts per query. Under DCTCP "
        f"{shown(at(results, 'dctcp').interval(with_timeout), True)} of the queries take 10 ms or "
        "more, without a timeout.",
    )


def draw(results: PartResults) -> Figure:
    """The distribution of completion times."""
    figure, (panel,) = figure_of("Figure 20: all-to-all incast", size=(6.4, 4.2))
    lines = {LABELS[control]: at(results, control) for control in ("dctcp", "reno")}
    for label, point, look in styled(lines, style.line_styles()):
        times = np.sort(np.concatenate([1e3 * durations_s(run) for run in point.runs]))
        panel.step(times, np.linspace(0, 1, len(times)), label=label, **look)
    frame(
        panel,
        x="completion time of a query (ms)",
        y="share of queries",
        xlim=(0, 100),
        ylim=(0, 1),
    )
    return legend_below(figure)


PART = Part(
    name="20",
    title="All-to-all incast with dynamic buffering",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "dctcp-none",
            "DCTCP suffers no timeouts at all.",
            "Sec. 4.2.1, Figure 20",
            judge_dctcp,
        ),
        Claim(
            "tcp-over-55",
            "TCP performs poorly, because over 55 % of the queries suffer from at least one "
            "timeout.",
            "Sec. 4.2.1, Figure 20",
            judge_tcp,
        ),
    ),
    note=(
        "41 machines each ask the other 40 for 25 kB, and ask again when they have all answers. "
        "Switch and senders are those of Figure 19; all first queries begin at the same time."
    ),
    caption="Distribution of the completion times, queries of all clients and runs.",
)
