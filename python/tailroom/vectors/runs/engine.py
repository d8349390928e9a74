"""The call of the simulator."""

from typing import TYPE_CHECKING, Any, cast

from tailroom.scenario.scenario import Scenario
from tailroom.simulation.engine_run import simulate
from tailroom.simulation.result import Result

if TYPE_CHECKING:
    from tailroom.scenario import types


def simulated(scenario: dict[str, Any], seed: int) -> Result:
    """Simulates a scenario that a script means."""
    return simulate(Scenario.of(cast("types.Scenario", scenario)), seed=seed)
