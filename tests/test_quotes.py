"""What a message repeats of a scenario: little of a long text, and no character that acts."""

import copy
import re
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tailroom as tr
from tailroom.quoting import LONGEST_QUOTE
from tests.hostile.scenarios import FILES, _places, usual_scenarios
from tests.test_generated_scenarios import CASES

LETTERS = "xyzzy"
"""No word of a message has them."""
BOMBS = (
    "xyzzy" * 1_800,
    "xyzzy" * 2_800,
    "xyzzy " * 1_500,
    "xyzzy:" + "xyzzy" * 1_500,
    "xyzzy." * 1_500 + "xyzzy",
    "s." + "xyzzy" * 1_500,
    "1 " + "xyzzy" * 1_500,
    "7" * 5_000 + " xyzzy",
    "\x1b]0;xyzzy\x07" * 20,
    "xyzzy\u202e\n\r\t\x9b",
    "xyzzy" + "\x1b" * 500,
)
ACTING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
LONGEST_LINE = 1_500
"""Characters of a line: what the message says itself, and a few quotes."""


def _bombed(scenario: dict[str, Any], place: tuple[str | int, ...], bomb: str, *, key: bool) -> Any:
    changed: Any = copy.deepcopy(scenario)
    parent: Any = changed
    for step in place[:-1]:
        parent = parent[step]
    if key and isinstance(parent, dict):
        parent[bomb] = parent.pop(place[-1])
    else:
        parent[place[-1]] = bomb
    return changed


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("scenario")
    for name, text in FILES.items():
        (place / name).write_text(text, encoding="utf-8")
    return place


@pytest.mark.parametrize("examples", [150, pytest.param(3_000 * CASES, marks=pytest.mark.slow)])
def test_no_message_repeats_a_long_text_or_acts_on_a_terminal(
    directory: Path, examples: int
) -> None:
    messages = []

    @settings(max_examples=examples, database=None, deadline=None, derandomize=True,
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(usual_scenarios(extremes=0), st.data())
    def quotes_little(scenario: dict[str, Any], data: st.DataObject) -> None:
        place = data.draw(st.sampled_from(list(_places(scenario))))
        bomb = data.draw(st.sampled_from(BOMBS))
        changed = _bombed(scenario, place, bomb, key=data.draw(st.booleans()))
        path = directory / "scenario.toml"
        path.write_text(tomli_w.dumps(changed), encoding="utf-8")
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("TAILROOM_ALLOW_CODE", "1")
            try:
                tr.Scenario.of(path).check()
            except tr.ScenarioError as error:
                message = str(error)
            else:
                return
        messages.append(message)
        assert not ACTING.search(message), message
        for line in message.splitlines():
            assert len(line) < LONGEST_LINE, line
            # A quote is cut as a whole: no more of the text than a quote has stands at one place.
            assert not re.search(rf"[xyz .:7\\]{{{LONGEST_QUOTE + 1},}}", line), line

    quotes_little()
    assert sum(LETTERS in message for message in messages) > len(messages) / 4
    assert len(messages) > examples / 4
