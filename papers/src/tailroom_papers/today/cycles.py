"""Number of window cycles in a run, to check that its means describe a steady state."""

from collections.abc import Sequence
from functools import partial

from tailroom_papers.framework import *
from tailroom_papers.today.drawing import LABELS

ENOUGH = 10
SAWTOOTH = ("reno", "cubic", "highspeed")
"""Controls whose cycles follow losses."""


def cycles(run: StoredRun, control: str) -> float | None:
    """Window reductions in the measured time, mean over the flows of a control."""
    flows = [flow for flow in run.summary["flows"] if flow["congestion"] == control]
    events = sum(flow["congestion_events"] for flow in flows)
    return float(events) / len(flows) if flows else None


def cycles_claim(name: str, studies: Sequence[str]) -> Claim:
    """Checks that every run of these studies, or of all studies of the part, is long enough."""
    return Claim(
        name,
        "Every run has at least ten window cycles, so that its means are steady.",
        "length of the runs",
        lambda results: judge(results, studies or tuple(results.studies)),
    )


def judge(results: PartResults, studies: Sequence[str]) -> Judgement:
    """The run with the fewest cycles of each control that has a sawtooth."""
    fewest: dict[str, tuple[float, str]] = {}
    for name in studies:
        for point in results.study(name).points:
            for control in SAWTOOTH:
                found = point.values(partial(cycles, control=control))
                if not found:
                    continue
                least = min(found)
                where = ", ".join(_told(point))
                fewest[control] = min(fewest.get(control, (least, where)), (least, where))
    checks = [
        _check(f"{LABELS[control]}, reductions a flow ({where})", least)
        for control, (least, where) in sorted(fewest.items())
    ]
    least = min(least for least, _ in fewest.values())
    return Judgement(
        tuple(checks),
        f"Reductions in a run, mean over its flows; the run with the fewest has {least:.3g}. "
        "BBR's cycle is no sawtooth: it probes each eighth round trip (version 1), or after at "
        "most 63 round trips (version 3).",
    )


def _told(point: PointResults) -> list[str]:
    """Returns a point's settings, without settings that follow from others."""
    told = [str(value) for key, value in point.settings.items() if key != "duration"]
    return list(dict.fromkeys(told))


def _check(what: str, least: float) -> Check:
    return is_true(what, f"at least {ENOUGH}", least >= ENOUGH, least)
