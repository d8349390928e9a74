"""Writes the pages of the atlas from its data, docs/atlas, and a picture per kind of link.

python -m tailroom_atlas.page [--data DIR] [--docs DIR]
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from tailroom.buffer_atlas import data
from tailroom.buffer_atlas.data import MOST_LOSS
from tailroom.buffer_atlas.kinds import KINDS, Kind
from tailroom.buffer_atlas.terms import CONTROLS, QUEUES, SHORT_LOAD, rate_words
from tailroom_atlas import checks, pictures
from tailroom_atlas.cost import FORMS
from tailroom_atlas.fitted_rule import fitted_rule
from tailroom_atlas.plan import plan
from tailroom_atlas.scaling import MOST_OFF, MOST_UNCHECKED, POWERS

DOTS_PER_INCH = 110
MIDDLE = 0.98
"""The utilization of the short tables."""
LARGE = 1000
"""Numbers from here on are shown without a power of ten."""
FEWEST_FOR_RULES = 3
"""Fewest cells from which a line about a model is made."""

NOTHING = "-"
"""Stands for what no run shows: below the smallest allowed value, or without an answer."""

OLD = "†"
"""Marks a row of an older engine."""

Row = Mapping[str, Any]


def pages(atlas: data.Atlas, pictures: Sequence[str]) -> dict[str, str]:
    """The text of each page by its name: `index`, and one per kind of link.

    Args:
        atlas: The data.
        pictures: Names of the kinds that have a picture.
    """
    answers = atlas.answers.to_pylist()
    chosen = _without_rungs(answers)
    parts = {
        "index": [
            *_head(atlas, answers),
            *_summary(chosen),
            *_rules(answers),
            *_fitted(answers),
            *_certainty(answers),
            *_scaling(answers),
            *_limits(),
        ]
    }
    for kind in KINDS:
        own = [row for row in chosen if row["kind"] == kind.name]
        if own:
            parts[kind.name] = list(_kind(kind, own, kind.name in pictures))
    return {name: "\n".join(lines).rstrip() + "\n" for name, lines in parts.items()}


def draw(atlas: data.Atlas) -> dict[str, Figure]:
    """A picture per kind of link that has computed cells.

    Args:
        atlas: The data.
    """
    answers, curves = _without_rungs(atlas.answers.to_pylist()), atlas.curves.to_pylist()
    found = {}
    for kind in KINDS:
        own = [row for row in answers if row["kind"] == kind.name]
        names = {row["cell"] for row in own}
        figure = pictures.draw(kind, own, [row for row in curves if row["cell"] in names])
        if figure:
            found[kind.name] = figure
    return found


def _without_rungs(answers: Sequence[Row]) -> list[Row]:
    """The cells that the rule chooses, without those that only others are scaled from."""
    return [row for row in answers if not row["is_rung"]]


def _head(atlas: data.Atlas, answers: Sequence[Row]) -> Iterator[str]:
    chosen = _without_rungs(answers)
    hows = [row["how"] for row in {row["cell"]: row for row in chosen}.values()]
    links = {(row["kind"], *_site_cells(row).split(" | ")) for row in chosen}
    rungs = len({row["cell"] for row in answers}) - len(hows)
    engines = ", ".join(dict.fromkeys(_short_build(row["engine"]) for row in answers))
    unanswered = len(hows) - len({row["cell"] for row in chosen if row["value"] is not None})
    yield from (
        "# Atlas: what buffer, for which link?",
        "",
        f"The smallest buffers of {len(links)} links, each with several controls and queue "
        f"disciplines, for {', '.join(map(_words, data.UTILIZATIONS[:-1]))} and "
        f"{_words(data.UTILIZATIONS[-1])} utilization, computed with tailroom ({engines}). Of "
        f"{len(hows)} cells {hows.count('full')} are computed in full, {hows.count('short')} with "
        f"fewer seeds and shorter runs, and {hows.count('scaled')} are scaled from {rungs} smaller "
        f"links: {atlas.curves.num_rows:,} buffers with {sum(atlas.curves['runs'].to_pylist()):,} "
        f"runs. {unanswered} cells have no answer for any of the three. "
        "[The guide](../guide/atlas.md) says what follows from them, and how to ask for a link "
        "between them. [Switches](switch.md), whose ports share memory, have a page of their "
        "own.",
        "",
        *_ages(answers),
        "```text",
        "tailroom atlas near --rate 1Gbit/s --rtt 40ms --flows 100   # the nearest cells",
        "tailroom atlas show CELL                                    # all of a cell",
        "tailroom atlas run CELL                                     # repeat it",
        "tailroom atlas run --out atlas                              # repeat all: four hours",
        "```",
        "",
        "**Which links.** Every *site* (a kind of link, a rate, a range of RTTs, a number of long "
        "flows) has cells behind DropTail with long flows under CUBIC, under BBRv3 and under half "
        f"of each, and with short flows that offer {_words(SHORT_LOAD)} of the link next to CUBIC "
        "and next to half of each. Typical sites also have CUBIC that the hosts pace, FQ-CoDel and "
        "PIE under CUBIC, BBRv3 and half of each, and DualPI2 under Prague and under half CUBIC, "
        "half Prague. Hosts are `linux` (segmentation bursts; BBRv3 and Prague pace, CUBIC does "
        "not unless the cell says so). There is no half of a single flow, and no BBRv3 inside data "
        "centres, where it would measure its RTT for 200 ms every 5 s.",
        "",
        "**How to read it.** For DropTail the answer is the limit in packets of 1500 bytes, and "
        "its part of the bandwidth-delay product (bdp). For the others it is the target delay "
        "(under Prague alone, the threshold from which packets are marked): their limit is 4 bdp "
        "or more and does not bind. An answer is the smallest value that was shown, with 95 % "
        "confidence, to give the utilization. `<=` says that the smallest value that the queue "
        "takes is enough; `*` that a larger value misses the utilization again; *open* that the "
        "runs do not decide; `-` stands for what no run shows. A small buffer may give utilization "
        "at the cost of heavy loss: the smallest value that also loses at most "
        f"{_words(MOST_LOSS)} has a column of its own (`~`: between simulated values, without "
        "confidence). Smaller links "
        "that others are scaled from are in the data, and not in the tables.",
        "",
    )


def _ages(answers: Sequence[Row]) -> Iterator[str]:
    for age in data.ages(answers):
        yield from (f"{age} Such rows have {OLD} in the last column.", "")


def _how(row: Row) -> str:
    return f"{row['how']} {OLD}" if data.is_old(row) else row["how"]


def _summary(answers: Sequence[Row]) -> Iterator[str]:
    yield from (
        f"## Long flows under CUBIC behind DropTail, {_words(MIDDLE)} utilization",
        "",
        "| kind of link | rate | RTT | flows | packets | ms | bdp | loss | mean delay | packets "
        f"with a loss of at most {_words(MOST_LOSS)} | how |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    )
    for kind in KINDS:
        for row in answers:
            if row["kind"] == kind.name and _is_plain(row) and row["target_utilization"] == MIDDLE:
                yield (
                    f"| [{kind.words}]({kind.name}.md) | {_site_cells(row)} | {_value(row)} | "
                    f"{_scaled(row['buffer_s'], 1e3)} | {_scaled(row['buffer_bdp'])} | "
                    f"{_percent(row['loss_fraction'])} | "
                    f"{_scaled(row['queue_delay_s_mean'], 1e3, ' ms')} | {_low_loss(row)} | "
                    f"{_how(row)} |"
                )
    yield ""


def _low_loss(row: Row) -> str:
    """The second answer, in packets or ms: ~ marks an interpolated one."""
    if row["low_loss_value"] is None:
        return NOTHING
    sign = "~ " if row["low_loss_status"] == "interpolated" else ""
    value = row["low_loss_value"]
    return f"{sign}{value / 1e3:.3g}" if row["unit"] == "us" else f"{sign}{value:,.0f}"


def _is_plain(row: Row) -> bool:
    return (row["queue"], row["traffic"], row["control"]) == ("drop_tail", "long", "cubic")


def _kind(kind: Kind, own: Sequence[Row], has_picture: bool) -> Iterator[str]:
    yield from (
        f"# {kind.words}",
        "",
        "[The atlas](index.md) explains the rows. An answer is a limit in packets (in bdp) behind "
        "DropTail, and else a target in ms; the columns after the answers are those of "
        f"{_words(MIDDLE)}.",
        "",
        *_ages(own),
    )
    if has_picture:
        yield from (
            f"![{kind.words}: utilization over the buffer, and over the mean delay]"
            f"(../images/atlas_{kind.name}.png)",
            "",
        )
    targets = data.UTILIZATIONS
    yield (
        "| rate | RTT | flows | queue | flows under | "
        + " | ".join(f"{_words(target)}" for target in targets)
        + " | loss (%) | delay: mean, 99 % (ms) | answer with a loss of at most "
        f"{_words(MOST_LOSS)} | utilization (%) with a tenth, half, twice of it | how |"
    )
    yield "| --- " * (10 + len(targets)) + "|"
    before = ""
    for cell in dict.fromkeys(row["cell"] for row in own):
        rows = {row["target_utilization"]: row for row in own if row["cell"] == cell}
        middle = rows[MIDDLE]
        site = _site_cells(middle)
        short = ", and short flows" if middle["traffic"] == "long_and_short" else ""
        yield (
            f"| {' |  | ' if site == before else site} | {QUEUES[middle['queue']]} | "
            f"{CONTROLS[middle['control']].words}{short} | "
            + " | ".join(_answer(rows[target]) for target in targets)
            + f" | {_scaled(middle['loss_fraction'], 100)} | "
            f"{_scaled(middle['queue_delay_s_mean'], 1e3)}, "
            f"{_scaled(middle['queue_delay_s_p99'], 1e3)} | {_low_loss(middle)} | "
            + ", ".join(_scaled(middle[f"{word}_utilization"], 100) for word in data.FRACTIONS)
            + f" | {_how(middle)} |"
        )
        before = site
    yield ""


def _rules(answers: Sequence[Row]) -> Iterator[str]:
    agreements = [
        found
        for found in checks.rule_agreements(answers, plan(), MIDDLE)
        if len(found.ratios) >= FEWEST_FOR_RULES
    ]
    if not agreements:
        return
    yield from (
        "## The rules of the literature",
        "",
        f"The buffer that a [model](../models/buffer-rules.md) requires for {_words(MIDDLE)}, over "
        "that of the atlas: computed DropTail cells with long flows. A model is asked although "
        "some of its assumptions may fail; `tailroom model` names them.",
        "",
        "| model | control | cells | median ratio | within a factor of "
        f"{checks.NEAR:g} | furthest off |",
        "| --- | --- | --- | --- | --- | --- |",
    )
    for found in sorted(agreements, key=lambda one: (one.control, -one.near / len(one.ratios))):
        cell, ratio = found.worst
        yield (
            f"| `{found.model}` | {CONTROLS[found.control].words} | {len(found.ratios)} | "
            f"{_ratio(found.median)} | {found.near} | {_ratio(ratio)} at `{cell}` |"
        )
    yield ""
    yield from _rules_by_kind(agreements, {row["cell"]: row["kind"] for row in answers})


def _rules_by_kind(
    agreements: Sequence[checks.RuleAgreement], kinds: Mapping[str, str]
) -> Iterator[str]:
    """Where a model comes near and where it fails: its median ratio for each kind, under CUBIC."""
    of_cubic = [found for found in agreements if found.control == "cubic"]
    seen = {kinds[cell] for found in of_cubic for cell in found.cells}
    shown = [kind for kind in KINDS if kind.name in seen]
    if not of_cubic:
        return
    models = sorted(of_cubic, key=lambda found: -found.near / len(found.ratios))
    yield from (
        "The median ratio for each kind of link, long flows under CUBIC:",
        "",
        "| kind of link | " + " | ".join(f"`{found.model}`" for found in models) + " |",
        "| --- " * (1 + len(models)) + "|",
    )
    for kind in shown:
        cells = []
        for found in models:
            pairs = zip(found.cells, found.ratios, strict=True)
            ratios = [ratio for cell, ratio in pairs if kinds[cell] == kind.name]
            cells.append(_ratio(float(np.median(ratios))) if ratios else NOTHING)
        yield f"| {kind.words} | " + " | ".join(cells) + " |"
    yield ""


def _fitted(answers: Sequence[Row]) -> Iterator[str]:
    lines = []
    for control in CONTROLS:
        for target in data.UTILIZATIONS:
            rule = fitted_rule(answers, target, control)
            if rule:
                lines.append(
                    f"| {CONTROLS[control].words} | {_words(target)} | {rule.factor:.3g} | "
                    f"{rule.flows_exponent:.2f} | {rule.window_exponent:.2f} | {rule.cells} | "
                    f"x {rule.median_error:.2f} | x {rule.error_90:.2f} |"
                )
    if lines:
        yield from (
            "## A fitted rule",
            "",
            "```math",
            r"\frac{B}{C T} = a\, n^b\, W^c",
            "```",
            "",
            "n long flows whose fair window is W = C T / n packets, behind DropTail; rungs of the "
            "scaling are left out. The errors are those of kinds of links to which the formula "
            "was not fitted; some kinds resemble each other. Where more than a fifth of the cells "
            "have no answer, there is no rule.",
            "",
            "| control | utilization | a | b | c | cells | median error | nine of ten below |",
            "| --- | --- | --- | --- | --- | --- | --- | --- |",
            *lines,
            "",
        )


def _certainty(answers: Sequence[Row]) -> Iterator[str]:
    yield from ("## How sure it is", "")
    for how in ("full", "short"):
        yield _spread_words(how, [row for row in answers if row["how"] == how and row["value"]])
    checks = sorted(
        {
            (row["cell"], row["target_utilization"]): row["scaling_check"]
            for row in answers
            if row["scaling_check"] is not None
        }.values()
    )
    if checks:
        off = np.maximum(checks, 1 / np.array(checks))
        yield (
            f"* *scaled*: {len(checks)} answers can be both scaled and computed (see below), by "
            f"one step each: scaling is off by a factor of {np.median(off):.2f} in the median, and "
            f"of {np.quantile(off, 0.9):.2f} or less for nine of ten; where it is more than "
            f"{MOST_OFF:g}, the scaled cell is left open. Of the scaled cells, "
            f"{_step_words(answers)}: the error of one step is then raised to a power."
        )
    yield from _lookup_words(answers)
    yield ""


def _spread_words(how: str, rows: Sequence[Row]) -> str:
    """How far apart the answers are from what is too small, and from where the mean crosses."""
    form = FORMS["full" if how == "full" else "short"]
    words = f"* *{how}*: up to {form.max_seeds} seeds per buffer"
    gaps = [row["value"] / row["too_small"] for row in rows if row["too_small"]]
    over = [row["value"] / row["crossing"] for row in rows if row["crossing"]]
    if not gaps or not over:
        return f"{words}."
    return (
        f"{words}. The answer is {np.median(gaps):.2f} times the largest value that is known to be "
        f"too small in the median, and up to {np.quantile(gaps, 0.9):.2f} times for nine of ten "
        "(column `too_small`). It is on the safe side: the mean utilization crosses the target at "
        f"1/{np.median(over):.2f} of it in the median (column `crossing`)."
    )


def _step_words(answers: Sequence[Row]) -> str:
    flows = {row["cell"]: row["flows"] for row in answers}
    scaled = {row["cell"]: row["scaled_from"] for row in answers if row["how"] == "scaled"}
    ratios = [
        round(flows[cell] / flows[rungs.split(", ")[0]])
        for cell, rungs in scaled.items()
        if rungs.split(", ")[0] in flows
    ]
    counts = [(ratio, ratios.count(ratio)) for ratio in sorted(set(ratios))]
    parts = [f"{number} have {ratio} times the flows" for ratio, number in counts]
    return ", ".join(parts) + " of the largest link that was computed"


def _lookup_words(answers: Sequence[Row]) -> Iterator[str]:
    """How far off the look-up is at cells that are left out, for each utilization."""
    parts = []
    for target in data.UTILIZATIONS:
        errors, count = checks.lookup_errors(answers, target)
        if errors:
            parts.append(
                f"for {_words(target)} by a factor of {np.median(errors):.2f} in the median and of "
                f"{np.quantile(errors, 0.9):.2f} or less for nine of ten ({len(errors)} of {count} "
                "cells; the others have no cell nearby)"
            )
    if parts:
        yield (
            "* `tailroom atlas near` at computed DropTail cells that were left out for this test "
            f"is off {'; '.join(parts)}."
        )


def _scaling(answers: Sequence[Row]) -> Iterator[str]:
    """How answers are scaled, and what the scaling says of links that were also computed."""
    if all(row["scaling_exponent"] is None for row in answers):
        return
    yield from (
        "## Scaling",
        "",
        "At the same share per flow, the buffer grows with a power of the number of flows (1: in "
        "proportion to the rate; 1/2: as the square-root rule has it), which two smaller links "
        "give. Cells with 1,000 flows at 1 and 10 Gbit/s are computed and scaled; of a cell that "
        "is only scaled, the largest of the smaller links is, from two that are smaller still. A "
        f"scaling whose power is not within {POWERS[0]:g} to {POWERS[1]:g}, which is off by more "
        f"than a factor of {MOST_OFF:g} there, or that has no such check beyond {MOST_UNCHECKED} "
        "times the flows, is not believed, and the answer is open. `tailroom atlas show CELL` "
        "names the smaller links, the power and the check.",
        "",
    )
    checks = [row for row in answers if row["how"] != "scaled" and row["scaling_check"] is not None]
    if checks:
        low, high = (pick(checks, key=lambda row: row["scaling_check"]) for pick in (min, max))
        yield from (
            "Of the cells that are computed and scaled, scaled over computed buffer is furthest "
            f"off at {_check_words(low)} and at {_check_words(high)}.",
            "",
        )


def _check_words(row: Row) -> str:
    return f"`{row['cell']}` for {_words(row['target_utilization'])} (x {row['scaling_check']:.2g})"


def _limits() -> Iterator[str]:
    yield from (
        "## What was not varied",
        "",
        "One link is congested, at a constant rate and without random loss; data flow in one "
        "direction, and packets have 1500 bytes. RTTs are drawn from the range; that of a single "
        "flow from the 3 % around its mean. FQ-CoDel, PIE and DualPI2 have long flows only. Hosts "
        "have interfaces of 10 Gbit/s, or faster ones where the link or a flow's share needs it "
        "(`tailroom atlas scenario` prints `access_rate`). Short flows "
        f"offer {_words(SHORT_LOAD)} with bounded Pareto sizes (shape 1.2, from 10 kB) under "
        "CUBIC, from hosts with the same interfaces; behind slower access links they need less "
        "([an example](../guide/size.md)). Half and half means numbers of flows. FQ-CoDel's "
        "interval is about the longest "
        "RTT, as RFC 8290 advises. Reno, DCTCP, BBRv1 and older controls, ECN without "
        "L4S, Wi-Fi and cellular rates that change, and single flows with windows above 12,500 "
        "packets are left out: `tailroom size` simulates such a link itself.",
        "",
    )


def _site_cells(row: Row) -> str:
    return (
        f"{rate_words(row['rate_bps'])}/s | {1e3 * row['shortest_rtt_s']:g} to "
        f"{1e3 * row['longest_rtt_s']:g} ms | {row['flows']:,}"
    )


def _value(row: Row) -> str:
    if row["value"] is None:
        return str(row["status"])
    return f"{'<= ' if row['status'] == 'smallest' else ''}{row['value']:,.0f}"


def _answer(row: Row) -> str:
    """The answer in packets with its part of the bdp, or in ms."""
    if row["value"] is None:
        return f"{row['status']} (best {_percent(row['best_utilization'])})"
    sign = "<= " if row["status"] == "smallest" else ""
    mark = "*" if row["larger_that_misses"] else ""
    if row["unit"] == "us":
        return f"{sign}{1e3 * row['buffer_s']:.3g}{mark}"
    return f"{_value(row)}{mark} ({row['buffer_bdp']:.2g})"


def _scaled(value: float | None, factor: float = 1.0, unit: str = "") -> str:
    if value is None:
        return NOTHING
    shown = factor * value
    return f"{shown:,.0f}{unit}" if shown >= LARGE else f"{shown:.3g}{unit}"


def _short_build(build: str) -> str:
    """The version with the first digits of its commit; the data has all of them."""
    version, plus, commit = build.partition("+")
    return f"{version}{plus}{commit[:8]}"


def _ratio(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"


def _words(fraction: float) -> str:
    return f"{100 * fraction:g} %"


def _percent(value: float | None) -> str:
    return NOTHING if value is None else f"{100 * value:.3g} %"


def main() -> None:
    """Writes the pages and the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=data.SHIPPED, help="directory of the data")
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="docs directory")
    arguments = parser.parse_args()
    atlas = data.read(arguments.data)
    figures = draw(atlas)
    images = arguments.docs / "images"
    images.mkdir(parents=True, exist_ok=True)
    for name, figure in figures.items():
        figure.savefig(images / f"atlas_{name}.png", dpi=DOTS_PER_INCH, metadata={"Software": None})
    place = arguments.docs / "atlas"
    place.mkdir(parents=True, exist_ok=True)
    texts = pages(atlas, list(figures))
    for name, text in texts.items():
        (place / f"{name}.md").write_text(text, encoding="utf-8")
    print(f"wrote {len(texts)} pages in {place} and {len(figures)} pictures")


if __name__ == "__main__":
    main()
