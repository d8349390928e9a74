"""Barman, Smaragdakis, Matta: the effect of router buffer size on HighSpeed TCP (2004)."""

from tailroom.reproduction.paper import Paper
from tailroom_papers.barman_2004 import (
    figure_3,
    figure_4,
    figures_5_6,
    other_controls,
    other_traffic,
    parking_lot,
    red,
    rtt_fairness,
    sensitivity,
)

FIGURES = (
    figure_3.PART,
    figure_4.PART,
    figures_5_6.PART_5,
    figures_5_6.PART_6,
    red.PART_7,
    red.PART_8,
    rtt_fairness.PART,
)
LEFT_OPEN = (sensitivity.PART, parking_lot.PART, other_traffic.PART, other_controls.PART)
"""Parameters that the paper does not state, and its future work."""

PAPER = Paper(
    name="barman-2004",
    title="The Effect of Router Buffer Size on HighSpeed TCP Performance",
    authors="Dhiman Barman, Georgios Smaragdakis, Ibrahim Matta",
    venue="IEEE GLOBECOM 2004",
    parts=(*FIGURES, *LEFT_OPEN),
    times="70 s quick, 15 min full (two cores)",
)
