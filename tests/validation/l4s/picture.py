"""Draws docs/images/l4s_curves.png from l4s-curves.csv and l4s-steps.csv in docs/validation.

python -m tests.validation.l4s.picture
"""

import csv

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tailroom.plots import style
from tests.validation.frame import ROOT
from tests.validation.l4s import laws, step_law, steps

DATA = ROOT / "docs/validation"
IMAGE = ROOT / "docs/images/l4s_curves.png"
DOTS_PER_INCH = 110
DELAYS = {
    ("prague", "L4S"): "Prague alone",
    ("prague + cubic", "L4S"): "Prague and CUBIC",
    ("cubic", "classic"): "CUBIC alone",
    ("bbr3", "classic"): "BBRv3 alone",
}
FALLS = {"prague": "Prague", "cubic": "CUBIC", "bbr3": "BBRv3"}
SHOWN_RTT_MS = 20
FALL_SHOWN_S = 1.5

Row = dict[str, str]


def main() -> None:
    """Writes the picture."""
    points, after_steps = _rows("l4s-curves.csv"), _rows("l4s-steps.csv")
    figure = Figure(figsize=(9, 7.5), layout="constrained")
    (delays, ratios), falls = figure.subplots(2, 2)
    _draw_delays(delays, [row for row in points if row["RTT (ms)"] == str(SHOWN_RTT_MS)])
    _draw_ratios(ratios, [row for row in points if row["flows"] == "prague + cubic"])
    for panel, rtt_ms in zip(falls, steps.STEP_RTTS_MS, strict=True):
        _draw_fall(panel, [row for row in after_steps if row["step"] == "down"], rtt_ms)
    falls[0].set_ylabel("queueing delay (ms)")
    falls[1].legend(fontsize="small")
    figure.savefig(IMAGE, dpi=DOTS_PER_INCH, metadata={"Software": None})
    print(f"wrote {IMAGE.relative_to(ROOT)}")


def _rows(name: str) -> list[Row]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _draw_fall(panel: Axes, rows: list[Row], rtt_ms: int) -> None:
    for (control, label), colour in zip(FALLS.items(), style.COLOURS[1:], strict=False):
        shown = [row for row in rows if (row["flow"], row["RTT (ms)"]) == (control, str(rtt_ms))]
        times_s = [float(row["since the step (s)"]) for row in shown]
        delays_ms = [float(row["delay (ms)"]) for row in shown]
        panel.plot(times_s, delays_ms, color=colour, label=label)
    limit_s = steps.limit("prague")
    law = [*step_law.rounds(steps.HIGH_MBPS * 1e6, steps.LOW_MBPS * 1e6, 1e-3 * rtt_ms, limit_s)]
    if step_law.largest_base(law) < step_law.OVERLOAD:
        times_s, delays_ms = ([one.time_s for one in law], [1e3 * one.delay_s for one in law])
        panel.plot(times_s, delays_ms, ":", color=style.COLOURS[1], label="Prague by formula")
        panel.legend(fontsize="small")
    panel.set(xlim=(0, FALL_SHOWN_S), ylim=0)
    panel.set_xlabel("time since the capacity halved (s)")
    panel.set_title(
        f"RTT {rtt_ms} ms: {steps.HIGH_MBPS} to {steps.LOW_MBPS} Mbit/s", fontsize="medium"
    )


def _draw_delays(panel: Axes, rows: list[Row]) -> None:
    lines = zip(DELAYS.items(), style.COLOURS[1:], style.MARKERS, strict=False)
    for ((flows, queue), label), colour, marker in lines:
        shown = [row for row in rows if row["flows"] == flows]
        rates = [int(row["link (Mbit/s)"]) for row in shown]
        for which, line in (("mean", "-"), ("p99", ":")):
            delays_ms = [float(row[f"{queue}: {which} delay (ms)"]) for row in shown]
            name = label if which == "mean" else None
            panel.plot(rates, delays_ms, line, color=colour, marker=marker, ms=4, label=name)
    panel.set(xscale="log", yscale="log")
    for delay_s in (laws.TARGET_S, laws.RAMP_END_S):
        panel.axhline(1e3 * delay_s, color="0.6", linestyle="--")
    words = (
        f"dashed: target of classic, {1e3 * laws.TARGET_S:g} ms,\n"
        f"and end of the ramp, {1e3 * laws.RAMP_END_S:g} ms"
    )
    panel.text(0.99, 0.73, words, transform=panel.transAxes, ha="right", fontsize="x-small")
    panel.set_xticks(rates, [f"{rate:g}" for rate in rates])
    panel.minorticks_off()
    panel.yaxis.set_major_formatter("{x:g}")
    panel.set_xlabel("link (Mbit/s)")
    panel.set_ylabel("queueing delay (ms)")
    panel.set_title(f"RTT {SHOWN_RTT_MS} ms: mean delay, p99 dotted", fontsize="medium")
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
    panel.set_title("rate of Prague over that of CUBIC, by formula dotted", fontsize="medium")
    panel.legend(fontsize="small", loc="lower left")


if __name__ == "__main__":
    main()
