"""Draws one second of two-way traffic through CoDel, and what becomes of it under other queues.

python tools/two_way_pictures.py

Runs scenarios/two-way.toml and writes docs/images/two_way_*.png.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tailroom as tr
from tailroom.plots import style

REPOSITORY = Path(__file__).parents[1]
SCENARIO = REPOSITORY / "scenarios" / "two-way.toml"
IMAGES = REPOSITORY / "docs" / "images"
DOTS_PER_INCH = 110
SHOWN_S = (20.0, 21.0)
SEED = 1

LINKS = {"down": ("upload", 100e6), "up": ("download", 20e6)}
"""Of a link, the group whose ACKs it carries, and its rate in bit/s."""
DATA_BITS, ACK_BITS = 1500 * 8, 40 * 8
TARGET_MS, INTERVAL_MS = 5, 100

FQ_CODEL: dict[str, object] = {f"links.{link}.queue": {"kind": "fq_codel"} for link in LINKS}
PACED: dict[str, object] = {f"flows.{group}.pacing": True for group in ("download", "upload")}
TEN: dict[str, object] = {f"flows.{group}.count": 10 for group in ("download", "upload")}
CASES: dict[str, dict[str, object]] = {
    "CoDel, one flow each way": {},
    "FQ-CoDel": FQ_CODEL,
    "CoDel, paced senders": PACED,
    "CoDel, ten flows each way": TEN,
}

Floats = npt.NDArray[np.float64]


def main() -> None:
    """Writes both pictures."""
    results = {title: _run(changes) for title, changes in CASES.items()}
    for name, figure in (("codel", _two_queues(results)), ("remedies", _remedies(results))):
        path = IMAGES / f"two_way_{name}.png"
        figure.savefig(path, dpi=DOTS_PER_INCH, metadata={"Software": None})
        print(f"wrote {path.relative_to(REPOSITORY)}")


def _run(changes: dict[str, object]) -> tr.Result:
    recorded: dict[str, object] = {f"links.{link}.packet_log": 5_000_000 for link in LINKS}
    recorded |= {"series.interval": "1 ms", "duration": f"{SHOWN_S[1] + 0.5} s"}
    return tr.run(SCENARIO, set=changes | recorded, seed=SEED)


def _sojourns(result: tr.Result, link: str) -> tuple[Floats, Floats]:
    """When data packets left the queue of a link, in s, and how long they had waited, in ms.

    A flow's packets leave in the order of their arrival, sent or dropped. A packet that is sent
    leaves the queue its transmission before its departure.
    """
    assert result.packet_log is not None
    acknowledged, rate_bps = LINKS[link]
    log: Any = result.packet_log.filter(pc.field("link") == link)
    times, events = log["time_s"].to_numpy(), log["event"].to_pylist()
    names = log["flow"].to_pylist()
    arrivals: dict[str, list[float]] = {}
    leaves: dict[str, list[tuple[float, bool]]] = {}
    for time_s, event, name in zip(times, events, names, strict=True):
        if name.startswith(acknowledged) or event == "mark":
            continue
        if event == "arrival":
            arrivals.setdefault(name, []).append(time_s)
        else:
            is_sent = event == "departure"
            left_s = time_s - DATA_BITS / rate_bps if is_sent else time_s
            leaves.setdefault(name, []).append((left_s, is_sent))
    found = []
    for name, times_s in leaves.items():
        pairs = zip(sorted(times_s), arrivals[name], strict=False)
        found += [(left, 1e3 * (left - came)) for (left, is_sent), came in pairs if is_sent]
    left_s, waited_ms = np.array(sorted(found)).T
    return left_s, waited_ms


def _draw(panel: Axes, result: tr.Result, link: str) -> None:
    left_s, waited_ms = _sojourns(result, link)
    shown = (left_s >= SHOWN_S[0]) & (left_s < SHOWN_S[1])
    panel.plot(left_s[shown], waited_ms[shown], ".", color=style.COLOURS[1], markersize=1.5)
    panel.axhline(TARGET_MS, **style.LIMIT_LINE)
    panel.set_xlim(*SHOWN_S)


def _shade_dropping(panel: Axes, result: tr.Result, link: str) -> None:
    series: Any = result.series("dropping_state", link=link)
    times_s, states = series["time_s"].to_numpy(), series["dropping_state"].to_numpy()
    low, high = panel.get_ylim()
    panel.fill_between(
        times_s, low, high, where=states > 0, color=style.COLOURS[2], alpha=0.25, linewidth=0
    )
    panel.set_ylim(low, high)


def _two_queues(results: dict[str, tr.Result]) -> Figure:
    """The sojourn time at both links, with the times at which CoDel drops."""
    title = next(iter(CASES))
    figure = Figure(figsize=(9, 5), layout="constrained")
    panels = figure.subplots(2, sharex=True, sharey=True)
    for panel, (link, (_, rate_bps)) in zip(panels, LINKS.items(), strict=True):
        _draw(panel, results[title], link)
        panel.set_ylim(0, INTERVAL_MS)
        _shade_dropping(panel, results[title], link)
        text = f"{link}, {rate_bps / 1e6:.0f} Mbit/s"
        panel.set_title(text, fontsize="small", loc="left")
    figure.suptitle(f"{title}: data packets (dots), dropping state (shaded)", fontsize="large")
    panels[-1].set_xlabel("time (s)")
    figure.supylabel("sojourn time (ms); dashed: target", fontsize="medium")
    return figure


def _remedies(results: dict[str, tr.Result]) -> Figure:
    """The same second of the download queue, once per remedy."""
    figure = Figure(figsize=(9, 5.4), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    for panel, (title, result) in zip(panels.flat, results.items(), strict=True):
        _draw(panel, result, "down")
        panel.set_ylim(0, INTERVAL_MS)
        panel.set_title(title, fontsize="small", loc="left")
    figure.supxlabel("time (s)", fontsize="medium")
    figure.supylabel("sojourn time at 100 Mbit/s (ms); dashed: target", fontsize="medium")
    return figure


if __name__ == "__main__":
    main()
