"""A damaged file of a store is named, or changes nothing that is read."""

from pathlib import Path

import pytest

from tests import damaged_stores
from tests.damaged_stores import content_of, damage_files, make_store


@pytest.mark.parametrize("cases", [60, pytest.param(600, marks=pytest.mark.slow)])
def test_no_damaged_file_changes_a_result(tmp_path: Path, cases: int) -> None:
    endings = damage_files(tmp_path, cases, 3, print)
    assert endings.total() == cases
    assert endings["named"] > cases / 3


def test_a_changed_result_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make_store(tmp_path)
    right, _ = content_of(store)
    right[next(name for name in right if name.startswith("run "))] += " "
    with pytest.raises(AssertionError, match=r"run .* changed"):
        damaged_stores._ending(store, store / "runs", right)
    monkeypatch.setattr(damaged_stores, "content_of", lambda _store: ({}, []))
    with pytest.raises(AssertionError, match="lost, and not named"):
        damaged_stores._ending(store, store / "runs", right)
