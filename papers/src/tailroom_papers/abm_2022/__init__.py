"""Addanki et al. 2022: Active Buffer Management, compared with dynamic thresholds."""

from tailroom_papers.abm_2022 import loads, requests
from tailroom_papers.abm_2022.abstract import abstract
from tailroom_papers.abm_2022.setup import FIRST_SEED
from tailroom_papers.framework import *

PAPER = Paper(
    name="abm-2022",
    title="ABM: Active Buffer Management in Datacenters",
    authors="V. Addanki, M. Apostolaki, M. Ghobadi, S. Schmid, L. Vanbever",
    venue="ACM SIGCOMM 2022",
    parts=(loads.PART, requests.PART),
    times="1 min quick, 5 min full (two cores)",
    first_seed=FIRST_SEED,
    abstract=abstract,
)
