"""A study: the papers' questions for the controls, queues and links of today."""

from tailroom_papers.framework import *
from tailroom_papers.today.abstract import abstract
from tailroom_papers.today.bounds import BOUNDS
from tailroom_papers.today.buffer_curves import CURVES_10G, CURVES_100G
from tailroom_papers.today.conclusions import CONCLUSIONS
from tailroom_papers.today.fair_and_codel import FAIR_AND_CODEL
from tailroom_papers.today.hardware import HARDWARE

PAPER = Paper(
    name="today",
    title="The papers' questions on today's links",
    authors="",
    venue="CUBIC, BBR, fair queueing and CoDel at 10 and 100 Gbit/s, after Barman, Smaragdakis, "
    "Matta; Su, Pan, Lv, Ping; Augé, Roberts",
    parts=(CURVES_10G, CURVES_100G, HARDWARE, FAIR_AND_CODEL, CONCLUSIONS),
    times="2 min quick, 25 min full (two cores)",
    bounds=BOUNDS,
    first_seed=2001,
    abstract=abstract,
)
