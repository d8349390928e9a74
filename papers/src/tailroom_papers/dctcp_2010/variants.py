"""What the paper leaves open about the hosts, as variations of the studies of queries."""

from dataclasses import replace

from tailroom_papers.dctcp_2010.setup import CONTROL
from tailroom_papers.framework import *


def of(study: Study, claims: tuple[str, ...]) -> list[Variation]:
    """Returns the variations of a study of queries.

    Args:
        study: The study, at the points that its claims use.
        claims: Names of the claims that are judged again.
    """
    study = replace(study, seeds=3)
    controls = [
        {"kind": "dctcp", "initial_alpha": 0.0} if control == "dctcp" else control
        for control in study.together[CONTROL]
    ]
    unmarked = study.varied({}, together={**study.together, CONTROL: controls})
    return [
        Variation(
            "an ACK for each packet",
            [study.varied({"defaults.delayed_ack": False})],
            claims,
            reason="the paper calls two packets per ACK typical, and does not state its own",
        ),
        Variation(
            "an initial window of 4",
            [study.varied({"defaults.initial_window": 4})],
            claims,
            reason="connections stay open in the paper, so that a window from before may remain; "
            "RFC 3390 lets a new one begin with 3 or 4 packets",
        ),
        Variation(
            "DCTCP begins with alpha 0",
            [unmarked],
            claims,
            reason="the paper states no first value; that of RFC 8257 is 1, and a connection that "
            "has seen few marks comes near 0",
        ),
        Variation(
            "hosts of today",
            [study.varied({"defaults": {**TODAY, "congestion": "reno"}})],
            claims,
            plausible=False,
            reason='`host = "data_center"`: RACK-TLP, proportional rate reduction, an initial '
            "window of 10; the timeouts stay those of the paper",
        ),
    ]


TODAY: dict[str, object] = {"host": "data_center", "rto_granularity": "10 ms"}
"""Defaults in place of those of the paper's senders."""
