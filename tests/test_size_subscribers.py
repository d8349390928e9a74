"""Numbers instead of a scenario: access links, subscribers, and what was assumed."""

from math import comb

import pytest

import tailroom as tr
from tailroom.errors import ScenarioError
from tailroom.scenario.dumbbell import dumbbell
from tailroom.scenario.subscribers import read_active
from tailroom.studies.size_study.question import Numbers, asked_scenario
from tests.conftest import Tailroom


@pytest.mark.parametrize(("total", "share"), [(1, 0.4), (2, 0.5), (30, 0.1), (400, 0.05), (9, 1.0)])
def test_the_number_of_active_subscribers_is_binomial(total: int, share: float) -> None:
    active = read_active(total, share)
    assert active.flows == max(1, round(total * share))
    low, high = active.usual
    odds = [comb(total, n) * share**n * (1 - share) ** (total - n) for n in range(total + 1)]
    assert sum(odds[:low]) <= 0.025 < sum(odds[: low + 1])
    assert sum(odds[: high + 1]) >= 0.975 - 1e-12 > sum(odds[:high])


def test_subscribers_resolve_to_flows_behind_their_lines() -> None:
    numbers = Numbers(
        rate="10 Gbit/s", rtt="20 ms", access_rate="300 Mbit/s", subscribers=400, active=0.05
    )
    flows = asked_scenario(None, numbers, None).resolved["flows"]["flows"]
    assert (flows["count"], flows["access_rate"]) == (20, "300 Mbit/s")
    assert numbers.assumed == (
        "assumed: 20 of 400 subscribers active, the mean at a share of 0.05 (12 to 29 at 95% of "
        "all instants), each with one long flow",
    )


def test_flows_without_access_links_say_what_each_may_send() -> None:
    [assumed] = Numbers(rate="10G", rtt="20 ms", flows=200).assumed
    assert assumed == (
        "assumed: 200 long flows at once, each of which may send at the rate of the link; else "
        "give access_rate, or subscribers"
    )
    assert Numbers(rate="10G", rtt="20 ms").assumed == ()
    assert Numbers(rate="10G", rtt="20 ms", flows=200, access_rate="1G").assumed == ()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"subscribers": 400}, "active"),
        ({"active": 0.1}, "subscribers"),
        ({"subscribers": 0, "active": 0.1}, "at least 1"),
        ({"subscribers": 4, "active": 1.5}, "active"),
        ({"subscribers": 4, "active": 0.5, "flows": 3}, "leave one"),
        ({"access_rate": "fast"}, "access_rate"),
    ],
)
def test_wrong_subscribers_are_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        tr.size(rate="1G", rtt="20 ms", target="utilization >= 90%", **given)  # type: ignore[arg-type]


def test_the_command_line_states_the_assumption(tailroom: Tailroom) -> None:
    shown = tailroom(
        *("size", "--rate", "20M", "--rtt", "20ms", "--flows", "3", "--duration", "5s"),
        *("--target", "utilization >= 50%", "--max-seeds", "4"),
    ).output
    assert "3 long flows at once" in " ".join(shown.replace("│", " ").split())
    assert "--access-rate" in shown


def test_atlas_near_knows_access_links(tailroom: Tailroom) -> None:
    near = ("atlas", "near", "--rate", "1Gbit/s", "--rtt", "10ms to 100ms", "--flows", "50")
    assert "each of which may send" in " ".join(tailroom(*near).output.replace("│", " ").split())
    behind = tailroom(*near, "--access-rate", "100Mbit/s").output
    assert "behind access links of 100 Mbit/s" in behind
    refused = tailroom(*near, "--access-rate", "10Mbit/s")
    assert refused.status == 2
    assert "50 flows behind such links send at most 50% of the rate" in refused.errors


def test_the_window_behind_a_slow_access_link_is_that_of_its_rate() -> None:
    """Ten flows of 1 Mbit/s need no longer to settle than ten flows that share 10 Mbit/s."""
    slow = dumbbell("1 Gbit/s", "50 ms", 10, access_rate="1 Mbit/s").resolved
    alike = dumbbell("10 Mbit/s", "50 ms", 10).resolved
    assert slow["measure_from"] == alike["measure_from"]
