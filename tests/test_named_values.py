"""Names that are nearly right: the answer names the nearest ones that exist."""

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import tailroom as tr
from tailroom.errors import MetricError
from tailroom.simulation.metrics import find_metric, metrics_of
from tailroom.storage.run import RunsInMemory
from tailroom.studies.report_card.criteria import CARD, CRITERIA, EXPERIMENTS
from tailroom.studies.report_card.evaluation import Finding

LIMIT = "links.bottleneck.queue.limit"
TWO_LINKS = """\
duration = "1 s"

[links.core]
rate = "10 Mbit/s"
delay = "5 ms"
queue = { kind = "drop_tail", limit = "20 packets" }

[links.edge]
rate = "20 Mbit/s"
delay = "1 ms"
queue = { kind = "drop_tail", limit = "20 packets" }

[flows.reno]
path = ["core", "edge"]
congestion = { kind = "reno" }
rtt = "20 ms"

[flows.call]
path = ["core"]
packet_size = "200 B"
source = { kind = "cbr", rate = "64 kbit/s" }
"""


@pytest.fixture
def two_links(tmp_path: Path) -> tr.Result:
    path = tmp_path / "two-links.toml"
    path.write_text(TWO_LINKS, encoding="utf-8")
    return tr.run(path)


def test_a_wrong_key_of_a_result_names_the_nearest(two_links: tr.Result) -> None:
    for values, wrong, right in (
        (two_links.links["core"], "utilisation", "utilization"),
        (two_links.links, "cor", "core"),
        (two_links.groups, "renoo", "reno"),
        (two_links.groups["reno"], "goodput", "goodput_bps"),
        (two_links.groups["call"]["links"]["core"], "loss", "loss_fraction"),
        (two_links.flows[0], "timeout", "timeouts"),
        (two_links.summary, "link", "links"),
        (two_links.timing, "wall", "wall_s"),
    ):
        assert values is not None
        with pytest.raises(KeyError, match=rf"{wrong}: .* did you mean .*\b{right}\b"):
            values[wrong]  # type: ignore[literal-required]
    with pytest.raises(KeyError, match="choose one of core, edge"):
        two_links.links["xyzzy"]


def test_a_saved_result_names_the_nearest_key_too(two_links: tr.Result, tmp_path: Path) -> None:
    two_links.save(tmp_path / "out")
    with pytest.raises(KeyError, match="did you mean utilization"):
        tr.load(tmp_path / "out").links["core"]["utilisation"]  # type: ignore[typeddict-item]


def test_a_wrong_key_of_settings_names_the_nearest(small: Path, tmp_path: Path) -> None:
    key = "links.bottleneck.queue.limit"
    swept = tr.sweep(small, store=tmp_path / "store", grid={key: ["5 packets"]}, seeds=1)
    chosen = tr.choices(small, {key: ["5 packets"]}).choices[0]
    read = tr.Store(tmp_path / "store").sweeps()[0]
    for settings in (
        swept.record.points[0]["settings"],
        read.points[0]["settings"],
        chosen.settings,
    ):
        with pytest.raises(KeyError, match=f"did you mean {key}"):
            settings["links.bottleneck.queue.limits"]
    with pytest.raises(KeyError, match=r"did you mean .*links\.bottleneck\.utilization"):
        chosen.metrics["links.bottleneck.utilisation"]


def test_values_by_name_are_plain_dictionaries(two_links: tr.Result) -> None:
    link = two_links.links["core"]
    assert isinstance(link, dict)
    assert link == dict(link)
    assert link.get("utilisation") is None
    assert "utilisation" not in link
    assert json.loads(json.dumps(two_links.summary)) == two_links.summary
    for other in (pickle.loads(pickle.dumps(link)), copy.deepcopy(link)):
        assert other == link
        with pytest.raises(KeyError, match="did you mean utilization"):
            other["utilisation"]  # type: ignore[typeddict-item]


def test_a_misspelled_model_or_quantity_of_a_prediction_is_named() -> None:
    predictions = tr.predict("first", models=["sawtooth", "rule_of_thumb", "stability"])
    assert predictions.value("rule_of_thumb", "loss_fraction") is None
    curves = tr.predict_over("first", tr.Axis(LIMIT, ("1 bdp",)), models=["sawtooth"])
    of_models: list[Callable[[], object]] = [
        lambda: predictions["sawtoth"],
        lambda: predictions.value("sawtoth", "utilization"),
        lambda: predictions.fails("sawtoth"),
        lambda: curves.values("sawtoth", "utilization"),
    ]
    of_quantities: list[Callable[[], object]] = [
        lambda: predictions.value("sawtooth", "utilisation"),
        lambda: predictions.models_predicting("utilisation"),
        lambda: curves.models_predicting("utilisation"),
        lambda: curves.values("sawtooth", "utilisation"),
    ]
    for call in of_models:
        with pytest.raises(KeyError, match=r"sawtoth: .* did you mean sawtooth\?"):
            call()
    for call in of_quantities:
        with pytest.raises(KeyError, match=r"utilisation: .* did you mean utilization\?"):
            call()


def test_a_misspelled_criterion_of_a_report_card_is_named() -> None:
    findings = tuple(Finding(criterion, EXPERIMENTS[0], ()) for criterion in CRITERIA)
    card = tr.Evaluation("bic", CARD, findings, pa.table({}), quick=True, kept=RunsInMemory())
    assert card["utilization"].criterion.name == "utilization"
    with pytest.raises(KeyError, match=r"utilisation: .* did you mean utilization"):
        card["utilisation"]


NEAREST = {
    # A quantity of the same name that belongs to someone else is never "meant".
    "call.queue_packets_mean": "group call has no queue_packets_mean; links have: "
    "core.queue_packets_mean, edge.queue_packets_mean",
    "core.goodput_bps": "link core has no goodput_bps; groups have: reno.goodput_bps, "
    "call.goodput_bps",
    "links.core.goodput_bps": "link core has no goodput_bps; groups have: reno.goodput_bps",
    "call.goodput": "group call has no goodput; did you mean call.goodput_bps",
    "cor.utilization": "there is no link or group cor; choose one of core",
    "groups.core.goodput_bps": "there is no group core; choose one of reno, call",
    "utilisation": "there is no such metric; did you mean core.utilization or edge.utilization?",
    "utilization": (
        "several metrics have this name; choose one of core.utilization, edge.utilization"
    ),
    "flows.jain": "there is no such metric of all flows; did you mean jain_index?",
}


@pytest.mark.parametrize("name", NEAREST)
def test_a_wrong_metric_is_answered_by_what_exists(two_links: tr.Result, name: str) -> None:
    known = list(metrics_of(two_links.summary))
    with pytest.raises(MetricError) as raised:
        find_metric(name, known)
    assert str(raised.value).startswith(f"{name}: {NEAREST[name]}")


def test_a_groups_own_metric_at_a_link_comes_before_the_links(two_links: tr.Result) -> None:
    known = [
        name
        for name in metrics_of(two_links.summary)
        if name.count(".") != 2 or not name.endswith(".queue_delay_s_p99")
    ] + ["links.core.queue_delay_s_p99"]
    with pytest.raises(MetricError) as raised:
        find_metric("call.queue_delay_s_p99", known)
    assert str(raised.value) == (
        "call.queue_delay_s_p99: group call has no queue_delay_s_p99; of its packets at a link: "
        "call.links.core.queue_delay_s_p99; links have: core.queue_delay_s_p99"
    )


def test_a_metric_of_a_part_of_a_group_is_named_as_what_the_group_has() -> None:
    """Flows of all sizes and queries are not packets at a link."""
    parts = [f"groups.rpc.{part}.completion_time_s_p99" for part in ("all_sizes", "coflows")]
    with pytest.raises(MetricError) as raised:
        find_metric("rpc.completion_time_s_p99", parts)
    assert str(raised.value) == (
        "rpc.completion_time_s_p99: group rpc has no completion_time_s_p99; it has "
        "all_sizes.completion_time_s_p99, coflows.completion_time_s_p99"
    )


@pytest.mark.parametrize("name", ["utilisation", "goodput", "queue", "xyzzy", "call.xyzzy"])
def test_every_metric_that_an_error_names_can_be_asked_for(two_links: tr.Result, name: str) -> None:
    known = list(metrics_of(two_links.summary))
    with pytest.raises(MetricError) as raised:
        find_metric(name, known)
    text = str(raised.value).partition("; ")[2].partition(" (`")[0]
    for words in ("did you mean ", "choose one of ", "?"):
        text = text.replace(words, "")
    named = text.partition(" and ")[0].replace(" or ", ", ").split(", ")
    assert named
    for one in named:
        assert find_metric(one, known)
