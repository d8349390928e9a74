"""tailroom meets the vectors, and a control with a wrong number does not."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from tailroom.errors import VectorFileError
from tailroom.pfc_headroom import terms
from tailroom.scenario.scenario import Scenario
from tailroom.vectors.judge import misses
from tailroom.vectors.runs import results_of
from tailroom.vectors.scripts import AckScript, HeadroomScript
from tailroom.vectors.sets import SETS, all_vectors, vectors_of
from tailroom.vectors.vector import Vector

VECTORS = {vector.id: vector for vector in all_vectors()}
OFTEN = [name for name in VECTORS if not name.startswith("highspeed")]
ROWS = [name for name in VECTORS if name.startswith("highspeed")]
SEEDS = range(1001, 1101)
"""Other seeds than any with which the vectors were written."""
BY_CHANCE = [name for name in VECTORS if VECTORS[name].chance]
BBR = [name for name in VECTORS if name.startswith("bbr3")]


def assert_met(vector: Vector, seed: int) -> None:
    found = misses(vector.expect, results_of(vector, seed))
    assert not found, (seed, [(miss.found, miss.expectation.value) for miss in found])


@pytest.mark.parametrize("name", [*OFTEN, *ROWS[:24:8], ROWS[-1]])
def test_tailroom_meets_a_vector(name: str) -> None:
    assert_met(VECTORS[name], seed=SEEDS[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS)
def test_tailroom_meets_each_row_of_highspeed(name: str) -> None:
    assert_met(VECTORS[name], seed=SEEDS[1])


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_CHANCE)
def test_the_bands_are_wide_enough_for_chance(name: str) -> None:
    """If a run missed a band with a probability of 3 % or more, 100 would do so 95 times of 100."""
    for seed in SEEDS:
        assert_met(VECTORS[name], seed)


def test_vectors_without_chance_do_not_depend_on_the_seed() -> None:
    """But for most rows of HighSpeed TCP, which differ in a window alone."""
    certain = [name for name in (*OFTEN, ROWS[0]) if not VECTORS[name].chance]
    assert len(certain) > 30
    for name in certain:
        assert results_of(VECTORS[name], 1) == results_of(VECTORS[name], 2), name


@pytest.mark.slow
@pytest.mark.parametrize("name", BBR)
def test_each_vector_of_bbr_catches_another_control(name: str) -> None:
    others: tuple[dict[str, Any], ...] = (
        {"bbr1": {}},
        {"cubic": {}},
        {"fixed_window": {"window": 40.0}},
    )
    assert any(_misses(mutated(VECTORS[name], "control", other)) for other in others)


def _misses(vector: Vector) -> bool:
    """Whether results miss the vector, or have no event from which its script counts."""
    try:
        return bool(misses(vector.expect, results_of(vector, seed=SEEDS[0])))
    except VectorFileError:
        return True


OF_LINUX: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("linux.idle-restart", "slow_start_after_idle", {"": False}),
    ("linux.hystart-delay", "hystart", {"": False}),
    ("linux.hystart-train", "hystart", {"": False}),
    ("linux.fast-retransmit", "control", {"reno": {}}),
    ("linux.prr-lost-acks", "has_sack", {"": False}),
    ("linux.prr-safe-ack", "control", {"reno": {}}),
    ("linux.prr-after-mark", "control", {"cubic": {}}),
    ("linux.undo-by-timestamp", "has_timestamps", {"": False}),
    ("linux.reordering-window", "has_sack", {"": False}),
    ("linux.probe-then-reduction", "control", {"cubic": {}}),
    ("linux.repeated-timeouts", "handshake_rtt_s", {"": 0.11}),
    ("linux.pacing-slow-start", "is_paced", {"": False}),
    ("linux.pacing-avoidance", "is_paced", {"": False}),
    ("linux.pacing-pairs", "is_paced", {"": False}),
    ("linux.pacing-aggregates", "handshake_rtt_s", {"": 0.004}),
    ("linux.pacing-largest-aggregate", "packet_bytes", {"": 8_000}),
    ("linux.pacing-half-a-window", "is_paced", {"": False}),
    ("linux.deferral", "is_paced", {"": True}),
)
OTHER_BURSTS = (
    ("linux.pacing-pairs", 1),
    ("linux.pacing-aggregates", 2),
    ("linux.pacing-aggregates", 8),
    ("linux.pacing-largest-aggregate", 9),
    ("linux.pacing-half-a-window", 9),
    ("linux.deferral", 1),
    ("linux.deferral", 3),
    ("linux.deferral-ack-not-due", 4),
)
"""Vectors, and bursts in the place of Linux's rule that they catch."""


def mutations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """A set or a vector, and what of its scripts becomes wrong."""
    yield "reno", "control", {"aimd": {"increase": 2.0}}
    yield "reno", "control", {"aimd": {"decrease": 0.4}}
    yield "cubic", "parameters", {"c": 0.5}
    yield "cubic", "parameters", {"beta": 0.72}
    yield "cubic", "parameters", {"fast_convergence": False}
    yield "cubic", "control", {"reno": {}}
    yield "highspeed", "parameters", {"high_p": 1.1e-7}
    yield "highspeed", "parameters", {"high_decrease": 0.12}
    yield "highspeed", "parameters", {"low_window": 45.0}
    yield "highspeed", "parameters", {"increase": "linux_table"}
    yield "dctcp", "parameters", {"gain": 1 / 8}
    yield "dctcp", "parameters", {"initial_alpha": 0.8}
    yield "dctcp", "control", {"reno": {}}
    yield "fhstcp", "parameters", {"c": 9.0}
    yield "prague", "parameters", {"initial_alpha": 0.9}
    yield "prague", "parameters", {"min_virtual_rtt": 0.023}
    yield "prague", "parameters", {"transition_rounds": 400}
    yield "bbr3", "control", {"bbr1": {}}
    yield "bbr3", "detects_spurious_loss", {"": False}
    yield "bbr3.up-spurious-recovery", "detects_spurious_loss", {"": False}
    yield "bbr3.refill-pause", "control", {"bbr1": {}}
    yield "hystart", "slow_start", {"standard": None}
    yield "recovery", "proportional_rate_reduction", {"": False}
    yield "recovery", "recovery", {"sack": None}
    yield "recovery.rack-growing-window", "recovery", {"sack": None}
    yield from OF_LINUX
    yield "codel", "parameters", {"target": 0.006}
    yield "codel", "parameters", {"interval": 0.098}
    yield "fq_codel", "parameters", {"flows": 1}
    yield "fq_codel", "parameters", {"target": 0.006}
    yield "fq_codel", "parameters", {"interval": 0.098}
    yield "fq_codel", "discipline", {"drop_tail": {}}
    yield "fq_codel", "discipline", {"fair": {}}
    yield "pie", "parameters", {"target": 0.017}
    yield "pie", "parameters", {"max_burst": 0.1}
    yield "red", "parameters", {"max_p": 0.085}
    yield "red", "parameters", {"uniform": False}
    yield "red", "parameters", {"min_threshold": "46 packets"}
    yield "red", "parameters", {"gentle": False}
    yield "dual_pi2", "parameters", {"coupling": 1.8}
    yield "dual_pi2", "parameters", {"l4s_threshold": 0.0009}
    yield "dual_pi2", "parameters", {"ramp": 0.0}
    yield "shared_memory", "parameters", {"alpha": 0.9}
    yield "shared_memory", "policy", {"complete_sharing": {}}


def mutated(vector: Vector, key: str, wrong: Mapping[str, Any]) -> Vector:
    """The vector with a script that has another control, parameter or rule."""
    script: Any = vector.script
    if key == "parameters":
        return replace(vector, script=replace(script, parameters={**script.parameters, **wrong}))
    [(name, value)] = wrong.items()
    changes = {key: name or value}
    if key in ("control", "policy", "discipline") and not isinstance(script, AckScript):
        changes["parameters"] = value
    return replace(vector, script=replace(script, **changes))


@pytest.mark.parametrize(("name", "key", "wrong"), [*mutations()])
def test_a_vector_catches_a_wrong_number(name: str, key: str, wrong: dict[str, Any]) -> None:
    vectors = [VECTORS[name]] if name in VECTORS else [*vectors_of(name)]
    # Of HighSpeed TCP, rows with small, middle and large windows.
    chosen = vectors[::24] if name == "highspeed" else vectors
    if name == "bbr3":
        # Most are slower than the last, which is that of undoing.
        chosen = vectors[::-1]
    assert any(_misses(mutated(vector, key, wrong)) for vector in chosen)


@pytest.mark.parametrize(("name", "packets"), OTHER_BURSTS)
def test_a_vector_catches_bursts_of_another_size(
    name: str, packets: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A burst of a given size also waits for its packets however late the next ACK is."""
    of_linux = Scenario.of

    def with_bursts(described: Any) -> Scenario:
        described["flows"]["flow"]["send_burst"] = packets
        return of_linux(described)

    monkeypatch.setattr(Scenario, "of", with_bursts)
    assert _misses(VECTORS[name])


def test_a_headroom_catches_a_wrong_term(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms, "MAC_PHY_BYTES", 1024)  # instead of 0.8 KiB
    assert any(map(_misses, vectors_of("headroom")))


def test_the_sets_have_every_published_headroom_and_every_row_of_highspeed() -> None:
    assert list(SETS) == list(dict.fromkeys(vector.set_name for vector in VECTORS.values()))
    assert len(ROWS) == 73
    links = [v.script.links for v in VECTORS.values() if isinstance(v.script, HeadroomScript)]
    assert sum(map(len, links)) == 114 + 6
