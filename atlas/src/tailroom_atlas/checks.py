"""Holds the atlas against the rules of the literature, and against itself with a cell left out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from tailroom import models
from tailroom.buffer_atlas.lookup import estimate, link_of
from tailroom.models import Requirement
from tailroom.scenario.scenario import Scenario
from tailroom.studies.prediction import ask
from tailroom_atlas.cost import PlannedCell
from tailroom_atlas.scenarios import LINK, scenario

NO_BUFFER_MODELS = ("fluid",)
"""Models that predict no buffer and take a second."""
NEAR = 1.5
"""A rule comes near a cell within this factor."""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class RuleAgreement:
    """The buffers of a model over those of the atlas."""

    model: str
    """Name of the model."""
    control: str
    """Congestion control of the cells."""
    ratios: tuple[float, ...]
    """Required buffer of the model over that of the atlas, per cell."""
    cells: tuple[str, ...]
    """Names of the cells."""

    @property
    def near(self) -> int:
        """Number of cells within the factor `NEAR`."""
        return sum(1 / NEAR <= ratio <= NEAR for ratio in self.ratios)

    @property
    def median(self) -> float:
        """Median ratio."""
        return float(np.median(self.ratios))

    @property
    def worst(self) -> tuple[str, float]:
        """The cell whose ratio is furthest from 1, with the ratio."""
        at = int(np.argmax(np.abs(np.log(self.ratios))))
        return self.cells[at], self.ratios[at]


def rule_agreements(
    rows: Sequence[Row], planned: Sequence[PlannedCell], target: float
) -> list[RuleAgreement]:
    """Every model that requires a buffer, against the computed DropTail cells with long flows.

    Args:
        rows: Answers of the atlas.
        planned: The plan of the atlas.
        target: The utilization that is asked for.
    """
    found: dict[tuple[str, str], list[tuple[str, float]]] = {}
    by_name = {entry.cell.name: entry for entry in planned}
    for row in rows:
        entry = by_name.get(row["cell"])
        if (
            entry is None
            or (row["queue"], row["traffic"]) != ("drop_tail", "long")
            or (row["status"], row["target_utilization"]) != ("found", target)
            or "scaled" in (row["how"], entry.how)
        ):
            continue
        for model, packets in _required(entry, target).items():
            ratio = packets / row["value"]
            found.setdefault((model, row["control"]), []).append((row["cell"], ratio))
    return [
        RuleAgreement(
            model,
            control,
            tuple(ratio for _, ratio in pairs),
            tuple(cell for cell, _ in pairs),
        )
        for (model, control), pairs in found.items()
    ]


def _required(entry: PlannedCell, target: float) -> dict[str, float]:
    """The finite buffers that models require, in packets, for RTTs that fill the range evenly."""
    written = scenario(entry.cell, entry.warm_up_s, entry.measured_s)
    flows: Any = written["flows"]
    for group in flows.values():
        first, last = group["rtt"]["uniform"]
        mean = f"{1e3 * entry.cell.site.mean_rtt_s:g} ms"
        group["rtt"] = mean if group["count"] == 1 else {"from": first, "to": last}
    link = models.read_bottleneck(Scenario.of(written, {}), LINK)
    required = {}
    for model in models.MODELS.values():
        if model.name in NO_BUFFER_MODELS:
            continue
        prediction = ask(model, link, Requirement(utilization=target)).prediction
        packets = prediction.required_packets if prediction else None
        if packets is not None and isfinite(packets) and packets >= 1:
            required[model.name] = packets
    return required


def lookup_errors(rows: Sequence[Row], target: float) -> tuple[list[float], int]:
    """Factors by which the lookup misses a computed DropTail cell that is left out.

    Args:
        rows: Answers of the atlas.
        target: The utilization that is asked for.

    Returns:
        The factors, and the number of cells, of which some have no cell nearby.
    """
    asked = [
        row
        for row in rows
        if (row["queue"], row["status"], row["target_utilization"])
        == ("drop_tail", "found", target)
        and row["how"] != "scaled"
    ]
    errors = []
    for row in asked:
        others = [other for other in rows if other["cell"] != row["cell"]]
        found = estimate(others, link_of(row), target)
        if found:
            ratio = found.value / row["value"]
            errors.append(max(ratio, 1 / ratio))
    return errors, len(asked)
