"""The example of a control that is trained: it learns, and its rewards are those of the paper."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

PROGRAM = Path(__file__).parents[1] / "examples" / "learned-control" / "train.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    found = importlib.util.spec_from_file_location("train", PROGRAM)
    assert found
    assert found.loader
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_rewards_are_within_what_the_link_allows(example: ModuleType) -> None:
    """10 x 500 packets/s at most, less 1000 x 50 ms, scaled by 0.001; and the same each time."""
    env = example.environment()
    rewards = [example.reward_of(env, np.zeros(4), seed) for seed in (1, 2, 1)]
    assert rewards[0] == rewards[2] != rewards[1]
    assert all(reward < 4.95 for reward in (*rewards, example.reward_of_cubic(1)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_short_training_improves_on_weights_of_zero(example: ModuleType) -> None:
    """Weights of zero keep the rate that the seed draws. Paired, over seeds of no training."""
    env = example.environment()
    weights = example.train(env, rounds=4, drawn=12, kept=3, episodes=2)
    seeds = range(1000, 1020)
    more = np.array(
        [
            example.reward_of(env, weights, seed) - example.reward_of(env, np.zeros(4), seed)
            for seed in seeds
        ]
    )
    # 2.09 is the 97.5 % quantile of Student's t with 19 degrees of freedom.
    assert more.mean() > 2.09 * more.std(ddof=1) / np.sqrt(len(more))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_trained_control_earns_more_than_cubic(example: ModuleType) -> None:
    """The training of the program. Paired, over seeds of no training."""
    env = example.environment()
    learned, cubic = example.compare(env, example.train(env), range(1000, 1040))
    more = learned - cubic
    # 2.02 is the 97.5 % quantile of Student's t with 39 degrees of freedom.
    assert more.mean() > 2.02 * more.std(ddof=1) / np.sqrt(len(more))
