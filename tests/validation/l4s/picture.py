"""Draws docs/images/l4s_curves.png from docs/validation/l4s-curves.csv.

python -m tests.validation.l4s.picture
"""

import csv

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tailroom.plots import style
from tests.validation.frame import ROOT
from tests.validation.l4s import laws

FILE = ROOT / "docs/validation/l4s-curves.csv"
IMAGE = ROOT / "docs/images/l4s_curves.png"
DOTS_PER_INCH = 110
DELAYS = {
    ("prague", "L4S"): "Prague alone",
    ("prague + cubic", "L4S"): "Prague and CUBIC",
    ("cubic", "classic"): "CUBIC alone",
    ("bbr3", "classic"): "BBRv3 alone",
}
SHOWN_RTT_MS = 20

Row = dict[str, str]


def main() -> None:
    """Writes the picture."""
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_delays(left, [row for row in rows if row["RTT (ms)"] == str(SHOWN_RTT_MS)])
    _draw_ratios(right, [row for row in rows if row["flows"] == "prague + cubic"])
    figure.savefig(IMAGE, dpi=DOTS_PER_INCH, metadata={"Software": None})
    print(f"wrote {IMAGE.relative_to(ROOT)}")


def _draw_delays(panel: Axes, rows: list[Row]) -> None:
    lines = zip(DELAYS.items(), style.COLOURS[1:], style.MARKERS, strict=False)
    for ((flows, queue), label), colour, marker in lines:
        shown = [row for row in rows if row["flows"] == flows]
        rates = [int(row["link (Mbit/s)"]) for row in shown]
        for which, line in (("mean", "-"), ("p99", ":")):
            delays_ms = [float(row[f"{queue}: {which} delay (ms)"]) for row in shown]
            name = label if which == "mean" else None
            panel.plot(rates, delays_ms, line, color=colour, marker=marker, ms=4, label=name)
    panel.axhline(1e3 * laws.TARGET_S, color="0.6", linestyle="--")
    panel.axhline(1e3 * laws.RAMP_END_S, color="0.6", linestyle="--")
    panel.set(xscale="log", yscale="log")
    panel.set_xticks(rates, [f"{rate:g}" for rate in rates])
    panel.minorticks_off()
    panel.yaxis.set_major_formatter("{x:g}")
    panel.set_xlabel("link (Mbit/s)")
    panel.set_ylabel("queueing delay (ms)")
    panel.set_title(
        f"RTT {SHOWN_RTT_MS} ms: mean, p99 (dotted)\ntarget and ramp (dashed)", fontsize="medium"
    )
    panel.legend(fontsize="small", loc="lower left")


def _draw_ratios(panel: Axes, rows: list[Row]) -> None:
    links = sorted({int(row["link (Mbit/s)"]) for row in rows})
    for rate, colour, marker in zip(links, style.COLOURS[1:], style.MARKERS, strict=False):
        shown = [row for row in rows if row["link (Mbit/s)"] == str(rate)]
        rtts = [int(row["RTT (ms)"]) for row in shown]
        measured = [float(row["ratio of rates"]) for row in shown]
        law = [float(row["by formula"]) for row in shown]
        panel.plot(rtts, measured, color=colour, marker=marker, ms=4, label=f"{rate} Mbit/s")
        panel.plot(rtts, law, color=colour, linestyle=":")
    panel.axhline(1, color="0.6", linestyle="--")
    panel.set(xscale="log", yscale="log")
    panel.set_xticks(rtts, [f"{rtt:g}" for rtt in rtts])
    panel.set_yticks([0.25, 0.5, 1, 2], ["¼", "½", "1", "2"])
    panel.minorticks_off()
    panel.set_xlabel("RTT (ms)")
    panel.set_title("rate of Prague over that of CUBIC,\nby formula (dotted)", fontsize="medium")
    panel.legend(fontsize="small", loc="lower left")


if __name__ == "__main__":
    main()
