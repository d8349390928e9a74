"""Points of the studies of queries, and what figures with queries say about them."""

from tailroom_papers.dctcp_2010.queries import unexplained, with_timeout
from tailroom_papers.dctcp_2010.setup import BOUNDS, ECN, FAN_IN, LABELS, MIN_RTO, Incast, hosts
from tailroom_papers.framework import *


def of(study: StudyResults, control: str, min_rto: str = "10 ms") -> dict[int, PointResults]:
    """Returns the points of a control with a timeout, by number of servers."""
    mine = study.where({ECN: hosts(control)[ECN], MIN_RTO: min_rto})
    return {int(point.settings[FAN_IN]): point for point in mine.points}


def at(study: StudyResults, control: str, servers: int, min_rto: str = "10 ms") -> PointResults:
    """Returns the point of a control with a number of servers and a timeout."""
    return study.at(Incast(control, servers, min_rto).key)


def shares(study: StudyResults, control: str) -> str:
    """Returns the shares of queries with a timeout in words, by number of servers."""
    said = ", ".join(
        f"{servers}: {100 * point.mean(with_timeout):.3g} %"
        for servers, point in of(study, control).items()
    )
    return f"Queries with a timeout under {LABELS[control]}, by number of servers: {said}."


def explained(name: str, study: str) -> Claim:
    """Returns the condition that a query that takes as long as a timeout had one.

    Args:
        name: Name of the condition.
        study: Name of the study.
    """

    def judge(results: PartResults) -> Judgement:
        checks = []
        for point in results.study(study).points:
            control = "reno" if point.settings[ECN] == hosts("reno")[ECN] else "dctcp"
            case = Incast(control, int(point.settings[FAN_IN]), str(point.settings[MIN_RTO]))
            what = f"{case.label}, {case.servers} servers"
            checks.append(point.below(what, unexplained, BOUNDS["no-timeouts"], "0"))
        return Judgement(tuple(checks), "")

    return Claim(
        name,
        "No run has more queries that take as long as the shortest timeout than timeouts.",
        "our reading of the figure",
        judge,
    )
