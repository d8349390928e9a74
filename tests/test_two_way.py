"""Two-way traffic against ns-2 and a second simulator, and what a scenario may say about it."""

from dataclasses import replace

import pytest

import tailroom as tr
from tests.validation.two_way import codel, layouts

LINK = {"rate": "10 Mbit/s", "delay": "1 ms", "queue": {"kind": "drop_tail", "limit": "20 packets"}}


@pytest.mark.parametrize("side", [1, 0.5, 0])
def test_one_flow_each_way_has_the_shares_of_ns2_wherever_the_private_delay_lies(
    side: float,
) -> None:
    case = layouts.Case((1, 1), 20, (10, 10), side, 0)
    theirs = layouts.read()[case]
    for place, share in enumerate(case.run(seed=1)):
        # Seeds of ns-2 differ by up to 0.02 (the two flows change places), layouts by 0.1 and more.
        assert min(abs(share - pair[place]) for pair in theirs) < 0.015


def test_the_layouts_differ_in_ns2_by_more_than_the_seeds() -> None:
    reference = layouts.read()
    case = layouts.Case((1, 1), 20, (10, 10), 1, 0)
    first = [pair[0] for pair in reference[case]]
    second = [pair[0] for pair in reference[replace(case, side=0.5)]]
    assert max(first) + 0.2 < min(second)


@pytest.mark.slow
def test_a_second_simulator_gives_the_delays_of_codel_with_one_flow_each_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(codel, "UNTIL_S", 30)
    case = replace(codel.ONE, interval_ms=50)
    for (mean, p99), (our_mean, our_p99, _) in zip(case.simulate(), case.run(), strict=True):
        assert our_mean == pytest.approx(mean, rel=0.2)
        assert our_p99 == pytest.approx(p99, rel=0.2)
        assert our_p99 > 5 * 5, "several targets of 5 ms"


@pytest.mark.parametrize("side", [-0.1, 1.1])
def test_sender_side_is_a_fraction(side: float) -> None:
    flows = {"path": ["link"], "congestion": "reno", "rtt": "50 ms", "sender_side": side}
    scenario = {"duration": "1 s", "links": {"link": LINK}, "flows": {"all": flows}}
    with pytest.raises(tr.ScenarioError) as raised:
        tr.run(scenario)  # type: ignore[arg-type]
    assert "flows.all.sender_side" in str(raised.value)
    assert "1" in str(raised.value)
