"""Augé and Roberts, "Buffer sizing for elastic traffic" (NGI 2006)."""

from tailroom_papers.auge_2006 import (
    chaos,
    figure_2,
    figure_3,
    figure_4,
    figure_5,
    figure_6,
    figure_7,
    longest_queue_drop,
    newcomers,
    paced_acks,
)
from tailroom_papers.auge_2006.abstract import abstract
from tailroom_papers.auge_2006.bounds import BOUNDS
from tailroom_papers.auge_2006.further import FURTHER_PARTS
from tailroom_papers.framework import *

PAPER = Paper(
    name="auge-2006",
    title="Buffer sizing for elastic traffic",
    authors="J. Augé, J. Roberts",
    venue="NGI 2006",
    parts=(
        figure_2.PART,
        figure_3.PART,
        figure_4.PART,
        figure_5.PART,
        figure_6.PART,
        chaos.PART,
        figure_7.PART,
        newcomers.PART,
        paced_acks.PART,
        longest_queue_drop.PART,
        *FURTHER_PARTS,
    ),
    bounds=BOUNDS,
    first_seed=2001,
    abstract=abstract,
    times="2 min quick, 40 min full (two cores)",
)
