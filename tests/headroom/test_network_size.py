"""The smallest headroom and the smallest xoff of a network, against what must arrive and wait."""

import pytest

import tailroom as tr
from tailroom.scenario.scenario import Scenario

pytestmark = pytest.mark.usefixtures("quick_models")

PACKET = 1500
BURST_BYTES = 400_500
NETWORK = f"""
duration = "0.4 ms"
[links.up]
rate = "100 Gbit/s"
delay = "1500 ns"
queue = {{ kind = "drop_tail", limit = "10 MB" }}
pause = {{ xoff = "200 kB", xon = "1500 B", headroom = "90 kB" }}
[links.down]
rate = "25 Gbit/s"
delay = "100 ns"
queue = {{ kind = "drop_tail", limit = "2 MB" }}
[flows.peer]
path = ["up", "down"]
packet_size = "{PACKET} B"
source = {{ kind = "cbr", rate = "100 Gbit/s", phase = "0 s" }}
"""


@pytest.mark.parametrize(
    ("port", "leaves"),
    [
        ({"rate": "100 Gbit/s", "changes": [{"at": "0.1 ms", "rate": "0 bit/s"}]}, 0.0),
        ({"rate": "25 Gbit/s"}, 0.25),
    ],
)
def test_the_headroom_is_the_formula_less_what_leaves_meanwhile(
    port: dict[str, object], leaves: float
) -> None:
    """300 m and the response of 394 quanta at 100 Gbit/s, a pause frame, and a packet just begun.

    What arrives is whole packets, and the search ends at a difference of one packet.
    """
    arrives = 37_500 + 394 * 64 + (64 + 20) + PACKET
    answer = tr.size(
        Scenario.from_toml(NETWORK),
        "links.down.drops_headroom_packets <= 0",
        vary="links.up.pause.headroom",
        set={f"links.down.{key}": value for key, value in port.items()},
        max_seeds=4,
    )
    assert answer.smallest is not None
    assert abs(answer.smallest - (1 - leaves) * arrives) <= PACKET
    formula = tr.headroom("100G", "300m", lossless_frame_bytes=PACKET - 20).terms
    here = ("largest frame, just begun here", "interface (MAC and PHY)")
    assert sum(term.exact_bytes for term in formula if term.name not in here) == arrives


def test_an_xoff_that_holds_the_burst_needs_no_pause() -> None:
    """Three quarters of a burst at 100 Gbit/s wait for a port of 25 Gbit/s when it ends.

    Up to a packet on either link is under way, and the search ends at a difference of one packet.
    """
    scenario = Scenario.from_toml(
        NETWORK.replace("path =", f'stop = "{BURST_BYTES * 8e-5} us"\npath =')
    )
    answer = tr.size(
        scenario,
        ["links.down.drops_packets <= 0", "links.up.paused_fraction <= 0"],
        vary="links.up.pause.xoff",
        max_seeds=4,
    )
    assert answer.smallest is not None
    assert abs(answer.smallest - 0.75 * BURST_BYTES) <= 3 * PACKET


def test_the_drops_of_a_headroom_are_those_of_the_next_link() -> None:
    """Without headroom, packets that arrive over `up` are dropped; `up` itself drops none."""
    links = tr.run(Scenario.from_toml(NETWORK), set={"links.up.pause.headroom": "1500 B"}).links
    assert links["down"]["drops_headroom_packets"] > 0
    assert links["up"]["drops_headroom_packets"] == 0


def test_the_shipped_scenario_marks_before_it_pauses_and_drops_nothing() -> None:
    """The storage class is paused only where it may take an eighth of its share of the memory."""
    for seed in (1, 2, 14):
        for alpha, pauses in (("0.125", False), ("0.015625", True)):
            alphas = {"switches.storage.ingress.alpha": alpha}
            links = tr.run("lossless", seed=seed, set=alphas).links
            assert links["storage-uplink0-switch"]["drops_packets"] == 0
            assert links["storage-switch-h0"]["drops_packets"] == 0
            assert links["storage-switch-h0"]["marks_packets"] > 0
            assert bool(links["storage-uplink0-switch"]["pause_frames"]) == pauses, seed
