"""Figure 6: HighSpeed TCP alone, against NewReno, and four of it, in a FIFO buffer."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tailroom.reproduction.claim import Check, Claim, Judgement, above, below
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Part, Study
from tailroom_papers.auge_2006 import columns, setup
from tailroom_papers.auge_2006.ascendancy import ascendancy
from tailroom_papers.auge_2006.comparison import more, percent
from tailroom_papers.auge_2006.reductions import windows_before
from tailroom_papers.auge_2006.residual import flow_names, goodput_of, residual_share
from tailroom_papers.auge_2006.setup import BDP_PACKETS, fifo, settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tailroom.reproduction.part_results import PartResults, PointResults, StoredRun

ALONE = "1 HighSpeed"
RENO_ALONE = "1 NewReno"
RENO_SACK_ALONE = "1 Reno with SACK"
AGAINST = "1 HighSpeed, 1 NewReno"
FOUR = "4 HighSpeed"
FOUR_RENO = "4 NewReno"
SMALL = (20, 50, 100)
"""Buffers considerably below the bandwidth-delay product."""


def studies(form: Form) -> Sequence[Study]:
    """The three columns of the figure, and what they are compared with."""
    small = [fifo(buffer) for buffer in form.of((20, 100), SMALL, SMALL)]
    large = [fifo(BDP_PACKETS)]
    with_sack = setup.study(RENO_SACK_ALONE, {"reno": 1}, small, form, keep=())
    return [
        setup.study(ALONE, {"highspeed": 1}, small, form),
        setup.study(RENO_ALONE, {"reno": 1}, small, form),
        replace(with_sack, set={"flows.reno.recovery": "sack"}),
        setup.study(AGAINST, {"highspeed": 1, "reno": 1}, large, form),
        setup.study(FOUR, {"highspeed": 4}, large, form),
        setup.study(FOUR_RENO, {"reno": 4}, large, form),
    ]


def draw(results: "PartResults") -> "Figure":
    """As the paper has it."""
    large = settings(fifo(BDP_PACKETS))
    return columns.draw(
        "Figure 6: HighSpeed TCP beside a background of 25 of 50 Mbit/s, FIFO",
        [
            columns.Column("1 HighSpeed, 20 packets", _alone(results, ALONE, 20), "S6 20 hstcp"),
            columns.Column(
                "1 HighSpeed, 1 NewReno, 625 packets",
                results.study(AGAINST).at(large),
                "S6 625 hstcp+newreno",
            ),
            columns.Column("4 HighSpeed, 625 packets", results.study(FOUR).at(large)),
        ],
    )


def _alone(results: "PartResults", study: str, buffer: int) -> "PointResults":
    return results.study(study).at(settings(fifo(buffer)))


def _better_alone(results: "PartResults") -> Judgement:
    buffers = [buffer for buffer in SMALL if _has(results, buffer)]
    checks = [_gain(results, buffer) for buffer in buffers]
    shares = "; ".join(
        f"{buffer} packets: HighSpeed {_share(results, ALONE, buffer)}, "
        f"NewReno {_share(results, RENO_ALONE, buffer)}, "
        f"Reno with the same SACK recovery {_share(results, RENO_SACK_ALONE, buffer)}"
        for buffer in buffers
    )
    least = buffers[0]
    reno, highspeed = (_alone(results, study, least) for study in (RENO_ALONE, ALONE))
    why = (
        f"Of the residual, with {shares}. With {least} packets a loss depends on the size of the "
        f"window, not on its growth (at {highspeed.mean(_window_before):.0f} packets under "
        f"HighSpeed, {reno.mean(_window_before):.0f} under NewReno): HighSpeed reaches this size "
        f"sooner and loses more often ({highspeed.mean(_reductions):.0f} and "
        f"{reno.mean(_reductions):.0f} reductions per run)."
    )
    return Judgement(tuple(checks), why)


def _share(results: "PartResults", study: str, buffer: int) -> str:
    return percent(_alone(results, study, buffer).mean(residual_share), 1)


def _has(results: "PartResults", buffer: int) -> bool:
    return any(point.settings == settings(fifo(buffer)) for point in results.study(ALONE).points)


def _gain(results: "PartResults", buffer: int) -> Check:
    return more(
        f"utilization by HighSpeed with {buffer} packets",
        _alone(results, ALONE, buffer).interval("utilization"),
        _alone(results, RENO_ALONE, buffer).interval("utilization"),
        "above that by NewReno",
        percent=True,
    )


def _reductions(run: "StoredRun") -> float:
    return float(sum(flow["congestion_events"] for flow in run.summary["flows"]))


def _window_before(run: "StoredRun") -> float:
    return float(windows_before(run, flow_names(run)[0]).mean())


def _reno_loses(results: "PartResults") -> Judgement:
    point = results.study(AGAINST).at(settings(fifo(BDP_PACKETS)))
    check = below(
        "NewReno's goodput over HighSpeed's",
        point.interval(reno_over_highspeed),
        0.75,
        "unable to compete fairly (taken as below three quarters)",
    )
    why = (
        f"HighSpeed gets {point.mean(lambda run: goodput_of(run, 'highspeed')) / 1e6:.1f} Mbit/s, "
        f"NewReno {point.mean(lambda run: goodput_of(run, 'reno')) / 1e6:.1f}: NewReno grows by "
        "one packet per round trip and falls by half, HighSpeed grows by several packets and "
        "falls by less."
    )
    return Judgement((check,), why)


def reno_over_highspeed(run: "StoredRun") -> float:
    """Ratio of their goodputs."""
    return goodput_of(run, "reno") / goodput_of(run, "highspeed")


def _is_chaotic(results: "PartResults") -> Judgement:
    large = settings(fifo(BDP_PACKETS))
    four, reno = results.study(FOUR).at(large), results.study(FOUR_RENO).at(large)
    checks = (
        above(
            "largest over smallest of the four windows, means of 10 s",
            four.interval(lambda run: ascendancy(run).largest_over_smallest),
            1.5,
            "quite chaotic (taken as above 1.5)",
        ),
        above(
            "stretches of 10 s after which the largest window is still the largest",
            four.interval(lambda run: ascendancy(run).leader_keeps),
            0.25,
            "preserves its advantage (above the 25 % of chance)",
            percent=True,
        ),
        above(
            "flows that are ahead at some time",
            four.interval(lambda run: float(ascendancy(run).leaders)),
            2,
            "one flow after the other (more than 2)",
        ),
    )
    why = (
        f"Jain's index of the windows is {four.mean(lambda run: ascendancy(run).jain):.2f} over "
        f"10 s and {four.mean('flows.jain_index'):.3f} over the whole run. Four NewReno flows in "
        f"the same buffer have {reno.mean(lambda run: ascendancy(run).jain):.2f} over 10 s, and "
        f"{reno.mean(lambda run: ascendancy(run).largest_over_smallest):.1f} for largest over "
        f"smallest."
    )
    return Judgement(checks, why)


PART = Part(
    name="6",
    title="HighSpeed TCP alone (20 packets), against NewReno, and four of it (625 packets), FIFO",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "highspeed-small-buffers",
            "A single HSTCP connection uses bandwidth more efficiently than Reno when the buffer "
            "size is considerably less than the bandwidth delay product.",
            "Sec. V-A, Figure 6 left",
            _better_alone,
        ),
        Claim(
            "reno-cannot-compete",
            "The Reno connection is unable to compete fairly with the more aggressive HSTCP "
            "connection.",
            "Sec. V-A, Figure 6 middle",
            _reno_loses,
        ),
        Claim(
            "chaotic-windows",
            "Quite chaotic behaviour of the flow cwnds as one flow after the other gains a "
            "temporary ascendancy, and preserves its relative advantage until it is superseded.",
            "Sec. V-A, Figure 6 right",
            _is_chaotic,
        ),
    ),
    note=(
        "HighSpeed TCP has SACK recovery, as in ns-2, but NewReno has not; the comparison of the "
        "two controls therefore also has Reno with SACK. Chaos is measured on the mean window of "
        "each flow over intervals of 10 s, a hundred round trips."
    ),
)
