"""Faults of queue disciplines in Python: each ends with its place, its cause and a status."""

from pathlib import Path
from typing import Any, cast

import pytest

import tailroom as tr
from tests.conftest import Make, Tailroom
from tests.test_user_discipline import Codel, DropHead, TailDrop

MODULE = """\
class Accepts:
    def on_arrival(self, packet, queue):
        return "accept"


class Raises(Accepts):
    def on_arrival(self, packet, queue):
        return packet.no_such_thing


class RaisesAtDeparture(Accepts):
    def on_departure(self, packet, queue):
        raise ValueError("not now")


class RaisesAtStart(Accepts):
    def begin(self, link):
        raise KeyError("nothing")


class RaisesOnTimer(Accepts):
    timer_interval_s = 0.5

    def on_timer(self, queue):
        raise ValueError("not so soon")


class RaisesInGauges(Accepts):
    def gauges(self):
        raise ValueError("no numbers")


class Nothing(Accepts):
    def on_arrival(self, packet, queue):
        pass


class Number(Accepts):
    def on_departure(self, packet, queue):
        return 1


class Marks(Accepts):
    def on_arrival(self, packet, queue):
        return "mark"


class AnswersTimer(RaisesOnTimer):
    def on_timer(self, queue):
        return 3.0


class TextGauges(Accepts):
    def gauges(self):
        return {"load": "high"}


class OtherGauges(Accepts):
    number = 0

    def gauges(self):
        self.number += 1
        return {f"load_{self.number}": 1.0}


class NoNumber(Accepts):
    def gauges(self):
        return {"good": 1.0, "load": float("nan")}


class Endless(Accepts):
    def gauges(self):
        return {"load": float("-inf")}


class NoInterval(Accepts):
    def on_timer(self, queue):
        pass


class Hurries(NoInterval):
    timer_interval_s = 1e-9


class NoArrival:
    def on_departure(self, packet, queue):
        return "accept"


class Schedules:
    def on_arrival(self, packet, queue):
        return packet.flow

    def next_packet(self, queue):
        return min(queue.lists)


class RaisesWithNext(Schedules):
    def next_packet(self, queue):
        raise ValueError("nobody knows")


class RaisesWithRoom(Schedules):
    def make_room(self, packet, queue):
        raise ValueError("no room")


class Loses(Schedules):
    def on_arrival(self, packet, queue):
        return None


class LosesBelow(Schedules):
    def on_arrival(self, packet, queue):
        return -1


class MarksList(Schedules):
    def on_arrival(self, packet, queue):
        return (0, "mark")


class Sleeps(Schedules):
    def next_packet(self, queue):
        return None


class SleepsElsewhere(Schedules):
    def next_packet(self, queue):
        return 77


class RoomElsewhere(Schedules):
    def make_room(self, packet, queue):
        return 77


class RoomSaid(Schedules):
    def make_room(self, packet, queue):
        return "drop"


class Parameter(Accepts):
    def __init__(self, gain):
        pass


number = 7
"""

RAISED = {
    "Raises": ("on_arrival", "no_such_thing"),
    "RaisesAtDeparture": ("on_departure", "not now"),
    "RaisesAtStart": ("making the discipline", "nothing"),
    "RaisesOnTimer": ("on_timer", "not so soon"),
    "RaisesInGauges": ("gauges", "no numbers"),
    "RaisesWithNext": ("next_packet", "nobody knows"),
    "RaisesWithRoom": ("make_room", "no room"),
}
"""Classes whose code raises: the place and the reason."""

REFUSED = {
    "Nothing": ("on_arrival", "accept"),
    "Number": ("on_departure", "accept"),
    "Marks": ("on_arrival", "ECN"),
    "AnswersTimer": ("on_timer", "nothing"),
    "TextGauges": ("gauges", "numbers"),
    "OtherGauges": ("gauges", "never change"),
    "NoNumber": ("gauges", "NaN for load", "finite"),
    "Endless": ("gauges", "-inf for load", "finite"),
    "NoInterval": ("on_timer", "timer_interval_s"),
    "Hurries": ("on_timer", "1e-06"),
    "NoArrival": ("on_arrival", "accept"),
    "Loses": ("on_arrival", "None", "would be lost", "number of a list"),
    "LosesBelow": ("on_arrival", "-1", "would be lost"),
    "MarksList": ("on_arrival", "ECN"),
    "Sleeps": ("next_packet", "None", "while packets wait", "number of a list"),
    "SleepsElsewhere": ("next_packet", "77", "while packets wait in ", "number of a list"),
    "RoomElsewhere": ("make_room", "77", "number of a list"),
    "RoomSaid": ("make_room", "drop", "number of a list"),
    "Parameter": ("gain", "parameters"),
    "Nobody": ("Nobody", "name"),
    "number": ("number", "class"),
}
"""Names that cannot be used: what the message names, and what its remedy does."""


def custom(discipline: str) -> dict[str, object]:
    """A small buffer, so that schedulers have to make room."""
    return {"kind": "custom", "discipline": discipline, "limit": "10 packets"}


@pytest.mark.parametrize("name", RAISED)
def test_an_exception_ends_the_run_with_its_place_and_its_cause(
    small: Path, module: Make, name: str
) -> None:
    discipline = f"{module(MODULE)}:{name}"
    with pytest.raises(tr.ControlError) as caught:
        tr.run(
            small,
            set={"links.bottleneck.queue": custom(discipline)},
            series_samples=20,
        )
    method, reason = RAISED[name]
    message = str(caught.value)
    assert message.startswith(f"links.bottleneck.queue: {discipline}, at ")
    assert f"{method} raised " in message
    assert reason in str(caught.value.__cause__)


BEFORE_THE_RUN = ("NoArrival", "Parameter", "Nobody", "number")
"""Those that a look at the class and its parameters shows; the others fail in the run."""


@pytest.mark.parametrize("name", [*RAISED, *REFUSED])
def test_a_fault_of_own_code_in_the_run_ends_the_command_with_status_3(
    small: Path, module: Make, tailroom: Tailroom, name: str
) -> None:
    """Place, problem and remedy are in one line; a fault before the run is one of the input."""
    discipline = f"{module(MODULE)}:{name}"
    queue = f'{{ kind = "custom", discipline = "{discipline}", limit = "10 packets" }}'
    setting = f"links.bottleneck.queue={queue}"
    ended = tailroom("run", small, "--set", setting, "--set", 'series={ interval = "100 ms" }')
    assert (ended.status, ended.output) == (2 if name in BEFORE_THE_RUN else 3, "")
    message = ended.errors.splitlines()[-1]
    assert "links.bottleneck.queue: " in message
    for part in RAISED.get(name) or REFUSED[name]:
        assert part in ended.errors
    assert ("Traceback" in ended.errors) == (name in RAISED)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_discipline_is_refused(small: Path, module: Make, name: str) -> None:
    discipline = f"{module(MODULE)}:{name}"
    is_of_input = name in BEFORE_THE_RUN
    with pytest.raises(tr.ScenarioError if is_of_input else tr.ControlError) as caught:
        tr.run(
            small,
            set={"links.bottleneck.queue": custom(discipline)},
            series_samples=20,
        )
    assert "links.bottleneck.queue: " in str(caught.value)
    for part in REFUSED[name]:
        assert part in str(caught.value)


def test_the_command_line_names_the_place_and_ends_with_status_3(
    small: Path, module: Make, tailroom: Tailroom
) -> None:
    name = module(MODULE)
    queue = f"links.bottleneck.queue={name}:Raises"
    run = tailroom("run", str(small), "--set", queue)
    assert run.status == 3
    assert f"{name}.py" in run.errors
    assert "no_such_thing" in run.errors
    assert f"error: links.bottleneck.queue: {name}:Raises, at " in run.errors


def test_code_that_a_file_names_needs_permission(small: Path, module: Make) -> None:
    name = module(MODULE)
    text = small.read_text(encoding="utf-8")
    queue = '{ kind = "drop_tail", limit = "20 packets" }'
    small.write_text(text.replace(queue, f'"{name}:Accepts"'), encoding="utf-8")
    with pytest.raises(tr.ScenarioError, match="allow_code"):
        tr.run(small)
    result = tr.run(small, allow_code=True)
    assert result.links["bottleneck"]["limit_packets"] == 1000


def test_a_link_that_is_not_there_and_what_is_not_callable_are_refused(small: Path) -> None:
    with pytest.raises(tr.ScenarioError, match="did you mean `bottleneck`"):
        tr.run(small, disciplines={"botleneck": TailDrop})
    with pytest.raises(tr.ScenarioError, match=r"links\.bottleneck\.queue"):
        tr.run(small, disciplines={"bottleneck": cast("Any", "codel")})
    with pytest.raises(tr.ArgumentError):
        tr.run(small, disciplines=cast("Any", TailDrop))


def test_a_function_that_hides_departures_is_refused(small: Path) -> None:
    def make() -> Codel:
        return Codel(target_ms=15)

    with pytest.raises(tr.ControlError, match="acts_on_departures = True"):
        tr.run(small, disciplines={"bottleneck": make})


def test_a_function_that_hides_a_scheduler_is_refused(small: Path) -> None:
    def make() -> DropHead:
        return DropHead()

    with pytest.raises(tr.ControlError, match="is_scheduler = True"):
        tr.run(small, disciplines={"bottleneck": make})
