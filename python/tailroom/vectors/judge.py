"""Compares the results of an implementation with the expectations of a vector."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tailroom.quoting import quoted
from tailroom.vectors.vector import Band, Expectation


@dataclass(frozen=True)
class Results:
    """What an implementation did with one script."""

    samples: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    """By quantity: times in seconds, in order, and the value from then on."""
    events: dict[str, list[float]] = field(default_factory=dict)
    """By event: when it happened, in seconds and in order; empty if it never did."""
    values: dict[str, float] = field(default_factory=dict)
    """By quantity: a single value of the run."""


@dataclass(frozen=True)
class Miss:
    """An expectation that results do not meet."""

    found: str
    """What the results have instead."""
    expectation: Expectation


def misses(expectations: Iterable[Expectation], results: Results) -> list[Miss]:
    """Returns the expectations that the results do not meet, with what was found."""
    return [
        Miss(found, expectation)
        for expectation in expectations
        if (found := _fault(expectation, results))
    ]


def _fault(expectation: Expectation, results: Results) -> str:
    """Says what is wrong, or returns an empty text."""
    if expectation.at is None:
        return _fault_of_value(expectation, results)
    start, origin = 0.0, "the start"
    if expectation.after:
        name, number = expectation.after.event, expectation.after.number
        times = results.events.get(name)
        if times is None:
            return f"the results have no `events.{quoted(name)}`"
        if len(times) < number:
            return (
                f"there are {len(times)} events `{quoted(name)}`; times count from number {number}"
            )
        start, origin = times[number - 1], f"{quoted(name)} {number}"
    first, last = (start + offset for offset in expectation.at)
    if expectation.event:
        return _fault_of_count(expectation, results, first, last)
    name = expectation.quantity or ""
    if name not in results.samples:
        return f"the results have no `samples.{quoted(name)}`"
    found = [*_in_force(results.samples[name], first, last)]
    if not found:
        return f"there is no sample of {quoted(name)} up to {last:.6g} s"
    for time, value in found:
        if not _is_in(value, expectation.value):
            return f"{quoted(name)} is {value:.6g} {time - start:.6g} s after {origin}"
    return ""


def _fault_of_value(expectation: Expectation, results: Results) -> str:
    name = expectation.quantity or ""
    if name not in results.values:
        return f"the results have no `values.{quoted(name)}`"
    value = results.values[name]
    return "" if _is_in(value, expectation.value) else f"{quoted(name)} is {value:.6g}"


def _fault_of_count(expectation: Expectation, results: Results, first: float, last: float) -> str:
    name = expectation.event or ""
    if name not in results.events:
        return (
            f"the results have no `events.{quoted(name)}`; write an empty list if there were none"
        )
    count = sum(first <= time <= last for time in results.events[name])
    if _is_in(count, expectation.value):
        return ""
    return f"{count} events `{quoted(name)}` from {first:.6g} s to {last:.6g} s"


def _in_force(
    samples: list[tuple[float, float]], first: float, last: float
) -> Iterator[tuple[float, float]]:
    """The value at `first`, which an earlier sample may set, and all later ones up to `last`."""
    before = [value for time, value in samples if time <= first]
    if before:
        yield first, before[-1]
    yield from ((time, value) for time, value in samples if first < time <= last)


def _is_in(value: float, band: Band) -> bool:
    return band[0] <= value <= band[1]
