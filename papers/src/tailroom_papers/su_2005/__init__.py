"""Su, Pan, Lv and Ping 2005: FHSTCP, HighSpeed TCP that is fair to long round trip times."""

from tailroom.reproduction.paper import Paper
from tailroom_papers.su_2005 import (
    block_pacing,
    capacity,
    figure_3,
    keeping_advantages,
    table_1,
    unstated_parameters,
)

PAPER = Paper(
    name="su-2005-fhstcp",
    title="A fair bulk data transmission protocol in grid environments",
    authors="Su, Pan, Lv and Ping",
    venue="2005",
    parts=(
        table_1.PART,
        figure_3.PART,
        block_pacing.PART,
        keeping_advantages.PART,
        capacity.PART,
        unstated_parameters.PART,
    ),
    times="1 min quick, 12 min full (two cores)",
)
