"""Su, Pan, Lv and Ping 2005: FHSTCP, HighSpeed TCP that is fair to long round trip times."""

from tailroom_papers.framework import *
from tailroom_papers.su_2005 import (
    block_pacing,
    block_readings,
    capacity,
    figure_1,
    figure_2,
    figure_3,
    keeping_advantages,
    sensitivity,
    table_1,
)
from tailroom_papers.su_2005.abstract import abstract
from tailroom_papers.su_2005.setting import BOUNDS, FIRST_SEED

PAPER = Paper(
    name="su-2005-fhstcp",
    title="A fair bulk data transmission protocol in grid environments",
    authors="Su, Pan, Lv and Ping",
    venue="2005",
    parts=(
        figure_1.PART,
        figure_2.PART,
        table_1.PART,
        block_readings.PART,
        figure_3.PART,
        block_pacing.PART,
        keeping_advantages.PART,
        capacity.PART,
        sensitivity.PART,
    ),
    times="3 min quick, 25 min full (two cores)",
    bounds=BOUNDS,
    first_seed=FIRST_SEED,
    abstract=abstract,
)
