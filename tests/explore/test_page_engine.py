"""The engine in the page gives the bytes of the native engine."""

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import tomli_w

from shortened_scenarios import shortened
from tailroom import _engine
from tailroom.scenario.shipped import shipped_scenarios
from tailroom.scenario.source import ScenarioSource
from tests.conftest import SMALL

REPOSITORY = Path(__file__).parents[2]
MODULE = REPOSITORY / "page" / "wasm"
MOST_PACKETS = 400_000
SERIES = {"series.interval": "20 ms"}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (MODULE / "tailroom_web_bg.wasm").exists() or shutil.which("node") is None,
        reason="the page is not built: `make page` does it, with node 20",
    ),
]


def answers(questions: list[dict[str, object]]) -> list[str]:
    """The answers of the page's engine, as it writes them."""
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    command = ["node", str(Path(__file__).with_name("answers.mjs")), str(MODULE)]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def native_answer(text: str, values: dict[str, str], seed: int | None) -> str:
    """The same of the native engine, put together from its texts."""
    watched: list[str | None] = []
    native = _engine.run(text, "", list(values.items()), seed, None, None, watched.append)
    scenario = json.dumps(native["scenario"], ensure_ascii=False)
    digest = ScenarioSource(text, Path(), "scenario", tuple(values.items())).hash()
    series = native["series"] or "null"
    return (
        f'{{"scenario":{scenario},"hash":"{digest}","summary":{native["summary"]},'
        f'"series":{series}}}'
    )


@pytest.mark.parametrize("name", shipped_scenarios())
def test_shipped_scenarios_have_the_same_bytes(name: str) -> None:
    document = tomllib.loads(shipped_scenarios()[name].read_text(encoding="utf-8"))
    text = tomli_w.dumps(shortened(document, MOST_PACKETS))
    # The page records series itself, unless the scenario does.
    values = {} if "series" in document else SERIES
    [found] = answers([{"text": text, "set": values, "seed": 7}])
    assert found == native_answer(text, values, 7)


def test_problems_are_those_of_the_native_engine() -> None:
    wrong = SMALL.replace("10 Mbit/s", "10 parsec")
    trace = SMALL.replace('rate = "10 Mbit/s"', 'trace = "link.trace"')
    own = SMALL.replace('{ kind = "reno" }', '"module:Class"')
    found = answers([{"text": text, "set": {}, "seed": None} for text in (wrong, trace, own)])
    texts = [json.loads(answer)["problems"][0]["text"] for answer in found]
    with pytest.raises(ValueError, match="parsec") as native:
        _engine.resolve(wrong, "", [])
    assert texts[0] == str(native.value)
    assert "tailroom explore FILE" in texts[1]
    assert "module:Class" in texts[2]
