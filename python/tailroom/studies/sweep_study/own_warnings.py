"""What a reader should know about a sweep beyond the warnings of its runs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tailroom.arguments import named
from tailroom.scenario.axis import setting_words
from tailroom.simulation.run_warnings import SEEDS_CHANGE_NOTHING, warning
from tailroom.storage.sweep_record import SweepRecord
from tailroom.studies.phases import PhaseSpread

if TYPE_CHECKING:
    from tailroom.simulation.result_types import RunWarning

MOST_METRICS = 5
"""Number of metrics that a warning lists."""

Settings = Mapping[str, object]


def own_warnings(
    record: SweepRecord,
    *,
    repeats_itself: bool,
    imprecise: Sequence[Settings],
    warm_up_too_short: Sequence[tuple[Settings, float | None]],
    phase_spreads: Sequence[Sequence[PhaseSpread]],
) -> Iterator[tuple["RunWarning", tuple[str, ...]]]:
    """Yields each warning with the names of the points that it concerns.

    Args:
        record: The sweep.
        repeats_itself: Whether all seeds give the same run.
        imprecise: Settings of the points that are less precise than `until` asks.
        warm_up_too_short: Settings of the points measured before the warm-up ends, and its end.
        phase_spreads: Metrics of each point over seeds and over shifted RTTs.
    """

    def names(points: Sequence[Settings]) -> tuple[str, ...]:
        return tuple(setting_words(settings, record.axes) for settings in points)

    every = [point["settings"] for point in record.points]
    if repeats_itself:
        yield SEEDS_CHANGE_NOTHING, names(every)
    if record.until and imprecise:
        yield _imprecise(**record.until), names(imprecise)
    if warm_up_too_short:
        ends_s = [end_s for _, end_s in warm_up_too_short]
        yield _unsettled(ends_s), names([settings for settings, _ in warm_up_too_short])
    dependent = [
        (settings, spread.metric)
        for settings, spreads in zip(every, phase_spreads, strict=True)
        for spread in spreads
        if spread.is_phase_dependent
    ]
    if dependent:
        metrics = dict.fromkeys(metric for _, metric in dependent)
        concerned = names([settings for settings, _ in dependent])
        yield _phase_dependent(list(metrics)), tuple(dict.fromkeys(concerned))


def _imprecise(metric: str, half_width: float, at_most: int, **_: object) -> "RunWarning":
    text = (
        f"{metric} is not within ±{half_width:g} after {at_most:,} runs: raise "
        f"{named('max_seeds')}, or use a longer duration"
    )
    return warning("imprecise", "", text, half_width=half_width, at_most=at_most)


def _unsettled(ends_s: Sequence[float | None]) -> "RunWarning":
    """The warning about the warm-up, given its end at each point; `None` if no end is known."""
    known = [end_s for end_s in ends_s if end_s is not None]
    # Where the end is not known it is later.
    found = {} if len(known) < len(ends_s) else {"settles_s": max(known)}
    when = f"settles at {max(known):.3g} s" if found else "does not settle in the first half"
    text = (
        f"the queue has not settled at measure_from (MSER-5): it {when}: raise measure_from and "
        "duration"
    )
    return warning("warm_up_too_short", "", text, **found)


def _phase_dependent(metrics: Sequence[str]) -> "RunWarning":
    more = len(metrics) - MOST_METRICS
    named_ones = [*metrics[:MOST_METRICS], *([f"and {more} more"] if more > 0 else [])]
    text = (
        f"shifting RTTs by less than a packet's transmission time changes {', '.join(named_ones)} "
        "(traffic phase effects): draw the RTTs of a group, as in { uniform = [a, b] }, or raise "
        "send_jitter"
    )
    return warning("phase_dependent", "", text)
