"""The scenarios that come with the package, by name."""

from pathlib import Path

from tailroom.errors import ScenarioError
from tailroom.scenario.named_values import near

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"
"""A TOML file for each, in directories named after where they are from."""


def shipped_scenarios() -> dict[str, Path]:
    """The file of each shipped scenario by its name, as in `first` or `barman-2004/figure-3`."""
    paths = sorted(SCENARIOS.rglob("*.toml"))
    return {path.relative_to(SCENARIOS).with_suffix("").as_posix(): path for path in paths}


def shipped_scenario(name: str) -> Path | None:
    """The file of a shipped scenario, by its name or the last part of it; `None` if there is none.

    Raises:
        ScenarioError: The last part is that of several names.
    """
    known = shipped_scenarios()
    if name in known:
        return known[name]
    found = [full_name for full_name in known if full_name.rpartition("/")[2] == name]
    if len(found) > 1:
        raise ScenarioError(
            f"{name}: several shipped scenarios have this name; choose one of {', '.join(found)}"
        )
    return known[found[0]] if found else None


def near_names(name: str) -> list[str]:
    """Up to three names of shipped scenarios that a user who wrote `name` may have meant."""
    by_part = {
        part: full_name
        for full_name in shipped_scenarios()
        for part in (full_name.rpartition("/")[2], full_name)
    }
    return list(dict.fromkeys(by_part[part] for part in near(name, by_part)))
