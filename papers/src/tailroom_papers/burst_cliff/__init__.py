"""A study: where utilization falls off at small buffers, by a law and in simulation."""

from tailroom_papers.burst_cliff import curves, law_against_simulation
from tailroom_papers.burst_cliff.abstract import abstract
from tailroom_papers.framework import *

PAPER = Paper(
    name="burst-cliff",
    title="The burst cliff: utilization at small buffers, with and without pacing",
    authors="",
    venue="After Barman, Smaragdakis, Matta 2004, Figure 3",
    parts=(curves.PART, law_against_simulation.FITTED, law_against_simulation.HELD_OUT),
    times="2 min quick, 20 min full (two cores)",
    bounds=Bounds.of(__package__),
    first_seed=7001,
    abstract=abstract,
)
