"""The papers' questions for the controls, queues and links of today."""

from tailroom.reproduction.paper import Paper
from tailroom_papers.today.buffer_curves import CURVES_10G, CURVES_100G
from tailroom_papers.today.conclusions import CONCLUSIONS
from tailroom_papers.today.fair_and_codel import FAIR_AND_CODEL
from tailroom_papers.today.hardware import HARDWARE

PAPER = Paper(
    name="today",
    title="The papers' questions on today's links",
    authors="after Barman, Smaragdakis, Matta; Su, Pan, Lv, Ping; Auge, Roberts",
    venue="CUBIC, BBR, fair queueing and CoDel at 10 and 100 Gbit/s",
    parts=(CURVES_10G, CURVES_100G, HARDWARE, FAIR_AND_CODEL, CONCLUSIONS),
    times="1 min quick, 16 min full (two cores)",
)
