"""The parts beyond Figures 3 to 7: Figure 1, what the text claims, and the paper's future work."""

from tailroom_papers.auge_2006 import (
    active_flows,
    active_queue,
    announced_model,
    any_capacity,
    figure_1,
    instability,
    number_of_flows,
    other_controls,
    transparent,
)

FURTHER_PARTS = (
    figure_1.PART,
    number_of_flows.PART,
    transparent.PART,
    any_capacity.PART,
    announced_model.PART,
    active_flows.PART,
    instability.PART,
    other_controls.PART,
    active_queue.PART,
)
