"""ABM over dynamic thresholds at the points of a part: checks, picture, and variations."""

from collections.abc import Mapping, Sequence

from tailroom_papers.abm_2022.measures import query_p99_ms, short_p99_ms
from tailroom_papers.abm_2022.setup import ABM, LABELS, NIC_LIMIT, NIC_QUEUE, POLICY
from tailroom_papers.framework import *

Points = Mapping[str, Mapping[str, object]]
"""Settings that distinguish a point, by its name."""


def checks(results: PartResults, points: Points, metric: Metric, what: str) -> tuple[Check, ...]:
    """Checks whether a time is shorter under ABM than under dynamic thresholds, at each point."""
    return tuple(
        less(
            f"{what}, {name}: ABM less dynamic thresholds, ms",
            results.study("abm").at(settings),
            results.study("dynamic_threshold").at(settings),
            metric,
            "shorter",
        )
        for name, settings in points.items()
    )


def draw(title: str, results: PartResults, over: Sequence[float], x: str) -> Figure:
    """Draws both times over the points, a line for each policy."""
    figure, (left, right) = figure_of(title, 1, 2)
    lines = {label: results.study(name).points for name, label in LABELS.items()}
    for label, points, look in styled(lines):
        draw_means(left, over, points, query_p99_ms, look, label=label)
        draw_means(right, over, points, short_p99_ms, look)
    frame(left, x=x, y="queries, p99 (ms)")
    frame(right, x=x, y="flows of 10 to 100 kB, p99 (ms)")
    return legend_below(figure, columns=2)


def queries(points: Points, where: str) -> Claim:
    """The claim about answers to queries.

    Args:
        points: The points at which it is judged.
        where: What varies, for the claim's words.
    """
    return Claim(
        "queries",
        f"{IMPROVES}: answers to queries {where}.",
        "abstract",
        lambda results: Judgement(checks(results, points, query_p99_ms, "query"), QUERIES),
    )


def short_flows(points: Points, where: str) -> Claim:
    """The claim about short flows of the web search, with the arguments of `queries`."""
    return Claim(
        "short-flows",
        f"{IMPROVES}: flows of 10 to 100 kB {where}.",
        "abstract",
        lambda results: Judgement(checks(results, points, short_p99_ms, "flow"), SHORT),
    )


IMPROVES = "ABM improves the 99th percentile of completion times"
QUERIES = (
    "The first windows of all answers find room wherever memory is free. Under dynamic thresholds "
    "a queue may take a third of the memory, and answers beyond it wait for a timer of 10 ms. "
    "Answers that fit into a third are lost under neither policy."
)
SHORT = (
    "Queues of marked flows are far below both thresholds, so that short flows wait and lose alike."
)


def variations(form: Form, studies: Sequence[Study], claims: Sequence[Claim]) -> list[Variation]:
    """ABM whose first windows have no alpha of their own, and hosts that do not mark."""
    if form is not Form.FULL:
        return []
    policy = {key: value for key, value in ABM.items() if key != "first_window_alpha"}
    without_alpha: list[dict[str, object]] = [
        {POLICY: policy} if study.name == "abm" else {} for study in studies
    ]
    without_marks: list[dict[str, object]] = [
        {NIC_QUEUE: {"kind": "drop_tail", "limit": NIC_LIMIT}} for _ in studies
    ]

    def variation(
        name: str, sets: list[dict[str, object]], reason: str, *, plausible: bool
    ) -> Variation:
        changed = [study.varied(set_, seeds=5) for study, set_ in zip(studies, sets, strict=True)]
        names = tuple(claim.name for claim in claims)
        return Variation(name, changed, names, plausible=plausible, reason=reason)

    return [
        variation(
            "no alpha of first windows",
            without_alpha,
            "what ABM gains by its thresholds alone, without the alpha of 1024 that the scripts "
            "give the packets of a first round-trip time",
            plausible=False,
        ),
        variation(
            "hosts' interfaces do not mark",
            without_marks,
            "the paper does not say whether they do; answers then wait in the hosts behind long "
            "flows",
            plausible=True,
        ),
    ]
