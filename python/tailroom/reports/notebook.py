"""Results as a notebook shows them: a table, and below it the main picture as an inline PNG.

Each function returns a fragment of HTML that needs no style sheet and no other file; all text is
escaped. `presentation.py` says which function shows which result.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from tailroom.plots import FIGURES
from tailroom.plots.plain_text_figure import NOTEBOOK_DOTS_PER_INCH
from tailroom.reports.document import Block, Drawn, Paragraph, Picture, Table, fragment
from tailroom.scenario.axis import value_words
from tailroom.simulation.metric_catalogue import axis_label, axis_scale
from tailroom.statistics.outcome import Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tailroom.simulation.result import Result
    from tailroom.statistics.intervals import Interval
    from tailroom.studies.choice_study.answer import Choices
    from tailroom.studies.measured_comparison import MeasuredComparison
    from tailroom.studies.prediction import Curves, Predictions
    from tailroom.studies.report_card.evaluation import Evaluation
    from tailroom.studies.size_study.answer import Size
    from tailroom.studies.size_study.frontier import Frontier
    from tailroom.studies.sweep_study.study import SweepResult

MOST_ROWS = 30
"""Longer tables are cut; the last line says how many rows are left out."""
PLUS_MINUS = "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}"
"""Keeps a mean and its interval on one line."""
LINK_METRICS = ("utilization", "loss_fraction", "queue_delay_s_mean", "queue_delay_s_p99")
GROUP_METRICS = ("goodput_bps", "loss_fraction", "rtt_s_mean", "jain_index")
SWEEP_METRICS = LINK_METRICS


def result_html(result: Result) -> str:
    """Links and groups of a run, its warnings, and the first figure for which it has data."""
    summary: Mapping[str, Any] = result.summary
    blocks: list[Block] = [
        Paragraph(
            f"{summary['title']} (seed {summary['seed']}; statistics from "
            f"{summary['measured_from_s']:g} s to {summary['measured_to_s']:g} s)"
        ),
        _table(
            ["link", *map(_label, LINK_METRICS)],
            [
                [name, *(_value(metric, link[metric]) for metric in LINK_METRICS)]
                for name, link in summary["links"].items()
            ],
        ),
        _table(
            ["group", "flows", "congestion control", *map(_label, GROUP_METRICS)],
            [
                [
                    name,
                    f"{group['flows']:,}",
                    group["congestion"] or "-",
                    *(_value(metric, group[metric]) for metric in GROUP_METRICS),
                ]
                for name, group in summary["groups"].items()
            ],
        ),
        *(Paragraph(f"Warning: {warning['text']}") for warning in summary["warnings"]),
    ]
    recorded = [kind for kind, figure in FIGURES.items() if figure.shows(result) is not None]
    if recorded:
        blocks += _picture(lambda: result.plot(recorded[0]), f"{recorded[0]} over time")
    return fragment(blocks)


def sweep_html(result: SweepResult) -> str:
    """Means with 95 % half-widths at each point, and the curves over the main key."""
    keys = list(result.record.axes)
    metrics = [
        metric
        for metric in result.metrics
        if metric.startswith("links.") and metric.rpartition(".")[2] in SWEEP_METRICS
    ][: len(SWEEP_METRICS)]
    columns = [result.intervals(metric) for metric in metrics]
    choices = {key: [point["settings"][key] for point in result.record.points] for key in keys}
    rows = [
        [
            *(value_words(point["settings"][key], choices[key]) for key in keys),
            f"{len(result.rows_by_point[place])}",
            *(
                _interval(name, intervals[place])
                for name, intervals in zip(metrics, columns, strict=True)
            ),
        ]
        for place, point in enumerate(result.record.points)
    ]
    headings = [*keys, "runs", *_headings(metrics)]
    return fragment(
        [
            Paragraph(f"{result.record.title}: means with 95 % confidence intervals"),
            _table(headings, rows),
            *_picture(result.plot, "metrics over the key that varies"),
        ]
    )


def size_html(size: Size) -> str:
    """The answer, every buffer that was simulated, and each target's metric over the buffer."""
    verdicts = {Outcome.YES: "met", Outcome.NO: "missed", Outcome.OPEN: "open"}
    shown = size.shown_metrics
    rows = [
        [
            size.varied.text(tried.limit) + (" (answer)" if tried.limit == size.answer else ""),
            f"{len(tried.point.finished)}",
            verdicts[tried.verdict],
            *(_interval(name, tried.interval(name)) for name in shown),
        ]
        for tried in size.tried
    ]
    headings = [
        "limit" if size.varied.is_limit else size.varied.key,
        "runs",
        "targets",
        *_headings(shown),
    ]
    return fragment(
        [
            Paragraph(f"{size.sentence[:1].upper()}{size.sentence[1:]}."),
            *(Paragraph(f"Warning: {warning['text']}") for warning in size.warnings),
            _table(headings, rows),
            *(_picture(size.plot, "targets over the buffer") if size.tried else []),
        ]
    )


def frontier_html(frontier: Frontier) -> str:
    """A row per value of the other key: the answer, its interval, and what it costs."""
    shown = frontier.shown_metrics
    rows = [
        [
            words,
            one.answer_text,
            one.varied.range_text(one.interval.low, one.interval.high) if one.interval else "-",
            *(_interval(name, one.chosen.interval(name)) if one.chosen else "-" for name in shown),
        ]
        for words, one in frontier.named
    ]
    keys = ", ".join(axis.key for axis in frontier.axes)
    wanted = frontier.sizes[0].varied.wanted
    headings = [keys, wanted, "95 % interval", *_headings(shown)]
    return fragment(
        [
            *(Paragraph(f"Warning: {warning['text']}") for warning in frontier.warnings),
            _table(headings, rows),
            *_picture(frontier.plot, "the answer over the other key"),
        ]
    )


def predictions_html(predictions: Predictions) -> str:
    """A row per model that applies, and the buffers that models require."""
    link = predictions.link
    metrics = ("utilization", "loss_fraction", "queue_delay_s_mean")
    rows = [
        [
            answer.model.name,
            *(_value(name, getattr(answer.prediction, name)) for name in metrics),
            _packets(answer.prediction.required_packets),
            answer.prediction.required_for,
            "; ".join(failing.statement for failing in answer.failing) or "-",
        ]
        for answer in predictions.answers
        if answer.prediction
    ]
    headings = [
        "model",
        *map(_label, metrics),
        "required limit (packets)",
        "required for",
        "assumptions that fail",
    ]
    silent = sum(answer.prediction is None for answer in predictions.answers)
    return fragment(
        [
            Paragraph(
                f"Link {link.name}, {link.discipline}, limit {link.limit_packets:,.0f} packets; "
                f"{silent} of {len(predictions.answers)} models do not apply"
            ),
            _table(headings, rows),
            *_picture(predictions.plot, "required buffer by model"),
        ]
    )


def curves_html(curves: Curves) -> str:
    """The predictions over a key as curves."""
    about = f"Predictions at {len(curves.points)} values of {curves.axis.key}"
    return fragment([Paragraph(about), *_picture(curves.plot, "predictions over the key")])


def choices_html(choices: Choices) -> str:
    """A row per choice, and utilization against queueing delay."""
    rows = [
        [*choice.words, *(_interval(name, choice.metrics.get(name)) for name in choices.metrics)]
        for choice in choices.choices
    ]
    headings = [*choices.headings, *_headings(choices.metrics)]
    seeds = f"{len(choices.seeds)} {'seed' if len(choices.seeds) == 1 else 'seeds'} per choice"
    warnings = [
        Paragraph(f"Warning: {warning['text']} ({', '.join(names)})")
        for warning, names in choices.warnings_by_choice
    ]
    return fragment(
        [
            Paragraph(seeds),
            _table(headings, rows),
            *warnings,
            *_picture(choices.plot, "utilization against queueing delay"),
        ]
    )


def evaluation_html(evaluation: Evaluation) -> str:
    """A row per criterion with its verdict, and a panel per criterion."""
    rows = [
        [
            finding.criterion.name,
            finding.criterion.section,
            finding.decisive.label or "-",
            str(finding.grading),
        ]
        for finding in evaluation.findings
    ]
    return fragment(
        [
            Paragraph(evaluation.sentence),
            _table(["criterion", f"RFC {evaluation.card.rfc}", "decided at", "verdict"], rows),
            *_picture(evaluation.plot, "each criterion, with the references"),
        ]
    )


def measured_html(comparison: MeasuredComparison) -> str:
    """A row per quantity, the sentence on the buffer, and the RTTs."""
    columns = 3 if comparison.simulated else 2
    rows = [row[:columns] for row in comparison.rows]
    return fragment(
        [
            _table(["quantity", "measured", "simulated"][:columns], rows),
            Paragraph(f"Buffer: {comparison.buffer.sentence}"),
            *_picture(comparison.plot, "RTTs over time, and their distributions"),
        ]
    )


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    shown = list(rows[:MOST_ROWS])
    if len(rows) > MOST_ROWS:
        more = f"... {len(rows) - MOST_ROWS:,} more rows"
        shown.append([more, *[""] * (len(headings) - 1)])
    return Table(list(headings), shown)


def _picture(make: Callable[[], Figure], shows: str) -> Iterable[Picture]:
    """The figure as PNG; nothing if there is nothing to draw."""
    try:
        figure = make()
    except ValueError:
        return []
    png = io.BytesIO()
    figure.savefig(png, format="png", dpi=NOTEBOOK_DOTS_PER_INCH)
    return [Picture("", Drawn(png.getvalue(), ""), shows)]


def _headings(metrics: Sequence[str]) -> list[str]:
    """Labels with units; metrics of links name their link if there are several links."""
    links = {metric.split(".")[1] for metric in metrics if metric.startswith("links.")}
    return [
        f"{metric.split('.')[1]}: {_label(metric)}"
        if len(links) > 1 and metric.startswith("links.")
        else _label(metric)
        for metric in metrics
    ]


def _label(metric: str) -> str:
    return axis_label(metric)


def _value(metric: str, value: float | None) -> str:
    """A value in the unit of the column's heading."""
    return "-" if value is None else f"{value * axis_scale(metric):.4g}"


def _interval(metric: str, interval: Interval | None) -> str:
    """A mean with its interval, in the unit of the column's heading."""
    if interval is None or not isfinite(interval.mean):
        return "-"
    mean = _value(metric, interval.mean)
    arms = interval.plus_minus(lambda length: _length(length * axis_scale(metric), mean))
    if arms.startswith("±"):
        width = arms.removeprefix("±")
        return mean if width == "0" else f"{mean}{PLUS_MINUS}{width}"
    return f"{mean} {arms}" if arms else mean


def _length(width: float, mean: str) -> str:
    """Two digits, but none beyond the last decimal of the mean; 0 if nothing is left."""
    rounded = float(f"{width:.2g}")
    if "e" in mean:
        return f"{rounded:g}"
    decimals = len(mean.partition(".")[2])
    text = f"{rounded:,.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if decimals else text
    return text


def _packets(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if isfinite(value) else "none suffices"
