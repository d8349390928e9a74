"""The figure of all pictures: matplotlib's, without mathematics in the users' texts."""

import io
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import LogFormatter

from tailroom import figure_titles

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.backend_bases import RendererBase


NOTEBOOK_DOTS_PER_INCH = 80
"""Of pictures in a notebook: a figure of 8 inches is 640 pixels wide."""
TRUE_TYPE = 42
"""Fonts of PDF and PostScript files: many journals refuse matplotlib's default, Type 3."""


class PlainTextFigure(Figure):
    """A figure that shows titles, names and values as they are written.

    matplotlib takes what stands between two dollar signs for a formula, and raises an exception
    when it is none. Only the powers of ten of logarithmic axes are formulas here.
    """

    def suptitle(self, t: str, **kwargs: Any) -> Text:
        """Writes the title of the figure, unless titles are left out.

        Args:
            t: The title.
            **kwargs: Options of matplotlib's `suptitle`.
        """
        return super().suptitle(t, **kwargs) if figure_titles.are_wanted() else Text(text=t)

    def draw(self, renderer: "RendererBase") -> None:
        """Draws the figure.

        Args:
            renderer: Draws the parts of the figure.
        """
        powers: set[Text] = set()
        for axes in self.axes:
            for axis in (axes.xaxis, axes.yaxis):
                powers.update(_powers_of_ten(axis))
        for text in self.findobj(Text):
            if text not in powers:
                text.set_parse_math(False)
        super().draw(renderer)

    def savefig(self, *args: Any, **kwargs: Any) -> None:
        """Writes the figure as matplotlib's `savefig` does, with TrueType fonts.

        Args:
            *args: The file.
            **kwargs: Options of matplotlib's `savefig`.
        """
        with mpl.rc_context({"pdf.fonttype": TRUE_TYPE, "ps.fonttype": TRUE_TYPE}):
            super().savefig(*args, **kwargs)

    def _repr_png_(self) -> bytes:
        """The picture, for notebooks: they know figures of pyplot only, and this is none."""
        png = io.BytesIO()
        self.savefig(png, format="png", dpi=NOTEBOOK_DOTS_PER_INCH)
        return png.getvalue()


def _powers_of_ten(axis: "Axis") -> list[Text]:
    """Returns the labels that matplotlib writes as formulas; creates the labels of all ticks."""
    labels: list[Text] = []
    for is_minor, formatter in (
        (False, axis.get_major_formatter()),
        (True, axis.get_minor_formatter()),
    ):
        created = axis.get_ticklabels(minor=is_minor)
        labels += created if isinstance(formatter, LogFormatter) else []
    return labels
