"""The notebook of a control that is trained: it learns, and its rewards are those of the paper."""

from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest

NOTEBOOK = Path(__file__).parents[1] / "examples" / "notebooks" / "learned-control.ipynb"


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    """The names that its cells define before the training."""
    names: dict[str, Any] = {}
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:  # type: ignore[no-untyped-call]
        if cell.cell_type == "code":
            if cell.source.startswith("weights = "):
                return names
            exec(cell.source, names)
    raise AssertionError("no cell trains")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_rewards_are_within_what_the_link_allows(example: dict[str, Any]) -> None:
    """10 x 500 packets/s at most, less 1000 x 50 ms, scaled by 0.001; and the same each time."""
    rewards = [example["reward_of"](np.zeros(4), seed) for seed in (1, 2, 1)]
    assert rewards[0] == rewards[2] != rewards[1]
    assert all(reward < 4.95 for reward in (*rewards, example["reward_of_cubic"](1)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_short_training_improves_on_weights_of_zero(example: dict[str, Any]) -> None:
    """Weights of zero keep the rate that the seed draws. Paired, over seeds of no training."""
    weights = example["train"](rounds=4, drawn=12, kept=3, episodes=2)
    reward_of = example["reward_of"]
    seeds = range(1000, 1020)
    more = np.array([reward_of(weights, seed) - reward_of(np.zeros(4), seed) for seed in seeds])
    # 2.09 is the 97.5 % quantile of Student's t with 19 degrees of freedom.
    assert more.mean() > 2.09 * more.std(ddof=1) / np.sqrt(len(more))
