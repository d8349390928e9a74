"""Linux hosts as another condition of the studies: which claims and points, and which host."""

from functools import cache

import pytest

from tailroom_papers import framework
from tailroom_papers.framework import Form
from tailroom_papers.framework.plan import Planned, plan_parts
from tailroom_papers.today import linux_hosts

PARTS = {
    "burst-cliff": ("curves", "fitted", "held-out"),
    "today": ("fair-and-codel", "conclusions"),
}
"""The parts that are judged with Linux hosts; that of a hardware switch has hosts of its own."""


@cache
def planned(name: str) -> dict[bool, dict[tuple[str, str], Planned]]:
    """The studies of a paper in its full form: of the parts themselves, and with Linux hosts."""
    paper = framework.load(name)
    found: dict[bool, dict[tuple[str, str], Planned]] = {False: {}, True: {}}
    for one in plan_parts(paper, paper.parts, Form.FULL):
        if one.variation is None or one.variation.name == linux_hosts.NAME:
            found[one.variation is not None][one.part.name, one.study.name] = one
    return found


@pytest.mark.parametrize("name", PARTS)
def test_every_claim_is_judged_with_linux_hosts(name: str) -> None:
    with_linux = planned(name)[True].values()
    assert {one.part.name for one in with_linux} == set(PARTS[name])
    for one in with_linux:
        assert one.variation is not None
        assert one.variation.claims == tuple(claim.name for claim in one.part.claims)
        assert not one.variation.plausible


@pytest.mark.parametrize("name", PARTS)
def test_only_the_host_differs(name: str) -> None:
    """A point with Linux hosts is a point of the study, so that verdicts can be compared."""
    both = planned(name)
    for place, one in both[True].items():
        own = [point.settings for point in both[False][place].points]
        assert all(point.settings in own for point in one.points), place
        bursts = {key: value for key, value in one.study.set.items() if key != "defaults.host"}
        assert one.study.set["defaults.host"] == "linux"
        assert all(key.endswith(".send_burst") for key in bursts), bursts


def test_a_flow_has_the_recovery_of_linux_and_the_bursts_of_the_study() -> None:
    one = planned("burst-cliff")[True]["curves", "curves"]
    scenario = one.points[0].source.resolved
    (group,) = scenario["flows"].values()
    assert group["recovery"] == "rack"
    assert group["send_burst"] == 1


def test_the_networks_of_today_follow_the_kernels_rule_for_bursts() -> None:
    one = planned("today")[True]["conclusions", "two-rtts"]
    assert [one.study.set[f"flows.{group}.send_burst"] for group in ("short", "long")] == [
        "auto"
    ] * 2
    one_flow = planned("today")[True]["conclusions", "background-10g-5ms-drop_tail"].study
    assert set(one_flow.set) == {"defaults.host", "flows.one.send_burst"}
