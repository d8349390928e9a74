"""A run in steps gives what a run gives, repeats itself from its log, and refuses what is wrong."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tailroom as tr

SCENARIO = """
duration = "20 s"
measure_from = "2 s"
[defaults]
host = "plain"
[links.bottleneck]
rate = "12 Mbit/s"
delay = "5 ms"
queue = { kind = "codel", limit = "60 packets" }
[links.edge]
rate = "100 Mbit/s"
delay = "1 ms"
queue = { kind = "drop_tail", limit = "100 packets" }
[flows.tcp]
count = 2
path = ["edge", "bottleneck"]
congestion = "cubic"
rtt = "40 ms"
[flows.learner]
path = ["bottleneck"]
congestion = { kind = "stepped", window = 20, pacing_rate = "3 Mbit/s" }
rtt = "40 ms"
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def acted_on(scenario: Path, seed: int) -> tuple[tr.Result, list[float]]:
    seen_rates = []
    with tr.Simulation(scenario, every="50 ms", seed=seed, acts_on=["edge"]) as run:
        for number, seen in enumerate(run):
            learner, bottleneck = seen.flows["learner"], seen.links["bottleneck"]
            seen_rates.append(learner.send_rate_bps)
            if number % 7 == 0 and not run.is_over:
                run.act(flow="learner", pacing_rate=1e6 * (1 + number % 5))
                run.act(link="bottleneck", target=0.002 + 1e-5 * bottleneck.queue_packets)
                run.act(link="edge", rate="50 Mbit/s", limit=10 + number % 3)
        return run.result(), seen_rates


def test_a_run_in_steps_without_actions_is_the_run(scenario: Path) -> None:
    whole = tr.run(scenario, seed=3, series_samples=50)
    with tr.Simulation(scenario, every=0.017, seed=3, series_samples=50) as run:
        seen = list(run)
        stepped = run.result()
    assert stepped.actions is not None
    assert stepped.actions.actions == ()
    assert stepped.link_series is not None
    assert stepped == whole
    assert stepped != replace(whole, scenario="")
    assert seen[-1].time_s == 20
    assert len(seen) == -(-20_000 // 17)
    assert {*seen[0].links} == {"bottleneck", "edge"}
    assert {*seen[0].flows} == {"tcp.0", "tcp.1", "learner"}


def test_scenario_seed_and_actions_determine_the_run(scenario: Path, tmp_path: Path) -> None:
    result, rates = acted_on(scenario, 3)
    again, _ = acted_on(scenario, 3)
    assert result == again
    assert result != tr.run(scenario, seed=3)
    result.save(tmp_path / "saved")
    log = tr.load(tmp_path / "saved").actions
    assert log == result.actions
    assert log is not None
    assert tr.Simulation.replay(scenario, log, seed=3) == result
    assert tr.Simulation.replay(scenario, log, seed=4) != result
    # The pacing rate holds from step to step: 5, 3, 1 ... Mbit/s, less what the window stops.
    assert max(rates[1:]) <= 5e6 + 2 * 8 * 1500 / 0.05


def test_a_copy_goes_on_as_the_run_and_apart_from_it(scenario: Path) -> None:
    def half_way() -> tr.Simulation:
        run = tr.Simulation(scenario, every="50 ms", seed=3, acts_on=["edge"], series_samples=50)
        for number in range(200):
            run.step()
            if number % 7 == 0:
                run.act(flow="learner", pacing_rate=1e6 * (1 + number % 5))
                run.act(link="edge", rate="50 Mbit/s", limit=10 + number % 3)
        return run

    run = half_way()
    same, other = run.copy(), run.copy()
    assert (same.time_s, same.actions) == (run.time_s, run.actions)
    other.act(link="edge", rate="1 Mbit/s")
    ahead = other.step()
    assert ahead is not None
    seen = run.step()
    assert seen is not None
    assert ahead.links["edge"].rate_bps == 1e6 != seen.links["edge"].rate_bps
    result, differs = run.result(), other.result()
    assert same.result() == result == half_way().result()
    assert differs != result
    with pytest.raises(tr.ArgumentError, match="open another"):
        run.copy()


class EachFiftieth:
    """Drops each fiftieth packet: its state is an object of Python's."""

    def __init__(self) -> None:
        self.arrived = 0

    def on_arrival(self, packet: tr.QueuePacket, queue: tr.QueueState) -> str:
        self.arrived += 1
        return "drop" if self.arrived % 50 == 0 else "accept"


def test_a_copy_of_a_run_with_own_code_repeats_it(scenario: Path) -> None:
    own = {"edge": EachFiftieth}
    with tr.Simulation(scenario, every="50 ms", seed=3, disciplines=own) as run:
        for _ in range(100):
            run.step()
        same = run.copy()
        assert same.step() == run.step()
        result = run.result()
        assert same.result() == result
        assert result.links["edge"]["drops_early_packets"] > 10


@pytest.mark.parametrize(
    ("act", "words"),
    [
        ({"link": "edge", "rate": 1e6}, ["links.edge", 'tr.Simulation(..., acts_on=["edge"])']),
        ({"link": "bottleneck", "rate": 0}, ["links.bottleneck.rate", "positive"]),
        ({"link": "bottleneck", "rate": "5 miles"}, ["links.bottleneck.rate", "unit"]),
        ({"link": "bottleneck", "target": "1 s"}, ["links.bottleneck.queue.target", "interval"]),
        ({"link": "bottleneck", "limi": 3}, ["links.bottleneck.queue.limi", "limit"]),
        ({"link": "bottleneck", "kind": "red"}, ["links.bottleneck.queue.kind"]),
        ({"link": "core", "rate": 1e6}, ["core", "bottleneck, edge"]),
        ({"flow": "tcp.0", "window": 3}, ["flows.tcp.congestion", "cubic", "stepped"]),
        ({"flow": "learner", "window": 0.5}, ["flows.learner.congestion.window", "1"]),
        ({"flow": "learner", "window": 10**400}, ["flows.learner.congestion.window", "at most"]),
        ({"flow": "learner", "window": 10**6000}, ["flows.learner.congestion.window", "at most"]),
        ({"flow": "learner", "pacing_rate": 10**6000}, ["pacing_rate", "at most"]),
        ({"link": "bottleneck", "rate": 10**6000}, ["links.bottleneck.rate", "at most"]),
        (
            {"link": "bottleneck", "limit": 10**6000},
            ["links.bottleneck.queue.limit", "1.000000e+6000"],
        ),
        (
            {"link": "bottleneck", "limit": 2**63},
            ["links.bottleneck.queue.limit", "9223372036854775808"],
        ),
        ({"link": "bottleneck", "rate": 10**90}, ["0... (97 characters)", "22 digits"]),
        ({"flow": "learner", "window": "many"}, ["flows.learner.congestion.window", "number"]),
        ({"flow": "learner", "cwnd": 3}, ["cwnd", "window or pacing_rate"]),
        ({"flow": "nobody", "window": 3}, ["nobody", "learner"]),
        ({"link": "edge", "flow": "learner", "window": 3}, ["one place"]),
        ({"link": "bottleneck"}, ["no value"]),
    ],
)
def test_a_wrong_action_names_place_and_remedy_and_changes_nothing(
    scenario: Path, act: dict[str, object], words: list[str]
) -> None:
    with tr.Simulation(scenario, every="50 ms") as run:
        with pytest.raises(tr.WrongInputError) as refused:
            run.act(**act)  # type: ignore[arg-type]
        assert all(word in str(refused.value) for word in words), refused.value
        assert run.actions.actions == ()


@pytest.mark.parametrize("every", [0, "0 s", -1, "10", "soon"])
def test_a_step_without_length_is_refused(scenario: Path, every: str | float) -> None:
    with pytest.raises(tr.ArgumentError, match="every"):
        tr.Simulation(scenario, every=every)


def test_a_link_to_act_on_must_exist(scenario: Path) -> None:
    with pytest.raises(tr.ArgumentError, match="bottleneck, edge"):
        tr.Simulation(scenario, every=1, acts_on=["core"])


def test_nothing_can_be_done_after_the_end(scenario: Path) -> None:
    run = tr.Simulation(scenario, every=10)
    assert len(list(run)) == 2
    assert run.step() is None
    with pytest.raises(tr.ArgumentError, match="step"):
        run.act(link="bottleneck", rate=1e6)
    run.result()
    for use in (run.step, run.result, lambda: run.act(flow="learner", window=3)):
        with pytest.raises(tr.ArgumentError, match="open another"):
            use()


def test_numbers_of_numpy_are_numbers(scenario: Path) -> None:
    with tr.Simulation(scenario, every="1 s") as run:
        run.act(flow="learner", window=np.float32(7), pacing_rate=np.int64(2_000_000))
        (action,) = run.actions.actions
        assert action.values == {"window": 7.0, "pacing_rate": "2000000 bit/s"}


class Raises:
    """Fails at the first ACK in congestion avoidance."""

    def on_ack(self, event: tr.AckEvent) -> float:
        raise ValueError("no such thing")

    def on_congestion(self, event: tr.CongestionEvent) -> float:
        return event.cwnd_packets / 2


def failing(scenario: Path) -> tr.Simulation:
    return tr.Simulation(scenario, every="1 s", congestion={"tcp": Raises})


def test_a_run_that_failed_fails_again_with_the_same_cause(scenario: Path) -> None:
    for first in (list, tr.Simulation.result):
        with failing(scenario) as run:
            with pytest.raises(tr.ControlError) as raised:
                first(run)
            assert str(raised.value.__cause__) == "no such thing"
            for use in (run.step, run.result):
                with pytest.raises(tr.ControlError, match="on_ack raised") as again:
                    use()
                assert again.value.__cause__ is raised.value.__cause__


def test_what_is_seen_can_be_printed_and_compared(scenario: Path) -> None:
    def seen(seed: int) -> tr.Seen:
        with tr.Simulation(scenario, every="2 s", seed=seed) as run:
            step = run.step()
        assert step is not None
        return step

    one, same, other = seen(1), seen(1), seen(2)
    assert one == same != other
    flow, link = one.flows["tcp.0"], one.links["edge"]
    assert flow == same.flows["tcp.0"] != other.flows["tcp.0"]
    assert link == same.links["edge"] != one.links["bottleneck"]
    assert f"SeenFlow(cwnd_packets={flow.cwnd_packets!r}, srtt_s={flow.srtt_s!r}, " in repr(flow)
    assert repr(link).endswith(
        f", queue_delay_s_mean={link.queue_delay_s_mean!r}, rate_bps=100000000)"
    )
    assert repr(one).startswith("Seen(time_s=2.0, links={'bottleneck': SeenLink(queue_packets=")


ARRIVING = """
[flows.web]
path = ["bottleneck"]
congestion = "stepped"
rtt = "40 ms"
source = { kind = "finite_flows", arrivals_per_second = 5, size = "60 kB" }
"""


@pytest.fixture
def arriving(scenario: Path) -> Path:
    scenario.write_text(SCENARIO + ARRIVING, encoding="utf-8")
    return scenario


def test_arriving_flows_are_seen_and_a_run_without_actions_is_the_run(arriving: Path) -> None:
    whole = tr.run(arriving, seed=3)
    seen: dict[str, list[int]] = {}
    with tr.Simulation(arriving, every="20 ms", seed=3) as run:
        for number, step in enumerate(run):
            for name in {*step.flows} - {"tcp.0", "tcp.1", "learner"}:
                seen.setdefault(name, []).append(number)
        assert replace(run.result(), actions=None) == whole
    # 100 arrivals on average in 20 s, with a standard deviation of 10.
    assert 50 < len(seen) < 150
    assert {*seen} == {f"web.{number}" for number in range(len(seen))}
    assert all(steps == [*range(steps[0], steps[-1] + 1)] for steps in seen.values())


def test_arriving_flows_are_acted_on_by_name_and_the_log_repeats_it(arriving: Path) -> None:
    sent: dict[str, float] = {}
    with tr.Simulation(arriving, every="20 ms", seed=3) as run:
        for step in run:
            for name, flow in step.flows.items():
                if name.startswith("web.") and not run.is_over:
                    if name in sent:
                        sent[name] = max(sent[name], flow.send_rate_bps)
                    else:
                        run.act(flow=name, pacing_rate="1 Mbit/s", window=1000)
                        sent[name] = 0.0
        result = run.result()
    # A packet of 1,500 bytes at most in addition to 1 Mbit/s in 20 ms, and only in some flows.
    assert max(sent.values()) <= 1e6 + 8 * 1500 / 0.02
    assert result != replace(tr.run(arriving, seed=3), actions=result.actions)
    assert result.actions is not None
    assert len(result.actions.actions) == len(sent) > 50
    assert tr.Simulation.replay(arriving, result.actions, seed=3) == result


@pytest.mark.parametrize(
    "name", ["web.0", "web.99999", "web.x", "web." + "9" * 30, "tcp.2", "wob.0"]
)
def test_a_flow_that_was_not_seen_cannot_be_acted_on(arriving: Path, name: str) -> None:
    with tr.Simulation(arriving, every="20 ms", seed=3) as run:
        with pytest.raises(tr.ArgumentError, match=name):
            run.act(flow=name, window=3)
        assert run.actions.actions == ()
