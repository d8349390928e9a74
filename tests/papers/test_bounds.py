"""The bounds of all papers: one word has one bound, and no bound stands unused."""

import re
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import pytest

from tailroom_papers import framework
from tailroom_papers.framework import Bounds, NamedBound

PAPERS = {name: framework.load(name) for name in framework.names()}


def test_one_word_has_the_same_bound_in_all_papers() -> None:
    of_word: dict[str, set[tuple[float, ...]]] = defaultdict(set)
    for paper in PAPERS.values():
        for bound in paper.bounds.values():
            if bound.word:
                of_word[bound.word].add(bound.values)
    assert {word: values for word, values in of_word.items() if len(values) > 1} == {}


@pytest.mark.parametrize("name", PAPERS)
def test_every_bound_is_used_by_a_claim(name: str) -> None:
    bounds = PAPERS[name].bounds
    if not bounds:
        pytest.skip("the paper has no bounds of its own")
    package = Path(str(import_module(bounds.package).__file__)).parent
    text = "".join(file.read_text(encoding="utf-8") for file in package.glob("*.py"))
    assert set(bounds) == set(re.findall(r'BOUNDS\["([^"]+)"\]', text))


def test_a_bound_without_words_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "bounded"
    package.mkdir()
    (package / "__init__.py").touch()
    text = 'committed = 2026-11-23\n[near]\nvalue = [0.7, 0.8]\nwords = "75 %"\nknown = true\n'
    (package / "bounds.toml").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = Bounds.of("bounded")
    assert found["near"] == NamedBound("near", (0.7, 0.8), "75 %", "", known=True)
    assert str(found.committed) == "2026-11-23"
    (package / "bounds.toml").write_text(text.replace("words", "word"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"bounds.toml: near: .*an entry has value, words, known"):
        Bounds.of("bounded")
