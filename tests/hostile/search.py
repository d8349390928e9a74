"""Searches generated scenarios and sweeps for one with which something does not hold.

What is found is shrunk.
"""

import hashlib
import json
from collections import Counter
from typing import Any, NamedTuple

import tomli_w
from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.hostile.scenarios import hostile_scenarios, usual_scenarios
from tests.hostile.sweeps import sweeps
from tests.hostile.trial import GOOD, Outcome, Trials

STRATEGIES = {
    "usual": usual_scenarios(),
    "hostile": hostile_scenarios(),
    "sweeps": sweeps(),
}


class Found(NamedTuple):
    """The smallest scenario found with which something does not hold."""

    scenario: dict[str, Any]
    outcome: Outcome

    def text(self) -> str:
        """The scenario as TOML, or as JSON if TOML cannot express it."""
        try:
            return tomli_w.dumps(self.scenario)
        except (TypeError, ValueError):
            return json.dumps(self.scenario)

    def name(self) -> str:
        """A name for the scenario's file."""
        digest = hashlib.sha256(self.text().encode(errors="surrogatepass")).hexdigest()
        return f"{self.outcome.ending}-{digest[:8]}"


def search(kind: str, examples: int, first: int) -> tuple[Counter[str], Found | None]:
    """Tries generated scenarios.

    Args:
        kind: Name of a strategy.
        examples: How many scenarios.
        first: The seed.

    Returns:
        How often each ending occurred, and what was found.
    """
    endings, trials = Counter[str](), Trials()
    found: list[Found] = []

    @seed(first)
    @settings(
        max_examples=examples,
        phases=(Phase.generate, Phase.shrink),
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    @given(STRATEGIES[kind])
    def holds(scenario: dict[str, Any]) -> None:
        ended = trials.outcome(scenario)
        endings[ended.ending] += 1
        if ended.ending not in GOOD:
            found.append(Found(scenario, ended))
            raise AssertionError(ended.ending)

    try:
        holds()
    except Exception:
        if not found:
            raise
        # Hypothesis tries the smallest one last; the failure may also be absent then.
        return endings, found[-1]
    finally:
        trials.end()
    return endings, None
