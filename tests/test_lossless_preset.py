"""The preset `lossless`: its storage class drops nothing, whatever the seed."""

import random
import warnings

import pytest

import tailroom as tr


def drops(seed: int, **changes: object) -> int:
    """Packets of the storage class that any of its links drops."""
    values = {f"flows.storage.{key}": value for key, value in changes.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tr.TailroomWarning)
        links = tr.run("lossless", seed=seed, set=values).summary["links"]
    return sum(link["drops_packets"] for name, link in links.items() if name.startswith("storage-"))


def test_all_that_is_outstanding_fits_in_the_sending_switch() -> None:
    scenario = tr.Scenario.read("lossless").resolved
    storage = scenario["flows"]["storage"]
    memory_bytes = 33_000_000
    assert scenario["switches"]["storage"]["queue"]["limit"] == "33 MB"
    packets = storage["count"] * storage["max_window"]
    assert packets * int(storage["packet_size"].removesuffix(" B")) < memory_bytes / 3


def test_a_class_whose_flows_have_no_bound_fills_the_switch() -> None:
    assert drops(14, max_window=100_000_000) > 100_000


def test_the_class_drops_nothing_in_seeds_that_nobody_chose() -> None:
    for seed in [14, *random.Random(63).sample(range(1_000_000), 4)]:
        assert drops(seed) == 0, seed


@pytest.mark.slow
def test_the_class_drops_nothing_in_a_hundred_seeds() -> None:
    for seed in random.Random(64).sample(range(1_000_000), 100):
        assert drops(seed) == 0, seed
