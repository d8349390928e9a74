"""Figure 20: all machines ask all others at once."""

import numpy as np

from tailroom_papers.dctcp_2010.queries import timeouts
from tailroom_papers.dctcp_2010.setup import (
    BOUNDS,
    CONTROL,
    LABELS,
    MACHINES,
    POOL,
    QUEUE,
    hosts,
    port,
    scenario,
    spread,
    together,
)
from tailroom_papers.framework import *

ALL_TO_ALL = scenario(
    "DCTCP 2010: all-to-all incast",
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
)
"""Each machine sends 25 kB to each other one, again when all have all answers."""


def studies(form: Form) -> list[Study]:
    """Each control."""
    rows = [{**hosts(control), QUEUE: port(control)} for control in LABELS]
    return [
        Study(
            "all-to-all",
            ALL_TO_ALL,
            together=together(rows),
            set={"switches.tor.pool": POOL, "duration": form.of("0.1 s", "0.2 s", "0.4 s")},
            seeds=spread(form),
            keep=("flow_log",),
        )
    ]


def at(results: PartResults, control: str) -> PointResults:
    """Returns the runs of a control."""
    return results.study("all-to-all").at({CONTROL: control})


def timeouts_per_query(run: StoredRun) -> float:
    """Timeouts of all senders over the queries of all clients, also those in progress."""
    rounds = run.summary["groups"]["everyone"]["coflows"]
    begun = float(rounds["completed_coflows"] + rounds["unfinished_coflows"])
    return timeouts(run) / (MACHINES * begun)


def judge_dctcp(results: PartResults) -> Judgement:
    """DCTCP has no timeout."""
    check = at(results, "dctcp").below("timeouts, DCTCP", timeouts, BOUNDS["no-timeouts"])
    return Judgement(
        (check,),
        lambda: (
            f"Timeouts per query: {shown(at(results, 'dctcp').interval(timeouts_per_query))}. The "
            "4 MB have room for 65 packets of each port, and 40 servers begin with 80 for each."
        ),
    )


def judge_tcp(results: PartResults) -> Judgement:
    """There are at least 0.55 timeouts per query under TCP."""
    check = at(results, "reno").above(
        "timeouts per query, TCP", timeouts_per_query, BOUNDS["over-55"], percent=False
    )
    return Judgement(
        (check,),
        "Results do not say which queries had a timeout: this is necessary for the claim, and not "
        "sufficient.",
    )


def answers_ms(run: StoredRun) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Returns the completion times of all answers, ascending, in milliseconds."""
    return np.sort(1e3 * run.table("flow_log")["completion_time_s"].to_numpy())


def draw(results: PartResults) -> Figure:
    """The distribution of the completion times of answers."""
    title = "Figure 20: answers in all-to-all incast"
    figure, (panel,) = figure_of(title, size=(6.4, 4.2))
    shares = np.linspace(0, 1, 501)
    lines = {LABELS[control]: at(results, control) for control in ("dctcp", "reno")}
    for label, point, look in styled(lines, style.line_styles()):
        times = np.concatenate([answers_ms(run) for run in point.runs])
        panel.plot(np.quantile(times, shares), shares, label=label, **look)
    frame(panel, x="completion time of an answer (ms)", y="share of answers", log="x", ylim=(0, 1))
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
        "41 machines each ask the other 40 for 25 kB. Switch and senders are those of Figure 19. "
        "All queries of a round begin together, and the next round begins when all are complete; "
        "the paper does not say whether its machines wait for one another."
    ),
    caption=(
        "Distribution of the completion times of the answers, of all rounds and runs. The paper "
        "shows queries, which take as long as the last of 40 answers."
    ),
)
