"""When results meet an expectation."""

import pytest

from tailroom.vectors.judge import Results, misses
from tailroom.vectors.scripts import Occurrence
from tailroom.vectors.vector import Expectation

RESULTS = Results(
    samples={"cwnd_packets": [(0.0, 10.0), (1.0, 20.0), (2.0, 30.0)]},
    events={"reduction": [0.5, 1.5], "drop": []},
    values={"loss_fraction": 0.1},
)
SECOND = Occurrence("reduction", 2)


def expect(**given: object) -> Expectation:
    return Expectation(**{"why": "Eq. 1", **given})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "met",
    [
        expect(quantity="cwnd_packets", at=(0.9, 0.9), value=(10, 10)),
        expect(quantity="cwnd_packets", at=(1.0, 1.9), value=(20, 20)),
        expect(quantity="cwnd_packets", at=(0.5, 2.5), value=(10, 30)),
        expect(quantity="cwnd_packets", at=(0.5, 9.0), after=SECOND, value=(30, 30)),
        expect(quantity="loss_fraction", value=(0.1, 0.2)),
        expect(event="reduction", at=(0.5, 1.5), value=(2, 2)),
        expect(event="reduction", at=(0.0, 0.1), after=SECOND, value=(1, 1)),
        expect(event="drop", at=(0.0, 9.0), value=(0, 0)),
    ],
)
def test_an_expectation_is_met(met: Expectation) -> None:
    assert not misses([met], RESULTS)


@pytest.mark.parametrize(
    ("missed", "found"),
    [
        (
            expect(quantity="cwnd_packets", at=(0.9, 1.0), value=(10, 10)),
            "cwnd_packets is 20 1 s after the start",
        ),
        (
            expect(quantity="cwnd_packets", at=(0.4, 0.6), after=SECOND, value=(0, 20)),
            "cwnd_packets is 30 0.5 s after reduction 2",
        ),
        (expect(quantity="loss_fraction", value=(0.11, 0.2)), "loss_fraction is 0.1"),
        (
            expect(event="reduction", at=(0.6, 1.4), value=(1, 1)),
            "0 events `reduction` from 0.6 s to 1.4 s",
        ),
        (
            expect(quantity="cwnd_packets", at=(0, 1), after=Occurrence("drop"), value=(0, 9)),
            "there are 0 events `drop`; times count from number 1",
        ),
        (
            expect(quantity="srtt_s", at=(0, 1), value=(0, 1)),
            "the results have no `samples.srtt_s`",
        ),
        (expect(quantity="srtt_s", value=(0, 1)), "the results have no `values.srtt_s`"),
        (
            expect(event="sent", at=(0, 1), value=(0, 0)),
            "the results have no `events.sent`; write an empty list if there were none",
        ),
        (
            expect(quantity="cwnd_packets", at=(-2, -1), value=(0, 99)),
            "there is no sample of cwnd_packets up to -1 s",
        ),
    ],
)
def test_a_miss_says_what_was_found(missed: Expectation, found: str) -> None:
    [miss] = misses([missed], RESULTS)
    assert miss.found == found
    assert miss.expectation is missed
