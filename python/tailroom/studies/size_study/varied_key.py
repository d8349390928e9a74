"""What `size` varies: the limit of a queue, or another number of the scenario."""

from dataclasses import dataclass
from decimal import Decimal
from math import floor, isfinite
from typing import Any, Literal

from tailroom import _engine, written_numbers
from tailroom.arguments import LARGEST_SEED, named, usage
from tailroom.errors import ScenarioError
from tailroom.field_docs import with_field_docs
from tailroom.models import Bottleneck, read_bottleneck
from tailroom.scenario.scenario import Scenario
from tailroom.simulation.metric_units import Quantity
from tailroom.studies.size_study.pools import key_at_switch, place_of_pool
from tailroom.written_numbers import RATES

Counted = Quantity | Literal["bdp"]
"""Kind of quantity, or a multiple of the bandwidth-delay product."""

_STEPS: dict[Counted, float] = {
    "packets": 1.0,
    "size": 1.0,
    "duration": 1e-9,
    "rate": 1e3,
    "number": 1e-6,
    "bdp": 1e-6,
}
"""Step of each quantity in its base unit: packets, bytes, seconds, bit/s, one, one bdp."""
_LIMITS = ("packets", "size", "duration", "bdp")
"""Quantities in which a limit may be written."""
MICROSECOND_S = 1e-6
LARGEST_MULTIPLE = 64
"""Largest tested multiple of the value of another key; the smallest is the same part of it."""
SMALLEST_ALPHA = 1 / 128
"""The smallest alpha of switches."""
_ALPHAS = ("alpha", "port_alpha")
FEW = 20
"""Number of packets below which a fraction of a packet is written."""
_AXES: dict[Counted, tuple[float, str]] = {
    "packets": (1.0, " (packets)"),
    "size": (1e-3, " (kB)"),
    "duration": (1e-6, " (ms)"),
    "rate": (1e-3, " (Mbit/s)"),
    "number": (1e-6, ""),
    "bdp": (1e-6, " (bdp)"),
}
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


@with_field_docs
@dataclass(frozen=True)
class Varied:
    """A key of the scenario whose smallest sufficient value is sought, in whole steps."""

    key: str
    """The dotted key in full."""
    quantity: Counted = "packets"
    """What its number counts."""
    is_whole: bool = False
    """Whether the number is a whole one without a unit; its step is then 1."""
    is_limit: bool = True
    """Whether it is the limit of the queue of the link in question."""
    is_alpha: bool = False
    """Whether it is the alpha of memory that ports or ingresses share, a power of two in switches;
    its step is 1/128."""
    is_in_us: bool = False
    """Whether its step is a microsecond, the shortest time that `tc` takes; else a nanosecond."""
    steps_per_packet: float = 1.0
    """Steps of a limit that are a packet of the mean size: 1 if the limit is in packets."""
    bytes_per_step: float = 0.0
    """Of a limit in bdp, the bytes of a step with the RTTs that the scenario's own seed draws, if
    other seeds draw others: a port has one buffer, whoever sends. 0 if all seeds have one bdp."""

    @classmethod
    def limit_of(cls, source: Scenario, link: Bottleneck) -> "Varied":
        """The limit of a link's queue, in the unit in which the scenario has it.

        Args:
            source: The scenario.
            link: The link.
        """
        key = f"links.{link.name}.queue.limit"
        quantity, number = _read(_value(source, key))
        if quantity not in _LIMITS or quantity == "packets":
            return cls(key)
        # The engine's own conversion of this limit, whatever the rate of the link depends on.
        steps_per_packet = number / _STEPS[quantity] / link.limit_packets
        bytes_per_step = 0.0
        if quantity == "bdp":
            other = read_bottleneck(source, link.name, (source.handle.seed + 1) % LARGEST_SEED)
            if other.bdp_packets != link.bdp_packets:
                bytes_per_step = link.packet_bytes / steps_per_packet
        return cls(key, quantity, steps_per_packet=steps_per_packet, bytes_per_step=bytes_per_step)

    @classmethod
    def of(cls, source: Scenario, key: str) -> "tuple[Varied, int]":
        """Reads a key of a scenario: its quantity, and its value there, in steps.

        Args:
            source: The scenario.
            key: A dotted key in full.

        Raises:
            ScenarioError: The scenario has no such key, or its value is no positive number of
                packets, bytes, seconds, bit/s, or without a unit.
        """
        value = _value(source, key)
        if value is None:
            at_switch = key_at_switch(source, key)
            begin = f"give it a value to begin with, as with {usage('set', f'{key}=...')}"
            remedy = f"use {usage('vary', at_switch)}" if at_switch else begin
            raise ScenarioError(f"{named('vary')}: the scenario has no {key}; {remedy}")
        quantity, number = _read(value)
        if quantity is None or number <= 0:
            raise ScenarioError(
                f"{named('vary')}: {key} is {value!r}; to vary it, give it a positive number of "
                "packets, bytes, seconds, bit/s or bdp, or without a unit"
            )
        is_whole = isinstance(value, int)
        is_alpha = quantity == "number" and is_alpha_of_memory(source, key)
        varied = cls(
            key,
            quantity,
            is_whole and not is_alpha,
            is_limit=False,
            is_alpha=is_alpha,
            is_in_us=quantity == "duration" and number >= LARGEST_MULTIPLE * MICROSECOND_S,
        )
        return varied, max(1, round(number / varied._step))

    def value_in(self, source: Scenario) -> int | None:
        """Returns the value that a scenario has, in steps; `None` if it has none of this quantity.

        Args:
            source: The scenario.
        """
        quantity, number = _read(_value(source, self.key))
        return max(1, round(number / self._step)) if quantity == self.quantity else None

    @property
    def _step(self) -> float:
        if self.is_alpha:
            return SMALLEST_ALPHA
        if self.is_in_us:
            return MICROSECOND_S
        return 1.0 if self.is_whole else _STEPS[self.quantity]

    def setting(self, steps: int) -> object:
        """Returns the value as a scenario has it.

        Args:
            steps: Number of steps.
        """
        units = {"packets": "packets", "size": "B", "duration": "ns", "rate": "kbit/s"}
        if unit := units.get(self.quantity):
            return f"{steps} {'us' if self.is_in_us else unit}"
        if self.bytes_per_step:
            # Down, as the engine rounds a limit in bdp, but for the last digit of a product.
            return f"{floor(steps * self.bytes_per_step * (1 + 1e-12))} B"
        if self.quantity == "bdp":
            return f"{Decimal(steps).scaleb(-6).normalize():f} bdp"
        return steps if self.is_whole else steps * self._step

    def text(self, steps: float) -> str:
        """Returns the value with its unit as people write it.

        Args:
            steps: Number of steps, which may be a fraction of one.
        """
        value = steps * self._step
        if self.is_alpha:
            return f"{value:g}" if value >= 1 else f"1/{1 / value:g}"
        if self.quantity == "packets":
            digits = 1 if value < FEW and value != round(value) else 0
            return f"{value:,.{digits}f} packet{'' if value == 1 else 's'}"
        if self.quantity == "size":
            return f"{value:,.0f} B"
        if self.quantity == "bdp":
            return f"{written_numbers.number(value)} bdp"
        if self.quantity == "number":
            return f"{value:,.0f}" if self.is_whole else written_numbers.number(value)
        units = _TIMES if self.quantity == "duration" else RATES
        scale, unit = next((one for one in units if value >= one[0]), units[-1])
        return f"{written_numbers.number(value / scale)} {unit}"

    def end(self, steps: float) -> object:
        """Returns an end of a range in JSON: a number of packets, or a text; `None` if infinite.

        Args:
            steps: The end, in steps; 0 for the smallest tested value.
        """
        if not isfinite(steps):
            return None
        return steps if self.counts_packets or not steps else self.setting(round(steps))

    def range_text(self, low: float, high: float) -> str:
        """Returns a range as people write it: "2 to 5 packets".

        Args:
            low: Its lower end, in steps.
            high: Its upper end, in steps.
        """
        first, last = self.text(low), self.text(high)
        if self.quantity == "packets":
            first = first.partition(" ")[0]
        return f"{first} to {last}"

    def is_one(self, steps: int) -> bool:
        """Returns whether a value is the smallest there is: one packet, or a count of one.

        Args:
            steps: Number of steps.
        """
        return steps == 1 and (self.is_whole or self.quantity == "packets")

    @property
    def noun(self) -> str:
        """What is varied, in a word."""
        return "limit" if self.is_limit else "value"

    @property
    def wanted(self) -> str:
        """What is sought: the smallest value, the largest, or the best one."""
        if self.is_alpha:
            return "best"
        return "largest" if self.is_passed_rate else "smallest"

    def too_small(self, steps: int) -> str:
        """Returns a value and that it is too small, as "2 packets are too few".

        Args:
            steps: Number of steps.
        """
        if self.quantity != "packets":
            return f"{self.text(steps)} is too small"
        return f"{self.text(steps)} {'is' if steps == 1 else 'are'} too few"

    def suffices(self, steps: float) -> str:
        """Returns a value and that it suffices, as "2 packets suffice".

        Args:
            steps: Number of steps.
        """
        is_plural = self.quantity == "packets" and steps != 1
        return f"{self.text(steps)} {'suffice' if is_plural else 'suffices'}"

    @property
    def counts_packets(self) -> bool:
        """Whether it is the limit of the link's queue, in packets."""
        return self.is_limit and self.quantity == "packets"

    def steps_of(self, packets: float) -> int:
        """Returns the steps of a limit that are a number of packets of the mean size.

        Args:
            packets: The number of packets.
        """
        steps = packets * self.steps_per_packet
        return max(1, int(steps) if self.counts_packets else round(steps))

    def packets_of(self, steps: float) -> float:
        """Returns how many packets of the mean size a limit holds.

        Args:
            steps: The limit in steps.
        """
        return steps / self.steps_per_packet

    def seems_to_suffice(self, steps: float) -> str:
        """Returns a value and that it seems to suffice, as "2 packets seem to suffice".

        Args:
            steps: Number of steps.
        """
        verb = "seem" if self.quantity == "packets" and steps != 1 else "seems"
        return f"{self.text(steps)} {verb} to suffice"

    @property
    def is_passed_rate(self) -> bool:
        """Whether it is what a shaper, CAKE or a policer passes at most: people set the largest."""
        return self.key.endswith((".shaper.rate", ".queue.rate", ".policer.rate"))

    @property
    def is_counted(self) -> bool:
        """Whether people write any number of steps; otherwise they write three digits."""
        return self.is_whole or self.quantity == "packets"

    @property
    def axis(self) -> tuple[float, str]:
        """What a step is in the unit of an axis, and the label of the axis."""
        scale, unit = _AXES[self.quantity]
        name = "buffer" if self.is_limit else self.key
        if self.is_alpha:
            return self._step, name
        if self.is_in_us:
            scale *= MICROSECOND_S / _STEPS["duration"]
        return (1.0, name) if self.is_whole else (scale, f"{name}{unit}")


SOME_LIMIT = Varied("")
"""The limit of a queue in packets, whatever its link."""


def is_alpha_of_memory(source: Scenario, key: str) -> bool:
    """Returns whether a key is the alpha of a pool, of its ports, of a link in it, or of ingresses.

    Args:
        source: The scenario.
        key: A dotted key in full.
    """
    is_ingress = key.rpartition(".")[0].endswith(".ingress")
    is_of_memory = is_ingress or place_of_pool(source, key) is not None
    return key.rpartition(".")[2] in _ALPHAS and is_of_memory


def _value(source: Scenario, key: str) -> object:
    """The value of a key in the scenario with its defaults; `None` if it has none."""
    value: Any = source.resolved
    for part in key.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _read(value: object) -> tuple[Counted | None, float]:
    """Quantity and number of a value, in its base unit; `None` if it is none."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return "number", float(value)
    if not isinstance(value, str):
        return None, 0.0
    number, _, unit = value.strip().partition(" ")
    if unit in ("packet", "packets"):
        return "packets", float(number)
    if unit == "bdp":
        return "bdp", float(number)
    quantities: tuple[Quantity, ...] = ("duration", "size", "rate")
    for quantity in quantities:
        try:
            return quantity, _engine.quantity(quantity, value)
        except ScenarioError:
            continue
    return None, 0.0
