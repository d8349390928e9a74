"""Figure 3's network, as the further questions vary it: how long it runs, and its flows alone."""

from collections.abc import Sequence

from tailroom_papers.barman_2004.settings import FIGURE_3, LIMIT
from tailroom_papers.framework import *

UTILIZATION = "links.bottleneck.utilization"
QUEUE_DELAY = "links.bottleneck.queue_delay_s_mean"


def limits(fractions: Sequence[float]) -> list[str]:
    """The queue limits of several fractions of 12,500 packets."""
    return [FIGURE_3.limit(fraction) for fraction in fractions]


def times(form: Form) -> dict[str, object]:
    """Duration and measured window: shorter than Figure 3's own where that is not the full form."""
    short = {Form.SMOKE: ("20 s", "8 s"), Form.QUICK: ("50 s", "25 s")}
    duration, measure_from = short.get(form, FIGURE_3.times[form])
    return {"duration": duration, "measure_from": measure_from}


def starts(form: Form) -> dict[str, object]:
    """Start times drawn anew for every seed, over so much of the time that is not measured."""
    return {"uniform": ["0 s", form.of("2 s", "4 s", "10 s")]}


def seeds(form: Form) -> int:
    """Runs of each point."""
    return form.of(3, 3, 10)


def over_buffers(name: str, form: Form, fractions: Sequence[float], **changes: object) -> Study:
    """Figure 3 over the buffer. Runs that several parts ask for are the same, and done once.

    Args:
        name: The study's.
        form: Decides times and seeds.
        fractions: Of 12,500 packets.
        changes: Values of the scenario by key.
    """
    return Study(
        name,
        FIGURE_3.scenario,
        grid={LIMIT: limits(fractions)},
        set={**times(form), "flows.hstcp.start": starts(form), **FIGURE_3.drawn_rtts, **changes},
        seeds=seeds(form),
    )


def points_over(results: PartResults, study: str, fractions: Sequence[float]) -> list[PointResults]:
    """The points of a study at fractions of 12,500 packets."""
    return [FIGURE_3.at(results.study(study), fraction) for fraction in fractions]
