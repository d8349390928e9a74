"""Figure 3's network, as the further questions vary it: its buffers, and how long it runs."""

from collections.abc import Sequence

from tailroom.papers.found import PointFound, StudyFound
from tailroom.papers.paper import Form, Study

SCENARIO = "barman-2004/figure-3.toml"
LIMIT = "links.bottleneck.queue.limit"
UTILIZATION = "links.bottleneck.utilization"
QUEUE_DELAY = "links.bottleneck.queue_delay_s_mean"
FULL_BUFFER_PACKETS = 12_500
"""Of which the paper's buffers are fractions."""


def limit(fraction: float) -> str:
    """The limit of a fraction of 12,500 packets: the paper's ns-2 counts the one being sent too."""
    return f"{round(fraction * FULL_BUFFER_PACKETS) - 1} packets"


def limits(fractions: Sequence[float]) -> list[str]:
    """The limits of several fractions."""
    return [limit(fraction) for fraction in fractions]


def at(study: StudyFound, fraction: float) -> PointFound:
    """The point of a study whose buffer is this fraction."""
    return study.at({LIMIT: limit(fraction)})


def times(form: Form) -> dict[str, object]:
    """Duration and measured window; the paper gives neither, the full ones are those of ns-2."""
    duration, measure_from = form.of(("20 s", "8 s"), ("40 s", "15 s"), ("160 s", "60 s"))
    return {"duration": duration, "measure_from": measure_from}


def starts(form: Form) -> dict[str, object]:
    """Start times drawn anew for every seed, over so much of the time that is not measured."""
    return {"uniform": ["0 s", form.of("2 s", "4 s", "10 s")]}


def seeds(form: Form) -> int:
    """Runs of each point."""
    return form.of(3, 3, 5)


def highspeed_alone(name: str, form: Form, fractions: Sequence[float]) -> Study:
    """Figure 3 itself. Parts that ask for it share its runs, as these are the same."""
    return Study(
        name,
        SCENARIO,
        grid={LIMIT: limits(fractions)},
        set={**times(form), "flows.hstcp.start": starts(form)},
        seeds=seeds(form),
    )
