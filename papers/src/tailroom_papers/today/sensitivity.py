"""What the hosts of today may do otherwise, varied around the claims on utilization."""

from collections.abc import Mapping
from dataclasses import dataclass

from tailroom_papers.framework import *
from tailroom_papers.today import background, barman_today, buffer_curves
from tailroom_papers.today.background import TWENTY, TWO_HUNDRED
from tailroom_papers.today.network import Bottleneck
from tailroom_papers.today.study_points import at_limits

CLAIMS = (
    "ten-percent",
    "twenty-percent",
    "fall",
    "twenty-packets",
    "two-hundred-packets",
    "better-than-reno",
)
"""Claims that are judged again, on links of 10 Gbit/s."""


@dataclass(frozen=True)
class Choice:
    """Another value of something that differs between hosts."""

    name: str
    reason: str
    keys: Mapping[str, object]
    """Keys of every group of flows under congestion control."""
    plausible: bool = True


CHOICES = (
    Choice(
        "hosts without segmentation offload",
        "Packets leave one by one, not 64 KB at a time.",
        {"send_burst": 1},
    ),
    Choice(
        "an ACK for every packet",
        "Receivers acknowledge at once in many situations (RFC 5681, Sec. 4.2).",
        {"delayed_ack": False},
    ),
    Choice(
        "access links 1.2 times as fast as the link",
        "Instead of 2.5 times as fast.",
        {"access_rate": "12 Gbit/s"},
    ),
    Choice(
        "sender jitter of up to ten packet times",
        "Instead of one packet time of the link, 7.2 us: hosts differ.",
        {"send_jitter": "72 us"},
    ),
    Choice(
        "paced senders",
        "Another kind of host: Linux paces Reno and CUBIC behind its fq queue only.",
        {"pacing": True, "send_burst": 1},
        plausible=False,
    ),
)


def variations(form: Form) -> list[Variation]:
    """The claims on utilization with each choice."""
    return [
        Variation(choice.name, _studies(choice, form), CLAIMS, choice.plausible, choice.reason)
        for choice in CHOICES
    ]


def _studies(choice: Choice, form: Form) -> list[Study]:
    """The points of both studies at which the claims are judged."""
    seeds = form.of(2, 2, 8)
    curves = judged_curves(buffer_curves.TEN, form, seeds)
    shares = judged_background(background.TEN, form, seeds)
    return [curves.varied(_of_group("hosts", choice)), shares.varied(_of_group("one", choice))]


def judged_curves(link: Bottleneck, form: Form, seeds: int) -> Study:
    """The points of the buffer curves at which claims are judged."""
    limits = (barman_today.TINY, barman_today.TENTH, barman_today.FIFTH)
    controls = {buffer_curves.CONTROL: barman_today.ASKED}
    return at_limits(buffer_curves.study(link, form), limits, seeds, grid=controls)


def judged_background(link: Bottleneck, form: Form, seeds: int) -> Study:
    """The points alongside a background at which claims are judged."""
    limits = (TWO_HUNDRED,) if link == background.LONG else (TWENTY, TWO_HUNDRED)
    return at_limits(background.study(link, form), limits, seeds)


def _of_group(group: str, choice: Choice) -> dict[str, object]:
    return {f"flows.{group}.{key}": value for key, value in choice.keys.items()}
