"""The abstract of the report, with its numbers from the results."""

from collections.abc import Mapping

from tailroom_papers.framework import *
from tailroom_papers.su_2005 import block_pacing, block_readings, figure_3, measures, table_1_claims
from tailroom_papers.su_2005.readings import PLAUSIBLE, READINGS
from tailroom_papers.su_2005.setting import C

TO_THE_LETTER = READINGS[-1]


def abstract(results: Mapping[str, PartResults]) -> str:
    """Returns the abstract.

    Args:
        results: The results of every part, by name.
    """
    table, readings = results["table-1"], results["block-readings"]
    index = {
        control: figure_3.of(results["3"], control).mean(measures.fairness)
        for control in figure_3.CONTROLS
    }
    letter = block_readings.of(readings, TO_THE_LETTER, 10).mean(measures.total_utilization)
    use = measures.background_utilization
    left = table_1_claims.at(table, 10).mean(use)
    left_by_standard = table_1_claims.standard(table).mean(use)
    with_blocks, without = (
        block_pacing.of(results["block-pacing"], blocks).mean("burst_packets_max")
        for blocks in (True, False)
    )
    return (
        "Is FHSTCP (HighSpeed TCP with an increase proportional to the round-trip time and with "
        "block pacing) fairer than its predecessors, friendly to standard TCP, and best at c = 10? "
        "We simulate all readings of its pseudo-code and vary what the paper omits. On the path "
        f"nearest to Table 1 the fairness index is {index['fhstcp']:.2f} (HighSpeed TCP "
        f"{index['highspeed']:.2f}, Scalable TCP {index['scalable']:.2f}, standard TCP "
        f"{index['reno']:.2f}). Of c = 5, 10 and 20, {_best(readings)}. Read to the letter, the "
        f"flows use {100 * letter:.0f} % of the link. Background traffic has {100 * left:.0f} % "
        f"of the link next to FHSTCP and {100 * left_by_standard:.0f} % next to standard TCP. The "
        f"longest burst has {with_blocks:.0f} packets with blocks and {without:.0f} without. "
        "Practitioners should check fairness on their own path, should not choose c by small "
        "differences of the index, and should measure what background traffic keeps."
    )


def _best(results: PartResults) -> str:
    """The c with the largest mean index, by plausible reading."""
    of_reading = [
        max(
            results.study(reading.name).points, key=lambda point: point.mean(measures.fairness)
        ).settings[C]
        for reading in PLAUSIBLE
    ]
    best = sorted(set(of_reading))
    if len(best) == 1:
        return f"c = {best[0]} has the largest index in every plausible reading"
    words = " or ".join(map(str, best))
    return f"c = {words} has the largest index, depending on the reading"
