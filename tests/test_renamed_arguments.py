"""Former names of arguments are refused with the present name."""

from pathlib import Path
from typing import Any

import pytest

import tailroom as tr


def test_a_former_name_of_an_argument_is_refused_with_the_new_name(tmp_path: Path) -> None:
    size: Any = tr.size
    sweep: Any = tr.sweep
    with pytest.raises(TypeError, match=r"size\(\) has no argument 'at_most'.* 'max_seeds'"):
        size("first", ["utilization >= 90%"], at_most=4)
    with pytest.raises(TypeError, match=r"sweep\(\) has no argument 'most_runs'.* 'max_runs'"):
        sweep("first", tmp_path / "store", most_runs=4)
    assert not (tmp_path / "store").exists()
