"""What the stories of the page say is what their scenarios show, with other seeds too."""

import functools
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import tailroom as tr
from tailroom.scenario.scenario import Scenario

STORIES = sorted((Path(__file__).parents[1] / "page" / "src" / "stories").glob("*.toml"))
OPERAND = re.compile(r"(?:(?P<factor>[\d.]+) \* )?(?:(?P<step>\d):)?(?P<metric>[a-z][\w.]+)")

pytestmark = pytest.mark.filterwarnings("ignore::tailroom.errors.TailroomWarning")


@functools.cache
def story(path: Path) -> dict[str, Any]:
    """The story of a file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


@functools.cache
def summary(path: Path, step: int, seed: int) -> Any:
    """What the run of a step shows; steps count from 1."""
    told = story(path)
    text = told["scenario"]
    scenario = Scenario.from_toml(text) if "\n" in text else Scenario.read(text)
    changes = told["steps"][step - 1].get("set", {})
    return tr.run(scenario.with_(changes), seed=seed).summary


def value(path: Path, step: int, seed: int, metric: str) -> float:
    """A number of a run, by the name of a link or a group and of the statistic."""
    name, *keys = metric.split(".")
    shown = summary(path, step, seed)
    at = shown["links"].get(name) or shown["groups"][name]
    for key in keys:
        at = at[key]
    return float(at)


def operand(path: Path, step: int, seed: int, text: str) -> float:
    """A side of a claim: a number, or a metric of this step or of an earlier one."""
    match = OPERAND.fullmatch(text)
    if match is None:
        return float(text)
    metric = value(path, int(match["step"] or step), seed, match["metric"])
    return float(match["factor"] or 1) * metric


def check(path: Path, seed: int) -> None:
    """Fails with the claims that do not hold."""
    failed = []
    for step, told in enumerate(story(path)["steps"], start=1):
        assert told["claims"], f"step {step} claims nothing"
        if "edges" not in told:
            assert told["from"] < value(path, step, seed, told["of"]) < told["to"], "slider"
        for claim in told["claims"]:
            smaller, larger = re.fullmatch(r"(.+) ([<>]) (.+)", claim).group(1, 3)  # type: ignore[union-attr]
            sides = [operand(path, step, seed, side) for side in (smaller, larger)]
            holds = sides[0] < sides[1] if " < " in claim else sides[0] > sides[1]
            if not holds:
                failed.append(f"step {step}: {claim}: {sides}")
    assert failed == []


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_claims_of_a_story_hold(path: Path) -> None:
    check(path, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4])
@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_claims_do_not_depend_on_the_seed(path: Path, seed: int) -> None:
    check(path, seed)


def test_a_wrong_claim_is_found() -> None:
    """The first story loses nothing in its first step, and a fifth in its second."""
    path = next(path for path in STORIES if path.stem == "why-a-buffer")
    assert operand(path, 2, 1, "link.loss_fraction") > operand(path, 2, 1, "1:link.loss_fraction")
    assert operand(path, 2, 1, "2 * link.loss_fraction") == pytest.approx(
        2 * value(path, 2, 1, "link.loss_fraction")
    )
