"""Alizadeh et al. 2010: Data Center TCP, its queue and its answer to incast."""

from tailroom_papers.dctcp_2010 import figure_13, figure_18, figure_19, figure_20
from tailroom_papers.dctcp_2010.abstract import abstract
from tailroom_papers.dctcp_2010.setup import BOUNDS, FIRST_SEED
from tailroom_papers.framework import *

PAPER = Paper(
    name="dctcp-2010",
    title="Data Center TCP (DCTCP)",
    authors="M. Alizadeh, A. Greenberg, D. Maltz, J. Padhye, P. Patel, B. Prabhakar, S. Sengupta, "
    "M. Sridharan",
    venue="ACM SIGCOMM 2010",
    parts=(figure_13.PART, figure_18.PART, figure_19.PART, figure_20.PART),
    times="1 min quick, 5 min full (two cores)",
    bounds=BOUNDS,
    first_seed=FIRST_SEED,
    abstract=abstract,
)
