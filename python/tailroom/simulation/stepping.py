"""A run in steps: look at links and flows, and change them before the next step."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from decimal import Decimal
from types import TracebackType
from typing import TYPE_CHECKING, TypeAlias

from tailroom._engine import Seen, Steps
from tailroom.arguments import SEED, SERIES_SAMPLES
from tailroom.errors import ArgumentError, ControlError, ScenarioError
from tailroom.quoting import argument_text, integer_text
from tailroom.scenario.custom_controls import Congestion
from tailroom.scenario.custom_disciplines import Disciplines
from tailroom.scenario.custom_sources import Sources
from tailroom.scenario.named_values import nearest
from tailroom.scenario.one_control_each import OneEach
from tailroom.scenario.scenario import Scenario, ScenarioLike
from tailroom.scenario.toml_values import plain
from tailroom.scenario.trust import allowing
from tailroom.simulation.action_log import Action, ActionLog
from tailroom.simulation.engine_run import SAMPLES_BY_DEFAULT, result_of
from tailroom.simulation.run_warnings import warn

if TYPE_CHECKING:
    from datetime import timedelta

    from tailroom.simulation.result import Result

Value: TypeAlias = str | float | bool
"""A new value of a key, with its unit."""
HELD = ("window", "pacing_rate")
"""What can be set for a flow under the stepped control."""


class Simulation:
    """A run in steps of equal length.

        with tr.Simulation("scenario.toml", every="10 ms", acts_on=["bottleneck"]) as run:
            for seen in run:
                if seen.links["bottleneck"].queue_packets > 50:
                    run.act(link="bottleneck", rate="20 Mbit/s")
            result = run.result()

    Looking changes nothing: without actions the result is that of `tailroom.run`. The actions
    are part of the result, and `replay` repeats the run.
    """

    def __init__(  # noqa: PLR0913 - each is one option of a run
        self,
        scenario: ScenarioLike,
        *,
        every: str | float | timedelta,
        seed: int | None = None,
        acts_on: Sequence[str] = (),
        set: Mapping[str, object] | None = None,  # noqa: A002
        series_samples: int | None = SAMPLES_BY_DEFAULT,
        congestion: Congestion | None = None,
        disciplines: Disciplines | None = None,
        sources: Sources | None = None,
        allow_code: bool = False,
        allow_files: bool = False,
    ) -> None:
        """Opens a run, before its first step. The other arguments are those of `tailroom.run`.

        Args:
            scenario: The scenario.
            every: Length of a step, above zero: text with a unit, or a number of seconds. The
                last step ends with the run.
            seed: Seed of the random streams; the seed of the scenario if left out.
            acts_on: Names of links whose rate actions change. Packets wait there until they are
                served, as they do behind a scheduler such as CoDel, whose links need not be
                named; nor need those where only parameters of the discipline change. A run
                without actions then has the same statistics, but a sample of the series at the
                very instant of a departure is taken before it.
            set: Values that replace those of the scenario, by dotted key.
            series_samples: Number of samples of the time series, if the scenario has no `[series]`;
                `None` for none.
            congestion: Congestion controls by the name of their group of flows. A flow can be
                acted on under `"stepped"`.
            disciplines: Queue disciplines of your own by the name of their link.
            sources: Sources of your own by the name of their group of flows.
            allow_code: Load the code in Python that the scenario file names.
            allow_files: Read the files that the scenario file names outside its directory.

        Raises:
            ArgumentError: An argument has the wrong type, or is out of range; there is no such
                link.
            ScenarioError: The scenario is wrong.
        """
        with allowing(code=allow_code, files=allow_files):
            self._scenario = Scenario.of(scenario, set, congestion, disciplines, sources)
        SEED.check("seed", seed)
        SERIES_SAMPLES.check("series_samples", series_samples)
        self._seed = seed
        self._every = _with_unit(plain("every", every), "s")
        self._acts_on = (acts_on,) if isinstance(acts_on, str) else tuple(acts_on)
        self._controls = OneEach(self._scenario.controls.find)
        self._failure: ControlError | None = None
        """Why the run ended early: raised again by each later step."""
        self._wall_s = 0.0
        self._units: dict[tuple[str, str], str] = {}
        self._steps_taken = 0
        # Tuples of plain values: the garbage collector, unlike with objects, passes over them.
        self._log: list[tuple[int, str | None, str | None, dict[str, Value]]] = []
        self._series_samples = series_samples
        read = self._scenario.handle
        with self._scenario.named_in_errors():
            self._run: Steps | None = read.steps(
                self._every, self._acts_on, seed, self._controls.find, series_samples
            )
        self._read = read
        self._links = tuple(self._run.links)
        self._flows = self._run.flows
        self._numbers: dict[str, list[int]] = {}
        """Numbers of the flows by their name, and by that of their group."""
        for number, names in enumerate(self._flows):
            for name in dict.fromkeys(names):
                self._numbers.setdefault(name, []).append(number)
        for link in self._acts_on:
            _find("acts_on", "link", link, self._links)

    def __enter__(self) -> Simulation:
        """The run itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Frees the memory of the run."""
        self.close()

    def __iter__(self) -> Iterator[Seen]:
        """What is seen at the end of each step."""
        return iter(self.step, None)

    @property
    def links(self) -> tuple[str, ...]:
        """Names of the links, in the order of the scenario."""
        return self._links

    @property
    def flows(self) -> tuple[str, ...]:
        """Names of the permanent flows, in the order of the scenario."""
        return tuple(name for name, _ in self._flows)

    @property
    def time_s(self) -> float:
        """The end of the last step."""
        return self._open.time_s

    @property
    def is_over(self) -> bool:
        """Whether the last step has ended."""
        return self._open.is_over

    @property
    def actions(self) -> ActionLog:
        """What has been changed so far."""
        return ActionLog(self._every, self._acts_on, tuple(Action(*entry) for entry in self._log))

    def step(self) -> Seen | None:
        """Runs up to the end of the next step; `None` after the last.

        Raises:
            ArgumentError: The simulation is closed.
            ControlError: Code of your own (a control, a discipline, a source) raised an exception.
            RunError: The run failed, for example for lack of memory.
        """
        run = self._run or self._open
        if self._failure is not None:
            raise self._failure
        started = time.perf_counter()
        # Not `named_in_errors`: it would take longer than a step of a few packets.
        try:
            seen = run.step()
        except ControlError as error:
            self._failure = error
            raise
        except ScenarioError as error:
            raise self._scenario.named_in(error) from None
        self._wall_s += time.perf_counter() - started
        if seen is not None:
            self._steps_taken += 1
        return seen

    def act(self, *, link: str | None = None, flow: str | None = None, **values: object) -> None:
        """Changes a link, or a flow under the stepped control, before the next step.

        The packet in transmission leaves as if nothing had changed. A smaller `limit` drops no
        packet that waits. Numbers without a unit are in seconds, bit/s, bytes or, for a limit,
        packets.

        Args:
            link: Name of a link that is acted on.
            flow: Name of a flow that was seen, or of a group: each of its permanent flows.
            **values: Of a link, `rate`, and the keys of its queue discipline, such as `limit` or
                `target`; of a flow, `window` in packets and `pacing_rate`.

        Raises:
            ArgumentError: There is no such link, flow or key; it cannot be acted on; a value is out
                of range; the run is over.
            ScenarioError: A value has the wrong type or unit.
        """
        if (link is None) == (flow is None):
            raise ArgumentError('act: name one place: link="bottleneck" or flow="tcp"')
        if not values:
            raise ArgumentError("act: no value is given; give for example rate=20e6 or window=50")
        if link is not None:
            self._act_on_link(link, values)
        elif flow is not None:
            self._act_on_flow(flow, values)

    def _act_on_link(self, link: str, values: Mapping[str, object]) -> None:
        run = self._open
        number = _find("act", "link", link, self._links)
        said: dict[str, Value] = {}
        for key, value in values.items():
            if key == "rate":
                said[key] = _with_unit(plain(f"links.{link}.rate", value), "bit/s")
            else:
                said[key] = self._of_queue(link, key, value)
        queue = {key: value for key, value in said.items() if key != "rate"}
        # Logged one by one: the rate may be refused when the queue has changed.
        if queue:
            run.set_queue(number, json.dumps(queue))
            self._log.append((self._steps_taken, link, None, queue))
        if "rate" in said:
            run.set_rate(number, str(said["rate"]))
            self._log.append((self._steps_taken, link, None, {"rate": said["rate"]}))

    def _of_queue(self, link: str, key: str, value: object) -> Value:
        """Returns a value of a key of a discipline, with its unit."""
        place = f"links.{link}.queue.{key}"
        said = plain(place, value)
        if isinstance(said, str | bool) or not isinstance(said, int | float):
            return said
        if (link, key) not in self._units:
            resolved = self._scenario.resolved["links"][link]["queue"]
            with_value = self._scenario.replacing({f"links.{link}.queue": {**resolved, key: said}})
            self._units[link, key] = with_value.handle.bare_numbers.get(place, "")
        unit = self._units[link, key]
        return _with_unit(said, unit) if unit else said

    def _act_on_flow(self, name: str, values: Mapping[str, object]) -> None:
        run = self._open
        flows = self._numbers.get(name)
        arrived = self._arrived(name) if flows is None else None
        if flows is None and arrived is None:
            flows = [_find("act", "flow", name, self.flows)]
        said: dict[str, Value] = {}
        window: float | None = None
        pacing_rate: str | None = None
        for key, value in values.items():
            if key == "window":
                said[key] = number = _number(name, value)
                try:
                    window = float(number)
                except OverflowError:  # an integer of hundreds of digits
                    window = math.inf if number > 0 else -math.inf
            elif key == "pacing_rate":
                rate = plain(f"flows.{name}.congestion.pacing_rate", value)
                said[key] = pacing_rate = _with_unit(rate, "bit/s")
            else:
                raise ArgumentError(
                    f"flows.{name}: {key} cannot be set for a flow; set {' or '.join(HELD)}"
                )
        if len(said) > 1:
            said = {key: said[key] for key in HELD}
        if arrived is not None:
            run.hold_arrived(*arrived, window, pacing_rate)
        for flow in flows or ():
            run.hold(flow, window, pacing_rate)
        self._log.append((self._steps_taken, None, name, said))

    def _arrived(self, name: str) -> tuple[str, int] | None:
        """Returns the group and the number of a flow that arrives, by a name such as `web.3`."""
        group, _, number = name.rpartition(".")
        is_permanent = any(group == other for _, other in self._flows)
        if is_permanent or not re.fullmatch("[0-9]{1,18}", number):
            return None
        return (group, int(number)) if group in self._scenario.resolved["flows"] else None

    def result(self) -> Result:
        """Runs to the end, with no more actions, and closes the simulation.

        Returns:
            What `tailroom.run` returns, with `actions`.

        Raises:
            ArgumentError: The simulation is closed.
            ControlError: Code of your own (a control, a discipline, a source) raised an exception.
            RunError: The run failed, for example for lack of memory.
        """
        run = self._open
        if self._failure is not None:
            raise self._failure
        started = time.perf_counter()
        with self._scenario.named_in_errors():
            try:
                answer = run.finish()
            except ControlError as error:
                self._failure = error
                raise
        self._wall_s += time.perf_counter() - started
        self._run = None
        shared = self._controls.shared
        done = result_of(
            self._scenario, self._read, answer, shared=shared, seed=self._seed, wall_s=self._wall_s
        )
        done = replace(done, actions=self.actions)
        warn(done.summary["warnings"])
        return done

    @classmethod
    def replay(cls, scenario: ScenarioLike, log: ActionLog, *, seed: int | None = None) -> Result:
        """Repeats a run: the same scenario, seed and actions give the same bytes.

        Args:
            scenario: The scenario of the run; a `Scenario` has the values that replaced others.
            log: `actions` of its result.
            seed: Seed of the run.

        Raises:
            ArgumentError: An action does not fit the scenario.
            ScenarioError: The scenario is wrong.
            RunError: The run failed.
        """
        with cls(scenario, every=log.every, acts_on=log.acts_on, seed=seed) as run:
            run._repeat(log.actions)
            return run.result()

    def copy(self) -> Simulation:
        """Returns a run that stands where this one does, to look ahead.

        Neither run changes the other, and both go on with the same random draws. If the run has
        code of your own (a control, a discipline, a source), whose objects only their class could
        copy, the copy repeats the run from its beginning, which takes as long as the steps so far.

        Raises:
            ArgumentError: The simulation is closed.
            ControlError: Code of your own raised an exception.
            RunError: The run failed, for example for lack of memory.
        """
        state = self._open.copy()
        if state is None:
            return self._repeated()
        copied = copy(self)
        copied._run, copied._log = state, [*self._log]
        return copied

    def _repeated(self) -> Simulation:
        repeated = Simulation(
            self._scenario,
            every=self._every,
            seed=self._seed,
            acts_on=self._acts_on,
            series_samples=self._series_samples,
        )
        repeated._repeat(self.actions.actions)
        repeated._go_to(self._steps_taken)
        return repeated

    def _repeat(self, actions: Iterable[Action]) -> None:
        for action in actions:
            self._go_to(action.step)
            self.act(link=action.link, flow=action.flow, **action.values)

    def _go_to(self, steps: int) -> None:
        while self._steps_taken < steps and self.step() is not None:
            pass

    def close(self) -> None:
        """Frees the memory of the run; nothing can be done with it afterwards."""
        self._run = None

    @property
    def _open(self) -> Steps:
        if self._run is None:
            raise ArgumentError("the simulation is closed; open another one")
        return self._run


def _find(argument: str, kind: str, name: str, names: Sequence[str]) -> int:
    if name not in names:
        remedy = nearest(str(name), names)
        raise ArgumentError(f"{argument}: there is no {kind} {name!r}; {remedy}")
    return list(names).index(name)


def _number(flow: str, value: object) -> float:
    """Returns a window as a number of packets.

    Raises:
        ArgumentError: It is none.
    """
    # One of these types, in most steps: an agent acts often.
    if type(value) in (float, int):
        return value  # type: ignore[return-value]
    place = f"flows.{flow}.congestion.window"
    said = plain(place, value)
    if isinstance(said, bool) or not isinstance(said, int | float):
        raise ArgumentError(
            f"{place}: {argument_text(value)} is not a number; give a number of packets"
        )
    return said


def _with_unit(value: object, unit: str) -> str:
    """Returns a quantity as text; a number gets the unit, and no exponent."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int):
        return f"{integer_text(value)} {unit}"
    return f"{Decimal(repr(value)):f} {unit}"
