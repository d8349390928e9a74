"""What every model promises, on links of all kinds."""

import json
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import ceil, inf, isfinite
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tailroom import _engine, models
from tailroom.errors import NotApplicableError
from tailroom.models import MODELS, Bottleneck, Requirement
from tailroom.models.bottleneck import DynamicFlows, FlowClass, Stream
from tailroom.models.bursts import bursts_over_background
from tailroom.models.numerics.smallest_limit import LEAST_LIMIT
from tailroom.models.window_laws import LAWS, law_of
from tailroom.studies.prediction import Predictions, ask
from tests.conftest import Tailroom
from tests.models.links import FIXED, PACKET, dynamic, flows, link, stream

DISCIPLINES = ("drop_tail", "red", "adaptive_red", "codel", "fair", "pie", "step_mark")
TARGET = Requirement()
PACKAGE = Path(models.__file__).parent
ROOT = Path(__file__).parents[2]
UNITS = (
    *("bdp", "bps", "degrees", "flows", "fraction", "hz"),
    *("packets", "per_s", "ratio", "round_trips", "s"),
)
"""What the name of a detail ends in, perhaps followed by `_mean`, `_min` or `_max`."""


@cache
def components(kind: str) -> dict[str, dict[str, Any]]:
    """Kinds of a component, with the parameters that a scenario leaves out."""
    listed = json.loads(_engine.components())[kind]
    return {
        one["kind"]: {
            each["name"]: each["default"] for each in one["parameters"] if "default" in each
        }
        for one in listed
    }


def logarithmic(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers of all sizes between two."""
    return st.floats(0, 1).map(lambda part: float(low * (high / low) ** part))


@st.composite
def classes(draw: st.DrawFn, control: str) -> FlowClass:
    """Permanent flows that do not differ."""
    return replace(
        flows(
            count=round(draw(logarithmic(1, 1e6))) if draw(st.booleans()) else 1,
            rtt_s=draw(logarithmic(1e-3, 1)),
            congestion=control,
            access_rate_bps=draw(st.just(inf) | logarithmic(1e4, 1e11)),
            max_window=draw(st.just(inf) | logarithmic(1, 1e5)),
            packets_per_ack=draw(st.sampled_from([1, 2])),
            pacing=draw(st.booleans()),
            ecn=draw(st.booleans()),
        ),
        group=draw(st.sampled_from(["left", "right"])),
    )


@st.composite
def streams(draw: st.DrawFn, rate_bps: float) -> Stream:
    """A stream of up to 1.2 times the rate."""
    process = draw(st.sampled_from(["poisson", "cbr", "on_off"]))
    return replace(
        stream(rate_bps * draw(st.floats(1e-4, 1.2)), process), fixed_size=draw(st.booleans())
    )


@st.composite
def comers(draw: st.DrawFn, rate_bps: float, control: str | None) -> DynamicFlows:
    """Dynamic flows that offer up to 1.2 times the rate."""
    offered = rate_bps * draw(st.floats(1e-4, 1.2))
    sizes = tuple(draw(st.lists(logarithmic(100, 1e8), min_size=1, max_size=5)))
    mean = sum(sizes) / len(sizes)
    header = draw(st.sampled_from([0, 40]))
    packets = sum(ceil(size / (PACKET - header)) for size in sizes) / len(sizes)
    return dynamic(
        offered,
        draw(st.just(inf) | logarithmic(1e4, 1e11)),
        process=draw(st.sampled_from(["finite_flows", "web", "streaming", "trace"])),
        congestion=control,
        size_bytes_mean=mean,
        wire_bytes_mean=mean + header * packets,
        sizes_bytes=sizes,
        arrivals_per_s=offered / (8 * mean),
        poisson=draw(st.booleans()),
        rtt_s=draw(logarithmic(1e-3, 1)),
        initial_window=draw(st.sampled_from([1, 10])),
        header_bytes=header,
    )


@st.composite
def links(draw: st.DrawFn) -> Bottleneck:
    """A link of 64 kbit/s to 400 Gbit/s, 1 to 10^6 packets, and any mix of traffic."""
    rate_bps = draw(logarithmic(64e3, 400e9))
    discipline = draw(st.sampled_from(DISCIPLINES) | st.just("drop_tail"))
    limit = round(draw(logarithmic(1, 1e6)))
    amounts = {"threshold": draw(logarithmic(1, 1e6))} if discipline == "step_mark" else {}
    controls = st.sampled_from(sorted(components("congestion")))
    one = draw(controls)
    mix = draw(st.lists(controls, max_size=2) | st.just([one]) | st.just([one, one]))
    others = draw(st.lists(streams(rate_bps), max_size=1 if mix else 2))
    pass_by = draw(st.lists(comers(rate_bps, draw(st.none() | controls)), max_size=1))
    made = link(
        *(draw(classes(control)) for control in mix),
        limit=limit,
        discipline=discipline,
        amounts=amounts,
        streams=tuple(others),
        dynamic=tuple(pass_by),
        random_loss_fraction=draw(st.sampled_from([0.0, 0.01])),
        other_links=draw(st.sampled_from([(), ("uplink",)])),
        changes=draw(st.booleans()),
    )
    return replace(made, rate_bps=rate_bps, parameters=components("queue")[discipline])


def in_range(said: Any, at: Bottleneck) -> Iterator[str]:
    """What is out of range in a prediction."""
    for name in ("utilization", "loss_fraction"):
        value = getattr(said, name)
        if value is not None and not 0 <= value <= 1:
            yield f"{name} {value}"
    for name in ("queue_packets_mean", "queue_delay_s_mean"):
        value = getattr(said, name)
        if value is not None and not (value >= 0 and isfinite(value)):
            yield f"{name} {value}"
    if said.queue_packets_mean is not None and said.queue_packets_mean > at.limit_packets + 1e-6:
        yield f"a queue of {said.queue_packets_mean} at a limit of {at.limit_packets}"
    if said.required_packets is not None:
        if not said.required_packets > 0:
            yield f"a required limit of {said.required_packets}"
        if not said.required_for:
            yield "a required limit without what it is for"
    for name, value in said.details.items():
        # Only a rate of growth has a sign, and the phase margin of a loop that is unstable.
        if not (value >= 0 or name.endswith("_per_s") or is_unstable(name, said.details)):
            yield f"{name} {value}"


def is_unstable(name: str, details: Mapping[str, float]) -> bool:
    """Whether this is the phase margin of an unstable loop, whose gain must shrink."""
    is_margin = name == "phase_margin_degrees"
    return is_margin and details["dominant_root_per_s"] > 0 and details["gain_margin_ratio"] < 1


TARGETS = st.builds(Requirement, st.floats(0.01, 0.999), logarithmic(1e-9, 0.9))
SLOW = "fluid"
"""It takes a second where others take milliseconds."""


@FIXED
@given(at=links(), target=TARGETS)
def test_predicts_in_range_or_says_why_not(at: Bottleneck, target: Requirement) -> None:
    """All models on the same links, which take longer to generate than an answer."""
    for name in MODELS:
        if name != SLOW:
            check_answer(name, at, target)


@settings(FIXED, max_examples=8)
@given(at=links(), target=TARGETS)
def test_the_slow_model_predicts_in_range_or_says_why_not(
    at: Bottleneck, target: Requirement
) -> None:
    check_answer(SLOW, at, target)


def test_an_unstable_loop_has_margins_that_say_so() -> None:
    """A flow with an RTT of a second on eight packets per second: the phase is 31 degrees late."""
    alone = flows(rtt_s=1.0, congestion="aimd")
    at = replace(
        link(alone, limit=10**6, discipline="red"),
        rate_bps=64e3,
        parameters=components("queue")["red"],
    )
    details = MODELS[SLOW].predict(at, Requirement(0.5, 0.5)).details
    assert is_unstable("phase_margin_degrees", details)
    assert details["phase_margin_degrees"] == pytest.approx(-30.5, abs=0.1)


def check_answer(name: str, at: Bottleneck, target: Requirement) -> None:
    """A prediction in range, or a reason with a name in it; as JSON too."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = ask(MODELS[name], at, target)
    if answer.prediction is None:
        named = [f"link {at.name}", *(f"group {one.group}" for one in at.classes)]
        assert any(one in answer.why_not for one in named), (name, answer.why_not)
    else:
        assert list(in_range(answer.prediction, at)) == [], name
        assert answer.assumptions, name
        for one in answer.assumptions:
            assert one.statement
            assert bool(one.found) != one.holds
    json.dumps(Predictions(at, target, (answer,)).as_dict(), allow_nan=False)


def one_for_each() -> dict[str, Bottleneck]:
    """A link for each model that it was made for."""
    long, fast = flows(10), flows(2, congestion="highspeed")
    red = components("queue")["red"]
    slow = replace(flows(4), access_rate_bps=1e6)
    short = link(limit=100, dynamic=(dynamic(4e7, 1e6),))
    marked = replace(flows(2, congestion="dctcp"), ecn=True)
    special = {
        "tiny_buffers": link(slow),
        "short_flows": short,
        "bbr_buffer": link(flows(congestion="bbr1")),
        "dctcp_threshold": link(marked, discipline="step_mark", amounts={"threshold": 50.0}),
        "transparent": short,
        "processor_sharing": short,
        "residual_sawtooth": link(flows(), streams=(stream(4e7),)),
        "bursts_over_background": link(
            flows(), bdp=100, limit=20, rtt_s=0.1, streams=(stream(4e6),)
        ),
        "drop_tail_fixed_point_fluid": link(fast),
        "red_fixed_point": replace(link(long, discipline="red"), parameters=red),
    }
    return {name: special.get(name, link(long)) for name in MODELS}


@pytest.mark.parametrize("name", MODELS)
def test_predicts_where_it_was_made_to(name: str) -> None:
    """And names numbers by their unit."""
    at = one_for_each()[name]
    answer = ask(MODELS[name], at, TARGET)
    assert answer.prediction, answer.why_not
    assert list(in_range(answer.prediction, at)) == []
    ends = tuple(f"_{unit}{how}" for unit in UNITS for how in ("", "_mean", "_min", "_max"))
    assert [one for one in answer.prediction.details if not one.endswith(ends)] == []


@pytest.mark.parametrize("name", MODELS)
def test_has_its_name_in_a_file_of_the_package_and_a_source(name: str) -> None:
    model = MODELS[name]
    assert model.name == name
    assert any(f'name="{name}"' in file.read_text() for file in PACKAGE.rglob("*.py"))
    assert model.title
    assert model.source


@pytest.mark.parametrize("name", MODELS)
def test_stands_in_the_table_of_the_docs(name: str) -> None:
    assert f"| `{name}` |" in (ROOT / "docs/models/index.md").read_text()


@pytest.mark.parametrize("control", sorted(components("congestion")))
def test_a_control_has_a_falling_law_or_is_named(control: str) -> None:
    one = flows(congestion=control)
    if control not in LAWS:
        with pytest.raises(NotApplicableError, match=rf"law for {control} \(group {control}\)"):
            law_of(one)
        return
    windows = [float(law_of(one).window(p, 0.1)) for p in (1e-1, 1e-3, 1e-6, 1e-9)]
    assert all(after > before for before, after in pairwise(windows))


def used_and_lost(name: str, at: Bottleneck) -> tuple[float, float]:
    """Utilization and loss that a model predicts."""
    said = MODELS[name].predict(at, TARGET)
    assert said.utilization is not None
    assert said.loss_fraction is not None
    return said.utilization, said.loss_fraction


def grows_and_loses_less(name: str, at: Bottleneck, further: float, *, loss: bool = True) -> None:
    """More room: no less utilization, no more loss."""
    small = used_and_lost(name, at)
    large = used_and_lost(name, at.with_limit(at.limit_packets * further))
    assert large[0] >= small[0] - 1e-9
    assert not loss or large[1] <= small[1] + 1e-12


LIMITS = logarithmic(LEAST_LIMIT, 1e5).map(round)
FURTHER = st.sampled_from([2, 3, 10])


@FIXED
@given(
    control=st.sampled_from(sorted(LAWS)), bdp=logarithmic(10, 1e5), limit=LIMITS, further=FURTHER
)
def test_a_larger_buffer_does_a_sawtooth_no_harm(
    control: str, bdp: float, limit: int, further: int
) -> None:
    """But for loss where the growth of a round trip, which is lost, rises with the window."""
    at = link(flows(congestion=control), bdp=bdp, limit=limit)
    grows_and_loses_less("sawtooth", at, further, loss=control in ("reno", "aimd", "dctcp"))


@FIXED
@given(
    at=st.builds(
        lambda count, control, bdp, limit: link(
            flows(count, congestion=control), bdp=bdp, limit=limit
        ),
        st.integers(1, 10),
        st.sampled_from(sorted(LAWS)),
        logarithmic(100, 1e6),
        LIMITS,
    ),
    further=FURTHER,
)
@pytest.mark.parametrize("name", ["drop_tail_fixed_point", "drop_tail_fixed_point_md1k"])
def test_a_larger_buffer_does_a_fixed_point_no_harm_below_saturation(
    name: str, at: Bottleneck, further: int
) -> None:
    """At a load of at most 1; above it, utilization may dip by 0.002."""
    assume(MODELS[name].predict(at, TARGET).details["load_fraction"] <= 1)
    grows_and_loses_less(name, at, further)


@FIXED
@given(load=st.floats(0.01, 0.99), peak=logarithmic(1e-4, 0.1), limit=LIMITS, further=FURTHER)
def test_a_larger_buffer_does_transparent_traffic_no_harm(
    load: float, peak: float, limit: int, further: int
) -> None:
    made = link(bdp=1000, limit=limit)
    rate = made.rate_bps
    grows_and_loses_less(
        "transparent", replace(made, dynamic=(dynamic(load * rate, peak * rate),)), further
    )


@pytest.mark.parametrize("load", [0.05, 0.3, 0.7])
def test_a_larger_buffer_does_bursts_over_a_background_no_harm(load: float) -> None:
    """Of loss there is no promise: with more room the flow sends more."""
    at = link(flows(), bdp=200, streams=(stream(load * 8 * PACKET * 2000),))
    used = [bursts_over_background.at_limit(at, limit).utilization for limit in (5, 20, 80, 320)]
    assert used == sorted(used)


def test_every_model_answers_or_says_why_not(tailroom: Tailroom, small: Path) -> None:
    answer = json.loads(tailroom("model", small, "--json").output)
    assert list(answer["models"]) == list(MODELS)
    for name, said in answer["models"].items():
        assert said["title"], name
        assert said["source"], name
        if said["applies"]:
            assert said["assumptions"], name
            for one in said["assumptions"]:
                assert bool(one["found"]) != one["holds"], (name, one)
        else:
            assert said["why_not"], name
