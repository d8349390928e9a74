"""Barman, Smaragdakis and Matta 2004: router buffers and HighSpeed TCP."""

from tailroom.papers.barman_2004.further import FURTHER_PARTS
from tailroom.papers.paper import Paper

PAPER = Paper(
    "barman-2004",
    "The Effect of Router Buffer Size on HighSpeed TCP Performance",
    "D. Barman, G. Smaragdakis, I. Matta",
    "GLOBECOM 2004",
    FURTHER_PARTS,
    "",
)
