"""Ten snippets as users of other tools would write them: each works, or says what to write."""

import asyncio
import copy
import pickle
from typing import Any

import numpy as np
import pytest

import tailroom as tr
from tailroom.scenario import types as t

pytestmark = pytest.mark.usefixtures("quick_models")

SHORT = {"duration": "2 s", "measure_from": "1 s"}
LIMIT = "links.bottleneck.queue.limit"
FLOWS: Any = {"f": {"path": ["l"], "rtt": "20 ms", "congestion": "reno", "source": "bulk"}}


@pytest.fixture(scope="module")
def result() -> tr.Result:
    return tr.run("first", set=SHORT)


def test_a_typed_scenario_runs() -> None:
    link = t.Link(rate="1 Mbit/s", delay="1 ms", queue={"kind": "drop_tail", "limit": "9 packets"})
    run = tr.run(tr.Scenario(duration="2 s", links={"l": link}, flows=FLOWS))
    assert 0 < run.links["l"]["utilization"] <= 1


def test_a_misspelled_key_of_a_class_is_refused_with_the_right_one() -> None:
    link = t.Link(rat="1 Mbit/s", delay="1 ms")  # type: ignore[typeddict-item]
    with pytest.raises(tr.ScenarioError, match=r"links\.l\.rat: .*did you mean `rate`\?"):
        tr.Scenario(duration="2 s", links={"l": link}, flows=FLOWS)


def test_choices_are_a_data_frame() -> None:
    frame = tr.choices("first", {LIMIT: ["10 packets", "100 packets"]}, set=SHORT).to_pandas()
    assert list(frame["limit"]) == ["10 packets", "100 packets"]


def test_a_packet_log_that_is_true_is_refused_with_a_number_to_write() -> None:
    with pytest.raises(tr.ScenarioError, match=r"is true; write a whole number: .*such as 10000"):
        tr.run("first", set={"links.bottleneck.packet_log": True})


def test_size_takes_numbers_without_units() -> None:
    size = tr.size(rate=2e6, rtt=0.02, target="utilization >= 0.9", max_seeds=4)
    assert (size.limit_packets or 0) > 0


def test_a_sweep_needs_no_store_and_takes_the_end_of_a_key() -> None:
    whole, end = (
        tr.sweep("first", grid={key: [10, 100]}, seeds=1, set=SHORT).to_pandas()[
            [LIMIT, "links.bottleneck.utilization"]
        ]
        for key in (LIMIT, "limit")
    )
    assert len(whole) == 2
    assert whole.equals(end)


def test_a_statistic_written_as_an_attribute_is_answered_with_the_key(result: tr.Result) -> None:
    link: Any = result.links["bottleneck"]
    with pytest.raises(AttributeError, match=r'^utilization: .*write \["utilization"\]$'):
        _ = link.utilization
    with pytest.raises(AttributeError, match=r"did you mean utilization\?$"):
        _ = link.utilisation
    assert not hasattr(link, "__array__")
    assert np.array(link, dtype=object).shape == ()


def test_runs_share_an_event_loop() -> None:
    async def together() -> list[tr.Result]:
        runs = [asyncio.to_thread(tr.run, "first", seed=seed, set=SHORT) for seed in (1, 2, 1)]
        return list(await asyncio.gather(*runs))

    one, other, same = asyncio.run(together())
    assert one == same != other


def test_a_result_is_pickled_and_copied_and_equals_that_of_a_second_run(result: tr.Result) -> None:
    assert result == pickle.loads(pickle.dumps(result)) == copy.deepcopy(result)
    assert result == tr.run("first", set=SHORT)
