"""Figure 20: all machines ask all others at once."""

import numpy as np

from tailroom.scenario.types import Scenario
from tailroom_papers.dctcp_2010 import variants
from tailroom_papers.dctcp_2010.queries import Floats, min_rto_s, timeouts
from tailroom_papers.dctcp_2010.setup import (
    BOUNDS,
    ECN,
    LABELS,
    MACHINES,
    MOST_QUERIES,
    POOL,
    QUERY,
    QUEUE,
    SWITCH,
    hosts,
    port,
    scenario,
    spread,
    together,
)
from tailroom_papers.framework import *

CLIENTS = {
    f"client{machine}": {
        **QUERY,
        "to": f"tor.h{machine}",
        "source": {**QUERY["source"], "flow_log": MOST_QUERIES * (MACHINES - 1)},
    }
    for machine in range(MACHINES)
}
"""Each asks the 40 others for 25 kB each, and again when it has all answers."""
ALL_TO_ALL = scenario("DCTCP 2010: all-to-all incast", CLIENTS, switches={"tor": SWITCH})
BARRIER = scenario(
    "DCTCP 2010: all-to-all incast in rounds",
    {
        "everyone": {
            "from": "tor",
            "source": {
                "kind": "collective",
                "operation": "all_to_all",
                "size": f"{25 * MACHINES} kB",
                "flow_log": 1_000_000,
            },
        }
    },
    switches={"tor": SWITCH},
)
"""All begin a round together, when all have all answers."""


def studies(form: Form) -> list[Study]:
    """Each control."""
    return [_study(form, ALL_TO_ALL)]


def _study(form: Form, of: Scenario) -> Study:
    rows = [{**hosts(control), QUEUE: port(control)} for control in LABELS]
    return Study(
        "all-to-all",
        of,
        together=together(rows),
        set={"switches.tor.pool": POOL, "duration": form.of("0.1 s", "0.2 s", "0.4 s")},
        seeds=spread(form),
        keep=("flow_log",),
    )


def variations(form: Form) -> list[Variation]:
    """Machines that wait for one another, and hosts that the paper leaves open."""
    if form is not Form.FULL:
        return []
    names = tuple(claim.name for claim in CLAIMS)
    rounds = Variation(
        "machines wait for one another",
        [_study(form, BARRIER)],
        names,
        reason="the paper does not say whether they do; 40 servers then begin with 80 packets for "
        "each port at once, and the 4 MB have room for 65",
    )
    return [rounds, *variants.of(_study(form, ALL_TO_ALL), names)]


def at(results: PartResults, control: str) -> PointResults:
    """Returns the runs of a control."""
    return results.study("all-to-all").at({ECN: hosts(control)[ECN]})


def timeouts_per_query(run: StoredRun) -> float:
    """Timeouts of all senders over the queries of all clients, also those in progress."""
    groups = run.summary["groups"].values()
    begun = sum(
        group["coflows"]["completed_coflows"] + group["coflows"]["unfinished_coflows"]
        for group in groups
    )
    return timeouts(run) * len(groups) / (MACHINES * float(begun))


def judge_dctcp(results: PartResults) -> Judgement:
    """DCTCP has no timeout."""
    check = at(results, "dctcp").below("timeouts, DCTCP", timeouts, BOUNDS["no-timeouts"])
    return Judgement(
        (check,),
        lambda: (
            "Timeouts per query: "
            f"{shown(at(results, 'dctcp').interval(timeouts_per_query))}. Machines that happen to "
            "ask together begin with 80 packets for each port; 4 MB have room for 65."
        ),
    )


def judge_tcp(results: PartResults) -> Judgement:
    """There are at least 0.55 timeouts per query under TCP."""
    check = at(results, "reno").above(
        "timeouts per query, TCP", timeouts_per_query, BOUNDS["over-55"], percent=False
    )
    share = at(results, "reno").above("queries of 10 ms or longer, TCP", late, BOUNDS["over-55"])
    return Judgement(
        (check, share),
        "Results do not say which queries had a timeout: both numbers are necessary for the claim, "
        "and together nearly sufficient, as DCTCP's queries take less than the timeout of 10 ms.",
    )


def late(run: StoredRun) -> float:
    """Share of the queries that take as long as the shortest timeout, or longer."""
    return float((queries_ms(run) >= 1e3 * min_rto_s(run)).mean())


def queries_ms(run: StoredRun) -> Floats:
    """Returns the completion times of all queries with all answers, ascending, in milliseconds.

    Where machines wait for one another, those of rounds.
    """
    log = run.table("flow_log")
    groups = log["group"].combine_chunks().indices.to_numpy()
    starts, times = (log[name].to_numpy() for name in ("start_s", "completion_time_s"))
    order = np.lexsort((starts, groups))
    groups, starts, times = groups[order], starts[order], times[order]
    first = np.flatnonzero(np.r_[True, (np.diff(groups) != 0) | (np.diff(starts) != 0)])
    answers = np.diff(np.r_[first, len(times)])
    whole = answers == answers.max()
    return np.sort(1e3 * np.maximum.reduceat(times, first)[whole])


def draw(results: PartResults) -> Figure:
    """The distribution of the completion times of queries."""
    figure, (panel,) = figure_of("Figure 20: queries in all-to-all incast", size=(6.4, 4.2))
    shares = np.linspace(0, 1, 201)
    lines = {LABELS[control]: at(results, control) for control in ("dctcp", "reno")}
    for label, point, look in styled(lines, style.line_styles()):
        times = np.concatenate([queries_ms(run) for run in point.runs])
        panel.plot(np.quantile(times, shares), shares, label=label, **look)
    frame(panel, x="completion time of a query (ms)", y="share of queries", ylim=(0, 1))
    return legend_below(figure)


CLAIMS = (
    Claim(
        "dctcp-none",
        "DCTCP suffers no timeouts at all.",
        "Sec. 4.2.1, Figure 20",
        judge_dctcp,
    ),
    Claim(
        "tcp-over-55",
        "TCP performs poorly, because over 55 % of the queries suffer from at least one timeout.",
        "Sec. 4.2.1, Figure 20",
        judge_tcp,
    ),
)
PART = Part(
    name="20",
    title="All-to-all incast with dynamic buffering",
    studies=studies,
    draw=draw,
    claims=CLAIMS,
    note=(
        "41 machines each ask the other 40 for 25 kB, and again when they have all answers. Switch "
        "and senders are those of Figure 19. The bound of 55 % was committed before the first "
        "runs, in which machines waited for one another."
    ),
    caption="Distribution of the completion times of the queries, of all clients and runs. A query "
    "that takes 10 ms or longer has waited for a timeout.",
    variations=variations,
)
