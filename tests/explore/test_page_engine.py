"""The engine in the page gives the bytes of the native engine."""

import json
import random
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import tomli_w

from shortened_scenarios import shortened
from tailroom import _engine
from tailroom.scenario.scenario import Scenario
from tailroom.scenario.shipped_scenarios import shipped_scenarios
from tests.conftest import SMALL

REPOSITORY = Path(__file__).parents[2]
MODULE = REPOSITORY / "page" / "wasm"
MOST_PACKETS = 400_000
SERIES = {"series.interval": "20 ms"}
SIZES = '{ kind = "empirical", file = "sizes.csv" }'

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


def without_delays(answer: str) -> tuple[str, str]:
    """An answer as the native engine has it, and the delays at the end of the page's."""
    own, _, delays = answer.rpartition(',"delays":')
    return f"{own}}}", delays.removesuffix("}")


def native_answer(
    text: str, values: dict[str, str], seed: int | None, directory: Path | None = None
) -> str:
    """The same of the native engine, put together from its texts.

    Args:
        text: The scenario.
        values: Values that replace those of the text.
        seed: The seed.
        directory: Where the files are that the scenario names.
    """
    scenario = _engine.Scenario(text, directory or "", list(values.items()))
    native = scenario.run(seed, series=True)
    written = json.dumps(scenario.to_toml(seed), ensure_ascii=False)
    digest = "null" if directory else f'"{Scenario.from_toml(text).with_(values).hash}"'
    series = native["series"] or "null"
    return (
        f'{{"scenario":{written},"hash":{digest},"summary":{native["summary"]},"series":{series}}}'
    )


Asked = dict[str, tuple[str, dict[str, str]]]


@pytest.fixture(scope="module")
def shipped() -> Asked:
    """Every shipped scenario, shortened, and the values that the page adds."""

    def asked(path: Path) -> tuple[str, dict[str, str]]:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        # The page records series itself, unless the scenario does.
        values = {} if "series" in document else SERIES
        return tomli_w.dumps(shortened(document, MOST_PACKETS)), values

    return {name: asked(path) for name, path in shipped_scenarios().items()}


@pytest.fixture(scope="module")
def answers_to_shipped(shipped: Asked) -> dict[str, str]:
    """What the page's engine, which takes a second to compile, says about all of them."""
    questions: list[dict[str, object]] = [
        {"text": text, "set": values, "seed": 7} for text, values in shipped.values()
    ]
    return dict(zip(shipped, answers(questions), strict=True))


@pytest.mark.parametrize("name", shipped_scenarios())
def test_shipped_scenarios_have_the_same_bytes(
    name: str, shipped: Asked, answers_to_shipped: dict[str, str]
) -> None:
    answer, delays = without_delays(answers_to_shipped[name])
    assert answer == native_answer(*shipped[name], 7)
    read = json.loads(delays)
    p99 = read["fractions"].index(0.99)
    links = json.loads(answer)["summary"]["links"]
    assert read["links"].keys() == links.keys()
    for link, waits in read["links"].items():
        assert waits["mean_s"] == links[link]["queue_delay_s_mean"]
        quantiles = waits["quantiles_s"]
        assert (quantiles and quantiles[p99]) == links[link]["queue_delay_s_p99"]


def test_files_that_the_page_was_given_have_the_same_bytes(tmp_path: Path) -> None:
    files = {
        "link.trace": "1\n2\n4\n",
        "flows.csv": "start_s,bytes\n0.5,30000\n1.5,50000\n",
        "sizes.csv": "10000,0\n20000,0.5\n90000,1\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    group = 'path = ["bottleneck"]\ncongestion = "reno"\nrtt = "20 ms"'
    text = f"""{SMALL.replace('rate = "10 Mbit/s"', 'trace = "link.trace"')}
[flows.listed]
{group}
source = {{ kind = "trace", file = "flows.csv" }}
[flows.drawn]
{group}
source = {{ kind = "finite_flows", arrivals_per_second = 5, size = {SIZES} }}
"""
    [found] = answers([{"text": text, "set": SERIES, "seed": 7, "files": files}])
    assert without_delays(found)[0] == native_answer(text, SERIES, 7, tmp_path)


def test_searches_have_the_same_bytes() -> None:
    """Each step, on runs whose utilization misses by the power 1.5 of the limit what it lacks."""
    draw = random.Random(1)
    question = {
        "targets": [
            {
                "text": "utilization >= 98%",
                "metric": "utilization",
                "at_least": True,
                "bound": 0.98,
                "highest": 1.0,
            }
        ],
        "precision": 0.06,
        "smallest": 1,
        "largest": 5000,
        "max_seeds": 32,
        "is_whole": True,
        "limits": [110, 270, 650],
    }
    runs: dict[str, list[list[float]]] = {}
    texts: list[str] = []
    steps: list[str] = []
    while not steps or json.loads(steps[-1])["wanted"]:
        for limit, count in (json.loads(steps[-1])["wanted"] if steps else {}).items():
            missing = 0.02 * (276 / int(limit)) ** 1.5
            values = runs.setdefault(limit, [[]])[0]
            values += [1 - missing * draw.uniform(0.7, 1.3) for _ in range(count - len(values))]
        texts.append(json.dumps({**question, "runs": runs}))
        steps.append(_engine.size_search_step(texts[-1]))
    assert answers([json.loads(text) for text in texts]) == steps
    assert json.loads(steps[-1])["interval"]


def test_problems_are_those_of_the_native_engine() -> None:
    wrong = SMALL.replace("10 Mbit/s", "10 parsec")
    trace = SMALL.replace('rate = "10 Mbit/s"', 'trace = "link.trace"')
    own = SMALL.replace('{ kind = "reno" }', '"module:Class"')
    found = answers([{"text": text, "set": {}, "seed": None} for text in (wrong, trace, own)])
    texts = [json.loads(answer)["problems"][0]["text"] for answer in found]
    with pytest.raises(ValueError, match="parsec") as native:
        _engine.Scenario(wrong, "", [])
    assert texts[0] == str(native.value)
    assert "tailroom explore FILE" in texts[1]
    assert 'does not run controls in Python, such as "module:Class"' in texts[2]
