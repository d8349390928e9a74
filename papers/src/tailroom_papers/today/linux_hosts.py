"""Linux hosts, as another condition of the studies, whose own hosts are set key by key."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from tailroom_papers.framework import *

NAME = "Linux hosts"
_WHAT = (
    '`host = "linux"` instead of "plain": recovery by RACK-TLP (RFC 8985), proportional rate '
    "reduction, delayed and quick ACKs, compressed SACKs, an initial window of 10, HyStart of "
    "CUBIC, window validation, timestamps of 1 ms. "
)
AUTOMATIC = (
    'Bursts follow the kernel\'s rule (`send_burst = "auto"`) instead of 64 KB each; other keys '
    "that the study writes stay."
)
"""What changes with the hosts of this package's networks."""


def variation(studies: Sequence[Study], claims: Sequence[Claim], reason: str) -> Variation:
    """Returns the studies with the profile of a Linux host.

    It is no value that the studies leave open, but another kind of host, so it reverses no claim.

    Args:
        studies: Studies of a part, at the points that its claims use.
        claims: The claims that are judged again.
        reason: Which keys the studies keep, and what differs.
    """
    return Variation(
        NAME,
        [study.varied({"defaults.host": "linux"}) for study in studies],
        tuple(claim.name for claim in claims),
        plausible=False,
        reason=_WHAT + reason,
    )


def with_automatic_bursts(study: Study) -> Study:
    """Returns a study whose hosts follow the kernel's rule for the size of a burst.

    Args:
        study: A study of this package's networks, whose hosts send 64 KB at a time.
    """
    scenario = cast(Mapping[str, Any], study.scenario)
    controlled = [name for name, group in scenario["flows"].items() if "congestion" in group]
    return study.varied({f"flows.{name}.send_burst": "auto" for name in controlled})
