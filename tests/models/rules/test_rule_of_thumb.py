import pytest

from tailroom.errors import NotApplicableError
from tailroom.models import Requirement
from tailroom.models.rules.rule_of_thumb import MODEL
from tests.models.links import PACKET, dynamic, failed, flows, link


def test_a_10_gigabit_link_with_250_ms_needs_2_5_gigabit() -> None:
    """The example of Appenzeller, Keslassy and McKeown's abstract."""
    bdp = 2.5e9 / (8 * PACKET)
    wan = link(flows(rtt_s=0.25), bdp=bdp, rtt_s=0.25)
    assert wan.rate_bps == pytest.approx(10e9)
    required = MODEL.predict(wan, Requirement()).required_packets
    assert required is not None
    assert required * 8 * PACKET == pytest.approx(2.5e9)


def test_one_reno_flow_is_what_it_supposes() -> None:
    assert not failed(MODEL.assumptions(link(flows())))
    found = failed(MODEL.assumptions(link(flows(3, congestion="cubic", max_window=100))))
    assert set(found) == {
        "flows run reno",
        "one flow, or all reduce together",
        "windows have no other bound",
    }


def test_says_nothing_of_flows_that_come_and_go() -> None:
    with pytest.raises(NotApplicableError, match="link: no permanent flow"):
        MODEL.predict(link(dynamic=(dynamic(1e6),)), Requirement())
