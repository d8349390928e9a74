"""The abstract of the report, from its results."""

from collections.abc import Mapping

from tailroom_papers.abm_2022 import loads, requests
from tailroom_papers.abm_2022.measures import query_p99_ms
from tailroom_papers.abm_2022.setup import POLICIES
from tailroom_papers.framework import *


def abstract(results: Mapping[str, PartResults]) -> str:
    """Returns the abstract; empty without both parts."""
    if not {"loads", "requests"} <= set(results):
        return ""

    def p99_ms(part: str, policy: str, settings: Mapping[str, object]) -> float:
        return results[part].study(policy).at(settings).mean(query_p99_ms)

    def span(policy: str, digits: int) -> str:
        times_ms = [p99_ms("loads", policy, settings) for settings in loads.POINTS.values()]
        return f"{min(times_ms):.{digits}f} to {max(times_ms):.{digits}f} ms"

    def pair(share: str) -> str:
        settings = requests.POINTS[f"{share} of the memory"]
        times_ms = [p99_ms("requests", policy, settings) for policy in POLICIES]
        return " and ".join(f"{time_ms:.1f}" for time_ms in times_ms)

    return (
        "Does ABM spare short flows the losses that they have under dynamic thresholds? When 32 "
        "hosts answer a query for half of a switch's memory, 99 of 100 queries are complete within "
        f"{span('dynamic_threshold', 0)} under dynamic thresholds and {span('abm', 1)} under ABM, "
        f"at loads of 20 to 80 %. Queries for an eighth of the memory take {pair('12.5%')} ms, "
        f"those for three quarters {pair('75.0%')} ms. The gain is that of the alpha of 1024 which "
        "the first window of a flow has in the paper's scripts: without it, ABM loses as many "
        "answers as dynamic thresholds. Give first windows the memory that is free."
    )
