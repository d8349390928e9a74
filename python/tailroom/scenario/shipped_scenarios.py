"""The scenarios that come with the package, by name."""

from pathlib import Path

from tailroom.errors import ScenarioError
from tailroom.scenario.named_values import near

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"
"""Directory with a TOML file per scenario, in subdirectories by source."""


def shipped_scenarios() -> dict[str, Path]:
    """Returns the file of each shipped scenario by name: `first`, `barman-2004/figure-3`."""
    paths = sorted(SCENARIOS.rglob("*.toml"))
    return {path.relative_to(SCENARIOS).with_suffix("").as_posix(): path for path in paths}


def shipped_scenario(name: str) -> Path | None:
    """Returns the file of a shipped scenario by its name or the last part of its name, else `None`.

    Raises:
        ScenarioError: Several names have this last part.
    """
    known = shipped_scenarios()
    if name in known:
        return known[name]
    matches = [full_name for full_name in known if full_name.rpartition("/")[2] == name]
    if len(matches) > 1:
        raise ScenarioError(
            f"{name}: several shipped scenarios have this name; choose one of {', '.join(matches)}"
        )
    return known[matches[0]] if matches else None


def did_you_mean(name: str, *, files: bool = False) -> str:
    """Returns the end of a message about an unknown name: the shipped scenarios that resemble it.

    Args:
        name: The name.
        files: Whether the name may be the path of a file, whose neighbours may resemble it.

    Returns:
        For example "; did you mean first?"; empty if no name resembles it.
    """
    by_part = {
        part: full_name
        for full_name in shipped_scenarios()
        for part in (full_name.rpartition("/")[2], full_name)
    }
    neighbours = _near_files(Path(name)) if files else []
    names = dict.fromkeys([*neighbours, *(by_part[part] for part in near(name, by_part))])
    return f"; did you mean {' or '.join(names)}?" if names else ""


def _near_files(path: Path) -> list[str]:
    """Returns the paths of scenario files in the same directory whose names resemble the path's."""
    try:
        names = sorted(file.name for file in path.parent.glob("*.toml"))
    except OSError:
        return []
    return [str(path.parent / name) for name in near(path.name, names)]
