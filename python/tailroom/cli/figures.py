"""The figures that `tailroom plot` draws, and the formats of their files."""

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tailroom.simulation.result import PlotKind
    from tailroom.studies.sweep_study.study import SweepPlotKind


class Kind(StrEnum):
    """Kinds of figures: five of a run, three of a sweep."""

    WINDOWS = "windows"
    UTILIZATION = "utilization"
    DISPERSION = "dispersion"
    ARRIVALS = "arrivals"
    MEMORY = "memory"
    CURVES = "curves"
    HEATMAP = "heatmap"
    TRADEOFF = "tradeoff"


OF_SWEEPS: "dict[Kind, SweepPlotKind]" = {
    Kind.CURVES: "curves",
    Kind.HEATMAP: "heatmap",
    Kind.TRADEOFF: "tradeoff",
}
OF_RESULTS: "dict[Kind, PlotKind]" = {
    Kind.WINDOWS: "windows",
    Kind.UTILIZATION: "utilization",
    Kind.DISPERSION: "dispersion",
    Kind.ARRIVALS: "arrivals",
    Kind.MEMORY: "memory",
}


class FileFormat(StrEnum):
    """The formats of picture files."""

    PNG = "png"
    SVG = "svg"
    PDF = "pdf"
