"""The plan of the atlas: every cell, how it is obtained, and what all of them cost."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from tailroom.errors import ArgumentError
from tailroom.scenario.named_values import near
from tailroom_atlas.cells import Cell, chosen_cells
from tailroom_atlas.cost import PlannedCell, planned_cell
from tailroom_atlas.scaling import is_checked, rungs

BUDGET_CORE_S = 30_000.0
"""What the atlas may cost: four hours on two cores, less what is lost between runs."""
PLANNED_FRACTION = 0.95
"""Part of the budget that the estimates may fill."""


def plan(cells: Sequence[Cell] | None = None) -> list[PlannedCell]:
    """Decides how each cell is obtained, and adds the smaller links that scaling needs.

    Args:
        cells: The cells; those of the rule if left out.
    """
    planned = [planned_cell(cell) for cell in (chosen_cells() if cells is None else cells)]
    known = {entry.cell for entry in planned}
    for entry in tuple(planned):
        if entry.how == "scaled" or is_checked(entry.cell):
            new = [rung for rung in rungs(entry.cell) if rung not in known]
            known.update(new)
            planned += [planned_cell(rung, is_rung=True) for rung in new]
    return planned


def named_cells(patterns: Sequence[str]) -> list[PlannedCell]:
    """The cells with these names, and the rungs that they are scaled from or checked with.

    Args:
        patterns: Names, with `*` for any text.

    Raises:
        ArgumentError: No cell has such a name.
    """
    planned = plan()
    for pattern in patterns:
        if not any(fnmatchcase(entry.cell.name, pattern) for entry in planned):
            names = [entry.cell.name for entry in planned]
            meant = " or ".join(near(pattern, names)[:2])
            raise ArgumentError(
                f"{pattern}: the atlas has no such cell; "
                f"{f'did you mean {meant}? ' if meant else ''}`tailroom atlas plan --all` lists all"
            )
    chosen = {
        entry.cell
        for entry in planned
        if any(fnmatchcase(entry.cell.name, pattern) for pattern in patterns)
    }
    for entry in planned:
        if entry.cell in chosen and (entry.how == "scaled" or is_checked(entry.cell)):
            chosen.update(rungs(entry.cell))
    return [entry for entry in planned if entry.cell in chosen]
