"""An object that is the control of several flows is warned about: its calls are not in order."""

from collections.abc import Callable, Iterator
from copy import copy
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

import tailroom as tr
from tailroom.scenario.one_control_each import MOST_KEPT, OneEach
from tests.conftest import SMALL, Tailroom

SINGLE = """\
class Single:
    made = None

    def __new__(cls):
        cls.made = cls.made or super().__new__(cls)
        return cls.made

    def on_ack(self, event):
        return event.cwnd_packets + event.acked_packets / event.cwnd_packets

    def on_congestion(self, event):
        return event.cwnd_packets / 2
"""


class Window:
    """Reno's window."""

    def __init__(self) -> None:
        self.times_s: list[float] = []

    def on_ack(self, event: tr.AckEvent) -> float:
        self.times_s.append(event.now_s)
        return event.cwnd_packets + event.acked_packets / event.cwnd_packets

    def on_congestion(self, event: tr.CongestionEvent) -> float:
        return event.cwnd_packets / 2


def about_sharing(result: tr.Result) -> list[str]:
    found = result.summary["warnings"]
    return [one["text"] for one in found if one["kind"] == "shared_control"]


def far_apart() -> Any:
    """Two groups with one flow each, whose RTTs differ."""
    group = {"path": ["b"], "congestion": "reno"}
    return {
        "duration": "8 s",
        "links": {
            "b": {
                "rate": "10 Mbit/s",
                "delay": "5 ms",
                "queue": {"kind": "drop_tail", "limit": "20 packets"},
            }
        },
        "flows": {"near": {**group, "rtt": "40 ms"}, "far": {**group, "rtt": "200 ms"}},
    }


def test_an_object_of_two_groups_sees_calls_out_of_order_and_a_run_warns() -> None:
    shared = Window()
    result = tr.run(far_apart(), congestion={"near": lambda: shared, "far": lambda: shared})
    assert shared.times_s != sorted(shared.times_s), "what the warning is about"
    (warning,) = about_sharing(result)
    assert "return a new object for each flow" in warning


def test_an_object_of_the_flows_of_a_group_is_warned_about(small: Path) -> None:
    shared: Iterator[Window] = cycle([Window(), Window()])
    small.write_text(SMALL.replace("count = 2", "count = 3"), encoding="utf-8")
    (warning,) = about_sharing(tr.run(small, congestion=lambda: next(shared)))
    assert "test_shared_control:" in warning


@pytest.mark.parametrize("control", [Window, lambda: copy(Window())])
def test_an_object_for_each_flow_is_not(small: Path, control: Callable[[], Window]) -> None:
    assert about_sharing(tr.run(small, congestion=control)) == []


def test_commands_print_the_warning(tailroom: Tailroom, small: Path, tmp_path: Path) -> None:
    (tmp_path / "single.py").write_text(SINGLE, encoding="utf-8")
    setting = ("--set", "flows.reno.congestion=single:Single")
    for arguments in (("run", small), ("sweep", small, "--store", tmp_path / "s", "--seeds", 1)):
        ended = tailroom(*arguments, *setting)
        assert ended.status == 0, ended.errors
        assert "single:Single: one object is the control of several flows" in " ".join(
            (ended.output + ended.errors).split()
        )


def test_memory_goes_with_the_flows() -> None:
    each = OneEach(lambda _name, _parameters: Window)  # type: ignore[arg-type, return-value]
    make = each.find("own:Window", "")
    assert make is not None
    for _ in range(2 * MOST_KEPT):
        make()
    assert each.shared == []
    assert len(each._made) == MOST_KEPT
