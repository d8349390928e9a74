"""Figure 6: HighSpeed TCP alone, against NewReno, and four of it, in a FIFO buffer."""

from collections.abc import Sequence
from dataclasses import replace

from tailroom_papers.auge_2006 import columns, other_values, setup
from tailroom_papers.auge_2006.bounds import BOUNDS
from tailroom_papers.auge_2006.comparison import percent
from tailroom_papers.auge_2006.reductions import windows_before
from tailroom_papers.auge_2006.residual import flow_names, goodput_of, residual_share
from tailroom_papers.auge_2006.setup import BDP_PACKETS, fifo, settings
from tailroom_papers.framework import *

ALONE = "1 HighSpeed"
RENO_ALONE = "1 NewReno"
RENO_SACK_ALONE = "1 Reno with SACK"
AGAINST = "1 HighSpeed, 1 NewReno"
FOUR = "4 HighSpeed"
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
    ]


def draw(results: PartResults) -> Figure:
    """As the paper has it."""
    large = settings(fifo(BDP_PACKETS))
    return columns.draw(
        "Figure 6: HighSpeed TCP next to a background of 25 of 50 Mbit/s, FIFO",
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


def _alone(results: PartResults, study: str, buffer: int) -> PointResults:
    return results.study(study).at(settings(fifo(buffer)))


def _better_alone(results: PartResults) -> Judgement:
    buffers = [buffer for buffer in SMALL if _has(results, buffer)]
    checks = []
    for buffer in buffers:
        what = f"utilization by HighSpeed less that by NewReno, {buffer} packets"
        highspeed, reno = (_alone(results, study, buffer) for study in (ALONE, RENO_ALONE))
        checks.append(more(what, highspeed, reno, "utilization", "more efficient", percent=True))

    def why() -> str:
        shares = "; ".join(
            f"{buffer} packets: HighSpeed {_share(results, ALONE, buffer)}, "
            f"NewReno {_share(results, RENO_ALONE, buffer)}, "
            f"Reno with the same SACK recovery {_share(results, RENO_SACK_ALONE, buffer)}"
            for buffer in buffers
        )
        least = buffers[0]
        reno, highspeed = (_alone(results, study, least) for study in (RENO_ALONE, ALONE))
        return (
            f"Shares of the residual with {shares}. With {least} packets a loss depends on the "
            "size of the window, not on its growth (at "
            f"{highspeed.mean(_window_before):.0f} packets under HighSpeed, "
            f"{reno.mean(_window_before):.0f} under NewReno). HighSpeed reaches this size sooner "
            f"and loses more often ({highspeed.mean(_reductions):.0f} and "
            f"{reno.mean(_reductions):.0f} reductions per run)."
        )

    return Judgement(tuple(checks), why)


def _share(results: PartResults, study: str, buffer: int) -> str:
    return percent(_alone(results, study, buffer).mean(residual_share), 1)


def _has(results: PartResults, buffer: int) -> bool:
    return any(point.settings == settings(fifo(buffer)) for point in results.study(ALONE).points)


def _reductions(run: StoredRun) -> float:
    return float(sum(flow["congestion_events"] for flow in run.summary["flows"]))


def _window_before(run: StoredRun) -> float | None:
    windows = windows_before(run, flow_names(run)[0])
    return float(windows.mean()) if windows.size else None


def _reno_loses(results: PartResults) -> Judgement:
    point = results.study(AGAINST).at(settings(fifo(BDP_PACKETS)))
    check = point.below(
        "NewReno's goodput over HighSpeed's", reno_over_highspeed, BOUNDS["unable-to-compete"]
    )
    return Judgement(
        (check,),
        lambda: (
            f"HighSpeed gets {point.mean(highspeed_mbps):.1f} Mbit/s, NewReno "
            f"{point.mean(reno_mbps):.1f} Mbit/s. NewReno grows by one packet per round trip and "
            "halves its window, HighSpeed grows by several packets and reduces less."
        ),
    )


def highspeed_mbps(run: StoredRun) -> float:
    """Goodput of the HighSpeed flows."""
    return goodput_of(run, "highspeed") / 1e6


def reno_mbps(run: StoredRun) -> float:
    """Goodput of the NewReno flows."""
    return goodput_of(run, "reno") / 1e6


def reno_over_highspeed(run: StoredRun) -> float:
    """Ratio of their goodputs."""
    return goodput_of(run, "reno") / goodput_of(run, "highspeed")


def variations(form: Form) -> Sequence[Variation]:
    """The studies of the claims with other values of what the paper leaves open."""
    claims = ("highspeed-small-buffers", "reno-cannot-compete")
    wanted = (ALONE, RENO_ALONE, AGAINST)
    used = [study for study in studies(form) if study.name in wanted]
    return other_values.variations(used, claims, form)


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
    ),
    variations=variations,
    caption=columns.CAPTION.format(
        what="Columns: one HighSpeed flow with 20 packets; a HighSpeed and a NewReno flow, and "
        "four HighSpeed flows, with 625 packets."
    ),
    note=(
        "HighSpeed TCP has SACK recovery, as in ns-2, but NewReno has not; the comparison of the "
        "two controls therefore has Reno with SACK, too. The next part judges whether the windows "
        "on the right are chaotic."
    ),
)
