"""A flow that only this link limits, alongside a background of half the link's rate."""

from tailroom_papers.framework import *
from tailroom_papers.today.network import LIMIT, Bottleneck

TEN = Bottleneck(gbps=10, rtt_ms=5)
"""694 packets fill the path: about the 625 of Augé and Roberts."""
HUNDRED = Bottleneck(gbps=100, rtt_ms=1)
LONG = Bottleneck(gbps=10, rtt_ms=50)
"""As many packets as 100 Gbit/s and 5 ms, which would take ten times as long to simulate."""
LINKS = (TEN, HUNDRED)
CONTROL = "flows.one.congestion"
CONTROLS = {
    TEN: ("reno", "cubic", "highspeed", "bbr1", "bbr3"),
    HUNDRED: ("reno", "cubic", "bbr3"),
    LONG: ("cubic", "bbr3"),
}
FAIR_CONTROLS = ("cubic", "bbr1", "bbr3")
SOURCES = 50
SEEDS = {TEN: 10, HUNDRED: 5, LONG: 5}
"""Runs of a point in the full form."""
# The papers' buffers of 20, 100 and 200 packets, which count the packet being sent.
TWENTY, HUNDRED_PACKETS, TWO_HUNDRED = "19 packets", "99 packets", "199 packets"


def name(link: Bottleneck, kind: str = "drop_tail") -> str:
    """Of the study of a link under a queue discipline."""
    return f"background-{link.gbps}g-{link.rtt_ms:g}ms-{kind}"


def study(link: Bottleneck, form: Form) -> Study:
    """Every control over the buffer, with a single queue."""
    few: tuple[str, ...] = {
        TEN: (TWENTY, HUNDRED_PACKETS, TWO_HUNDRED),
        HUNDRED: (TWENTY, TWO_HUNDRED),
        LONG: (TWO_HUNDRED,),
    }[link]
    many = ("9 packets", TWENTY, "49 packets", HUNDRED_PACKETS, TWO_HUNDRED, "624 packets")
    limits = form.of((TWENTY, TWO_HUNDRED), few, many) if link != LONG else few
    return _study(link, form, "drop_tail", CONTROLS[link], limits)


def fair_study(form: Form) -> Study:
    """The same with a queue per flow, on the slower link."""
    return _study(TEN, form, "fair", FAIR_CONTROLS, (TWENTY, HUNDRED_PACKETS))


def _study(
    link: Bottleneck, form: Form, kind: str, controls: tuple[str, ...], limits: tuple[str, ...]
) -> Study:
    seconds, settle_s = {
        TEN: form.of((1.0, 0.5), (15.0, 2.0), (60.0, 10.0)),
        HUNDRED: form.of((0.1, 0.05), (4.8, 0.7), (20.0, 3.0)),
        LONG: form.of((2.0, 2.0), (185.0, 15.0), (300.0, 30.0)),
    }[link]
    flows = {
        "one": link.hosts("cubic", 1, settle_s),
        "background": {
            "count": SOURCES,
            "path": ["bottleneck"],
            "packet_size": "9000 B",
            "source": {"kind": "poisson", "rate": f"{link.gbps * 1000 / 2 / SOURCES:g} Mbit/s"},
        },
    }
    title = f"One flow next to a background of half of {link.gbps} Gbit/s"
    scenario = link.scenario(title, seconds, settle_s, flows, {"kind": kind})
    grid = {CONTROL: controls, LIMIT: limits}
    return Study(name(link, kind), scenario, grid, seeds=form.of(2, 3, SEEDS[link]))


def share_of_residual(run: StoredRun) -> float:
    """The flow's goodput over the half of the link that the background does not ask for."""
    capacity_bps = float(run.summary["links"]["bottleneck"]["capacity_bps"])
    return float(run.summary["groups"]["one"]["goodput_bps"]) / (capacity_bps / 2)


def drops(run: StoredRun) -> float:
    """Packets of the background that the link drops."""
    return float(run.summary["groups"]["background"]["links"]["bottleneck"]["drops_packets"])


def p99_delay_ms(run: StoredRun) -> float:
    """99th percentile of the time that packets of the background wait, in milliseconds."""
    link = run.summary["groups"]["background"]["links"]["bottleneck"]
    return 1e3 * float(link["queue_delay_s_p99"])


def at(study: StudyResults, control: str, limit: str) -> PointResults:
    """The point of a control and a buffer."""
    return study.at({CONTROL: control, LIMIT: limit})
