"""The parts beyond Figures 3 to 7: Figure 1, what the text claims, and the paper's future work."""

from tailroom_papers.auge_2006 import (
    active_flows,
    active_queue,
    announced_model,
    any_capacity,
    figure_1,
    instability,
    loads,
    number_of_flows,
    other_controls,
    priority,
    rule_of_thumb,
    tcp_background,
    transparent,
)

FURTHER_PARTS = (
    figure_1.PART,
    number_of_flows.PART,
    loads.PART,
    transparent.PART,
    tcp_background.PART,
    rule_of_thumb.PART,
    priority.PART,
    any_capacity.PART,
    announced_model.PART,
    active_flows.PART,
    instability.PART,
    other_controls.PART,
    active_queue.PART,
)
