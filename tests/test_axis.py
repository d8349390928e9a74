"""An axis: lists, ranges, and what is refused."""

import pytest

from tailroom import ScenarioError
from tailroom.scenario.axis import axis, parse_axis

KEY = "links.bottleneck.queue.limit"


def test_a_list_keeps_its_order_and_its_units() -> None:
    read = parse_axis(f'{KEY}=["100 packets", "10 packets"]')
    assert read.values == ("100 packets", "10 packets")
    assert (read.numbers, read.unit) == ([100.0, 10.0], "packets")


def test_values_between_commas_are_toml_or_text() -> None:
    assert parse_axis("seed=1, 2").values == (1, 2)
    assert parse_axis(f"{KEY}=10 packets,0.1 bdp").values == ("10 packets", "0.1 bdp")
    assert parse_axis(f"{KEY}=10 packets,0.1 bdp").numbers is None
    assert parse_axis("flows.a.congestion=reno,cubic").values == ("reno", "cubic")


def test_a_linear_range_is_evenly_spaced() -> None:
    read = axis("seed", {"from": 0, "to": 10, "points": 6})
    assert read.values == (0, 2, 4, 6, 8, 10)
    rates = axis("links.a.rate", {"from": "0.1 Gbit/s", "to": "0.4 Gbit/s", "points": 4})
    assert rates.values == ("0.1 Gbit/s", "0.2 Gbit/s", "0.3 Gbit/s", "0.4 Gbit/s")


def test_a_logarithmic_range_has_equal_ratios_and_whole_packets_once() -> None:
    wide = axis(KEY, {"from": "10 packets", "to": "1000 packets", "points": 5, "scale": "log"})
    # 10 times 10^(k/2): 31.6 and 316.2, rounded.
    assert wide.numbers == [10, 32, 100, 316, 1000]
    narrow = axis(KEY, {"from": "1 packets", "to": "3 packets", "points": 9, "scale": "log"})
    assert narrow.numbers == [1, 2, 3]


@pytest.mark.parametrize("key", ["links.a.\nrate", "links. a.rate", " seed", "a\x1bb", "a\u202eb"])
def test_a_key_has_one_spelling(key: str) -> None:
    with pytest.raises(ScenarioError, match="is not a dotted key; write it as in") as refused:
        axis(key, [1, 2])
    assert str(refused.value).isprintable()


def test_one_packet_has_the_unit_of_several() -> None:
    assert axis(KEY, ["1 packet", "2 packets"]).numbers == [1, 2]
    read = axis(KEY, {"from": "1 packet", "to": "3 packets", "points": 3})
    assert read.values == ("1 packets", "2 packets", "3 packets")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed", "not KEY=VALUES; give"),
        ("=3", "not KEY=VALUES; give"),
        ("seed=[]", "the list of values is empty"),
        ("seed=[1, 2", "is not TOML"),
        ("seed={ from = 1, to = 2 }", "a range takes from, to, points and scale"),
        ("seed={ from = 1, to = 2, points = 1 }", "points = 1"),
        ("seed={ from = 1, to = 1, points = 3 }", "no range from 1 to 1"),
        ('a={ from = "1 ms", to = "2 s", points = 3 }', "not numbers with the same unit"),
        ('a={ from = 0, to = 2, points = 3, scale = "log" }', "positive on a logarithmic"),
        ('a={ from = 1, to = 2, points = 3, scale = "ln" }', 'give "linear" or "log"'),
        ("seed={ from = 0, to = 1, points = 20000 }", "give a number from 2 to 10000"),
    ],
)
def test_what_is_no_axis_is_refused(text: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message.replace("(", r"\(")):
        parse_axis(text)
