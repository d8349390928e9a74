"""Draws the pictures of the tutorial.

python -m tests.validation.tutorial_pictures [PICTURE ...]

Most are what a command of their page writes: the page's commands are run until the file is there.
The picture of page 2 is drawn here, from the runs of that page. All are written with few colours,
as docs/images/tutorial_*.png.
"""

import io
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

import tailroom as tr
from tailroom.plots import style

from . import transcripts

ROOT = transcripts.ROOT
PAGES = ROOT / "docs" / "tutorial"
IMAGES = ROOT / "docs" / "images"
COLOURS = (256, 48, 32, 24)
"""Of a picture: the first that keeps it small; the last is enough for the edges of letters."""
MOST_BYTES = 100_000
"""Of a picture: whoever clones the repository loads every version of it."""
DOTS_PER_INCH = 110


class Written(NamedTuple):
    """A picture that a command of a page writes."""

    page: str
    file: str


WRITTEN = {
    "first_run": Written("1-first-run.md", "first/windows_and_queue.png"),
    "choosing": Written("3-choosing.md", "size.png"),
    "aqm": Written("4-aqm.md", "home/choices.png"),
    "own_control": Written("5-own-control.md", "mine/windows_and_queue.png"),
    "study": Written("6-a-study.md", "tradeoff.png"),
}

BDP_PACKETS = 10e6 / 8 * 0.1 / 1500
"""Of the shipped scenario `first`."""
LIMIT = "links.core.queue.limit"
SEEDS = 3
SHARES = (0.03, 0.06, 0.125, 0.25, 0.5, 1.0)
"""Buffers, in bandwidth-delay products."""
LIMITS = (10, 20, 50, 100, 200, 400)
"""Buffers, in packets."""


def main(names: Sequence[str]) -> None:
    """Writes the pictures of these names, or all."""
    pictures: dict[str, Callable[[], bytes]] = {
        name: lambda written=written: from_page(written)  # type: ignore[misc]
        for name, written in WRITTEN.items()
    }
    pictures["why_a_buffer"] = why_a_buffer
    for name in names or sorted(pictures):
        path = IMAGES / f"tutorial_{name}.png"
        path.write_bytes(with_few_colours(pictures[name]()))
        print(f"wrote {path.relative_to(ROOT)}, {path.stat().st_size:,} B")


def from_page(written: Written) -> bytes:
    """Runs the commands of a page until the picture is there.

    Raises:
        FileNotFoundError: No command of the page writes it.
    """
    text = (PAGES / written.page).read_text(encoding="utf-8")
    with transcripts.directory_of(text) as place:
        for block in transcripts.BLOCK.finditer(text):
            transcripts.renewed(block, lambda _: None, place)
            if (place / written.file).exists():
                return (place / written.file).read_bytes()
    raise FileNotFoundError(f"no command of {written.page} writes {written.file}")


def with_few_colours(png: bytes) -> bytes:
    """The same picture as a small PNG with a palette, without the name of the program.

    Raises:
        ValueError: It is too large with the fewest colours.
    """
    image = Image.open(io.BytesIO(png)).convert("RGB")
    for colours in COLOURS:
        out = io.BytesIO()
        image.quantize(colours, dither=Image.Dither.NONE).save(out, format="png", optimize=True)
        if out.tell() < MOST_BYTES:
            return out.getvalue()
    raise ValueError(f"the picture has {out.tell():,} B, and {MOST_BYTES:,} are allowed: draw less")


def why_a_buffer() -> bytes:
    """Four panels from the runs of page 2."""
    text = (PAGES / "2-why-a-buffer.md").read_text(encoding="utf-8")
    with transcripts.directory_of(text) as place:
        many = place / "many.toml"
        figure = Figure(figsize=(10, 7), layout="constrained")
        panels = figure.subplots(2, 2)
        _sawtooth(panels[0, 0])
        _many_flows(panels[0, 1], many)
        _bursts(panels[1, 0], many)
        _delay(panels[1, 1])
    out = io.BytesIO()
    figure.savefig(out, dpi=DOTS_PER_INCH)
    return out.getvalue()


def _sawtooth(panel: Axes) -> None:
    """The window over time behind three buffers."""
    for share, line in zip((0.1, 0.5, 1.0), style.line_styles(), strict=False):
        changes = {"links.bottleneck.queue.limit": f"{share} bdp", "duration": "80 s"}
        series: Any = tr.run("first", set=changes).series("cwnd_packets", flow="reno")
        window = series["cwnd_packets"].to_numpy() / BDP_PACKETS
        panel.plot(series["time_s"].to_numpy(), window, label=f"{share:g} BDP", **line)
    panel.axhline(1, **style.LIMIT_LINE)
    panel.set(xlim=(30, 80), ylim=(0, 2.6), xlabel="time (s)", ylabel="window / BDP")
    panel.set_title("One Reno flow: the sawtooth", fontsize="medium", loc="left")
    panel.legend(title="buffer", ncols=3, fontsize="small", frameon=False, loc="upper right")


def _utilization(choices: tr.Choices) -> list[float]:
    name = "links.core.utilization"
    return [100 * choice.metrics[name].mean for choice in choices.choices]


def _many_flows(panel: Axes, many: Path) -> None:
    """Utilization over the buffer for three numbers of flows; a mark at BDP / sqrt(n)."""
    for flows, line in zip((4, 16, 64), style.line_styles(), strict=False):
        limits = {LIMIT: [f"{share} bdp" for share in SHARES]}
        percent = _utilization(
            tr.choices(many, limits, seeds=SEEDS, set={"flows.reno.count": flows})
        )
        panel.plot(SHARES, percent, label=f"{flows} flows", **line)
        rule = flows**-0.5
        panel.plot(rule, percent[SHARES.index(rule)], "o", color=line["color"], markersize=8)
    panel.set_xscale("log")
    panel.set_xticks(SHARES, [f"{share:g}" for share in SHARES])
    panel.minorticks_off()
    panel.plot([], [], "o", color="0.4", markersize=9, label="BDP / √n")
    panel.set(xlabel="buffer (bdp)", ylabel="utilization (%)")
    panel.set_title("Many flows: BDP / √n", fontsize="medium", loc="left")
    panel.legend(fontsize="small", frameon=False, loc="lower right")


def _bursts(panel: Axes, many: Path) -> None:
    """Utilization over small buffers with and without pacing."""
    limits = {LIMIT: [f"{limit} packets" for limit in LIMITS]}
    for is_paced, line in zip((False, True), style.line_styles(), strict=False):
        changes: dict[str, object] = {"flows.reno.pacing": is_paced}
        percent = _utilization(tr.choices(many, limits, seeds=SEEDS, set=changes))
        panel.plot(LIMITS, percent, label="paced" if is_paced else "not paced", **line)
    panel.set_xscale("log")
    panel.set_xticks(LIMITS, [str(limit) for limit in LIMITS])
    panel.minorticks_off()
    panel.set(xlabel="buffer (packets)", ylabel="utilization (%)")
    panel.set_title("16 flows: bursts and pacing", fontsize="medium", loc="left")
    panel.legend(fontsize="small", frameon=False, loc="lower right")


def _delay(panel: Axes) -> None:
    """What more buffer brings and costs."""
    shares = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
    limits = {"links.bottleneck.queue.limit": [f"{share} bdp" for share in shares]}
    choices = tr.choices("first", limits, set={"duration": "1200 s"}).choices
    metrics = [choice.metrics for choice in choices]
    delay = [1e3 * one["links.bottleneck.queue_delay_s_mean"].mean for one in metrics]
    percent = [100 * one["links.bottleneck.utilization"].mean for one in metrics]
    panel.plot(delay, percent, "o-", color=style.COLOURS[0], linewidth=1.2)
    for share, x, y in zip(shares, delay, percent, strict=True):
        panel.annotate(
            f"{share:g} BDP",
            (x, y),
            xytext=(6, -12),
            textcoords="offset points",
            fontsize="small",
        )
    panel.set(xlim=(-10, 335), ylim=(75, 102))
    panel.set(xlabel="mean queueing delay (ms)", ylabel="utilization (%)")
    panel.set_title("One Reno flow: what the buffer costs", fontsize="medium", loc="left")


if __name__ == "__main__":
    main(sys.argv[1:])
