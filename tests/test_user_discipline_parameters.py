"""Parameters of queue disciplines in Python: units, ranges and refusals."""

from pathlib import Path
from typing import Annotated, ClassVar

import pytest

import tailroom as tr
from tests.conftest import Finished, Tailroom


class Hold:
    """Keeps what its parameters are."""

    seen: ClassVar[dict[str, object]] = {}

    def __init__(  # noqa: PLR0913 - a parameter of each kind
        self,
        *,
        target_s: Annotated[float, tr.Range(0.001, 1.0)] = 0.005,
        rate_bps: float = 1e6,
        limit_bytes: int = 1500,
        share: Annotated[float, tr.Range(0.0, 1.0)] = 0.5,
        label_s: str = "",
        s: object = None,
    ) -> None:
        Hold.seen = {name: value for name, value in locals().items() if name != "self"}

    def on_arrival(self, packet: tr.QueuePacket, queue: tr.QueueState) -> str:
        return "accept"


def run_hold(small: Path, tailroom: Tailroom, parameters: str) -> Finished:
    queue = f'{{ kind = "custom", discipline = "{__name__}:Hold", parameters = {parameters} }}'
    return tailroom("run", small, "--set", f"links.bottleneck.queue={queue}")


def test_parameters_with_units_arrive_as_numbers_in_si_units(
    small: Path, tailroom: Tailroom
) -> None:
    text = '{ target_s = "5 ms", rate_bps = "10 Mbit/s", limit_bytes = "15 kB", label_s = "5 ms" }'
    assert run_hold(small, tailroom, text).status == 0
    expected = {"target_s": 0.005, "rate_bps": 1e7, "limit_bytes": 15_000, "label_s": "5 ms"}
    assert Hold.seen == {**expected, "share": 0.5, "s": None}
    assert isinstance(Hold.seen["limit_bytes"], int)
    assert run_hold(small, tailroom, '{ target_s = 0.25, s = "5 ms" }').status == 0
    assert (Hold.seen["target_s"], Hold.seen["s"]) == (0.25, "5 ms")


@pytest.mark.parametrize(
    ("parameters", "parts"),
    [
        ('{ target_s = "5 kB" }', ("parameters.target_s", "5 kB", "ms", '"5 ms"')),
        ('{ target_s = "20 s" }', ("parameters.target_s", "20", "at least 0.001 and at most 1")),
        ("{ target_s = 0 }", ("parameters.target_s", "at least 0.001 and at most 1")),
        ("{ target_s = nan }", ("parameters.target_s", "at least 0.001")),
        ("{ target_s = true }", ("parameters.target_s", "True", "at least 0.001")),
        ('{ share = "50 %" }', ("parameters.share", "50 %", "number", "_bytes")),
        ("{ share = 1.5 }", ("parameters.share", "1.5", "at least 0 and at most 1")),
    ],
)
def test_a_parameter_without_its_unit_or_out_of_range_is_refused_with_key_and_range(
    small: Path, tailroom: Tailroom, parameters: str, parts: tuple[str, ...]
) -> None:
    ended = run_hold(small, tailroom, parameters)
    assert (ended.status, ended.output) == (2, "")
    assert "links.bottleneck.queue: " in ended.errors
    for part in parts:
        assert part in ended.errors
