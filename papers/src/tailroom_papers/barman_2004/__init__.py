"""Barman, Smaragdakis, Matta: the effect of router buffer size on HighSpeed TCP (2004)."""

from tailroom_papers.barman_2004 import (
    equation_5,
    figure_1,
    figure_2,
    figure_3,
    figure_4,
    figures_5_6,
    other_controls,
    other_traffic,
    parking_lot,
    partial_synchronization,
    red,
    red_bursts,
    rtt_fairness,
    sensitivity,
)
from tailroom_papers.barman_2004.abstract import abstract
from tailroom_papers.barman_2004.bounds import BOUNDS
from tailroom_papers.framework import *

FIGURES = (
    figure_1.PART,
    figure_2.PART,
    figure_3.PART,
    figure_4.PART,
    figures_5_6.PART_5,
    figures_5_6.PART_6,
    rtt_fairness.PART,
    red.PART_7,
    red.PART_8,
    red_bursts.PART,
)
LEFT_OPEN = (
    sensitivity.PART,
    equation_5.PART,
    partial_synchronization.PART,
    parking_lot.PART,
    other_traffic.PART,
    other_controls.PART,
)
"""Parameters that the paper does not state, and its future work."""

PAPER = Paper(
    name="barman-2004",
    title="The Effect of Router Buffer Size on HighSpeed TCP Performance",
    authors="Dhiman Barman, Georgios Smaragdakis, Ibrahim Matta",
    venue="IEEE GLOBECOM 2004",
    parts=(*FIGURES, *LEFT_OPEN),
    times="2 min quick, 35 min full (two cores)",
    bounds=BOUNDS,
    first_seed=2001,
    abstract=abstract,
)
