"""The user's own controls, disciplines and sources, given as objects or as "module:Class"."""

import copy
import dataclasses
import functools
import hashlib
import importlib
import inspect
import pickle
import sys
import sysconfig
import tomllib
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Protocol, TypeAlias, cast

from tailroom._engine import AckEvent, BeginEvent, CongestionEvent, ControlOutput, RateSampleEvent
from tailroom.errors import ControlError, ScenarioError
from tailroom.quoting import quoted
from tailroom.scenario import own_parameters
from tailroom.scenario.custom_disciplines import RuleFactory, RuleMaker, missing_method
from tailroom.scenario.custom_sources import (
    SourceFactory,
    SourceMaker,
    Sources,
    missing_source_method,
)
from tailroom.scenario.named_values import near
from tailroom.scenario.trust import EVERYTHING, Trust


class CongestionControl(Protocol):
    """The window law of a flow in congestion avoidance: a class of your own with these methods.

    The sender performs slow start, loss recovery and timeouts, and keeps the window at 1 packet or
    more. Two methods are optional and return nothing: `on_rto(self, event: CongestionEvent)` is
    called at a retransmission timeout, before `on_congestion`; `on_round(self, event: RoundEvent)`
    is called at the end of each round trip, before `on_ack`. A window outside
    [0, 100,000,000] packets ends the run with a `ScenarioError`.
    """

    def on_ack(self, event: AckEvent, /) -> float:
        """Returns the window after an ACK in congestion avoidance, in packets.

        Args:
            event: The ACK, with the window before it.
        """

    def on_congestion(self, event: CongestionEvent, /) -> float:
        """Returns the window after the reduction, in packets; it becomes ssthresh.

        Args:
            event: The congestion, with its kind and the window before it.
        """


class RateBasedControl(Protocol):
    """A control that models the path: a class of your own that sets window and pacing rate per ACK.

    The sender performs loss recovery and timeouts; after a timeout the window is 1 packet until the
    next ACK. Three methods are optional. `on_lost(self, event: LostPacketEvent)` is called for each
    packet that is newly declared lost, before the ACK that reports the loss, and returns nothing.
    `on_congestion(self, event: CongestionEvent)` is called at the beginning of a recovery, at a
    timeout and at an ECN mark, and returns nothing. `on_restart(self, event: RestartEvent)` is
    called before the first packet after an idle time, and returns a `ControlOutput`.
    """

    def begin(self, event: BeginEvent, /) -> ControlOutput:
        """Returns window and pacing rate until the first ACK.

        Args:
            event: The beginning of the flow, with the initial window.
        """

    def on_rate_sample(self, event: RateSampleEvent, /) -> ControlOutput:
        """Returns window and pacing rate after an ACK, in any state of the sender.

        Args:
            event: The ACK, with the delivery rate that it shows.
        """


ControlFactory: TypeAlias = Callable[..., CongestionControl | RateBasedControl]
"""A class or another callable that returns a control; it is called once per flow.

A function that returns rate-based controls has the attribute `is_rate_based = True`, so that the
memory for their records of packets in flight is counted before the run.
"""

Factory: TypeAlias = ControlFactory | RuleFactory | SourceFactory
"""A callable that makes a control or a queue discipline."""

Control: TypeAlias = str | Mapping[str, object] | ControlFactory
"""A congestion control: a name as in a scenario (`"cubic"`, or `"module:Class"` of your own), a
table with a kind and its parameters, or a class or another callable that returns a control."""

Congestion: TypeAlias = Control | Mapping[str, Control]
"""The congestion control of each group of flows by the name of the group; or one control, if only
one group has a congestion control."""

WINDOW_METHODS = {
    "on_ack": "the window after an ACK in packets",
    "on_congestion": "the window to fall to in packets",
}
"""Required methods of a control that sets a window, with their results."""
RATE_METHODS = {
    "begin": "a tailroom.ControlOutput",
    "on_rate_sample": "a tailroom.ControlOutput",
}
"""Required methods of a rate-based control, with their results; the second identifies it."""

EXAMPLE = '"mymodule:MyControl"'

_NAMELESS = uuid.uuid4().hex
"""Hash of code without a file."""


@dataclass(frozen=True)
class OwnControls:
    """The user's own controls, queue disciplines and sources of a scenario."""

    directory: Path = Path()
    """Directory of the scenario file, searched for modules too."""
    given: dict[str, Factory] = field(default_factory=dict)
    """Objects of the caller, by their names in the scenario."""
    codes: dict[str, str | None] = field(default_factory=dict)
    """SHA-256 of the code of objects without a file, by the same names."""
    trust: Trust = EVERYTHING
    """Which code may be loaded by its name."""

    def give(self, control: Control) -> object:
        """Registers a control that is a callable; returns the value of the key in the scenario."""
        if isinstance(control, (str, Mapping)):
            return control
        name, parameters = self._register(control)
        return {"kind": "custom", "control": name, "parameters": parameters}

    def give_discipline(self, rule: RuleFactory, limit: object = None) -> dict[str, object]:
        """Registers a queue discipline; returns the value of the key in the scenario.

        Args:
            rule: The class, or another callable.
            limit: The size of the buffer; the default of `custom` if left out.
        """
        name, parameters = self._register(rule)
        table: dict[str, object] = {
            "kind": "custom",
            "discipline": name,
            "parameters": parameters,
        }
        return table if limit is None else {**table, "limit": limit}

    def give_source(self, source: Mapping[str, Any]) -> dict[str, Any]:
        """Registers the class in the table of a source; returns the table for the scenario.

        Args:
            source: The table, whose key `source` is a class or a `functools.partial`.
        """
        name, parameters = self._register(source["source"])
        given = {"parameters": parameters} if parameters else {}
        return {**source, "source": name, **given}

    def give_sources(self, sources: Sources) -> dict[str, object]:
        """Registers the classes of groups of flows; returns the keys of the scenario with values.

        Args:
            sources: The classes, or other callables, by group.
        """
        values: dict[str, object] = {}
        for group, source in sources.items():
            given = self.give_source({"source": source})
            values.update({f"flows.{group}.source.{key}": value for key, value in given.items()})
        return values

    def _register(self, code: Factory) -> tuple[str, dict[str, Any]]:
        """Registers a callable; returns its name and the parameters that a scenario can hold."""
        parameters: dict[str, Any] = {}
        if isinstance(code, functools.partial) and _is_plain(code.keywords):
            parameters = code.keywords
            code = functools.partial(code.func, *code.args) if code.args else code.func
        name = self._free_name(code)
        self.given[name] = code
        return name, parameters

    def find(self, name: str, parameters: str) -> "_Maker | None":
        """Returns the maker of a flow's control; `None` if the name is not that of a Python object.

        Args:
            name: As in "module:Class".
            parameters: Keyword arguments, as TOML.

        Raises:
            ScenarioError: The control cannot be used; two arguments, the problem and the remedy.
            ControlError: Its module raised an exception.
        """
        found = self._factory(name, parameters, _missing_method)
        return found and _Maker(*found)

    def find_discipline(self, name: str, parameters: str) -> RuleMaker | None:
        """Returns the maker of a link's discipline, as `find` does that of a flow's control.

        Args:
            name: As in "module:Class".
            parameters: Keyword arguments, as TOML.

        Raises:
            ScenarioError: The discipline cannot be used; two arguments, the problem and the remedy.
            ControlError: Its module raised an exception.
        """
        found = self._factory(name, parameters, missing_method)
        return found and RuleMaker(*found)

    def find_source(self, name: str, parameters: str) -> SourceMaker | None:
        """Returns the maker of a source, as `find` does that of a flow's control.

        Args:
            name: As in "module:Class".
            parameters: Keyword arguments, as TOML.

        Raises:
            ScenarioError: The source cannot be used; two arguments, the problem and the remedy.
            ControlError: Its module raised an exception.
        """
        found = self._factory(name, parameters, missing_source_method)
        return found and SourceMaker(*found)

    def _factory(
        self, name: str, parameters: str, missing: Callable[[object], str | None]
    ) -> tuple[Any, dict[str, Any]] | None:
        """Returns a factory and its keyword arguments; `None` if the name is not Python's."""
        factory = self.given.get(name)
        if factory is None:
            if ":" not in name:
                return None
            self.trust.check_control(name)
            factory = self.load(name)
        keywords = tomllib.loads(parameters)
        _check_factory(name, factory, keywords, missing)
        return factory, own_parameters.read(name, factory, keywords)

    def fingerprint(self, controls: Iterable[str]) -> str:
        """Returns a fingerprint of the code and the objects of these controls.

        Raises:
            ScenarioError: A control cannot be sent to another process, or its code has changed.
        """
        parts = []
        for name in controls:
            parts.append(digest_of_code(name))
            try:
                parts.append(pickle.dumps(self.given.get(name)).hex())
            except (pickle.PicklingError, AttributeError, TypeError) as error:
                raise ScenarioError(
                    f"{name}: cannot be sent to another process ({error}); define it at the top "
                    f"level of a module, and name it as in {EXAMPLE} or give the class"
                ) from None
        return "".join(parts)

    def code_hash(self, name: str) -> str | None:
        """Returns the SHA-256 of the file with a control's code; `None` without a file."""
        if name in self.codes:
            return self.codes[name]
        file = source_file(name)
        return hashlib.sha256(file.read_bytes()).hexdigest() if file else None

    def gathered(self, names: Iterable[str]) -> "OwnControls":
        """Returns the same controls as objects, for machines without their files."""
        given = {name: self.given.get(name) or self.load(name) for name in names}
        codes = {name: self.code_hash(name) for name in given}
        return dataclasses.replace(
            self, directory=self.directory.absolute(), given=given, codes=codes
        )

    def _free_name(self, control: Factory) -> str:
        """Returns module and name of an object, numbered if another object has this name."""
        inner = control.func if isinstance(control, functools.partial) else control
        place = getattr(inner, "__module__", type(inner).__module__)
        name = getattr(inner, "__qualname__", type(inner).__qualname__)
        full = free = f"{place}:{name}"
        number = 1
        while self.given.get(free, control) is not control:
            number += 1
            free = f"{full}-{number}"
        return free

    def load(self, name: str) -> Factory:
        """Returns the class that is named as in "module:Class".

        Args:
            name: The name.

        Raises:
            ScenarioError: There is no such class; two arguments, the problem and the remedy.
            ControlError: Its module raised an exception.
        """
        module_name, _, path = name.partition(":")
        steps = [*module_name.split("."), *path.split(".")]
        if not all(step.isidentifier() for step in steps):
            raise ScenarioError(
                f'"{quoted(name)}" does not name a class of a module',
                f"write it as in {EXAMPLE}, or hand the class itself to tailroom.run",
            )
        value: Any = self._import(name, module_name)
        where = f"{quoted(module_name)} ({getattr(value, '__file__', 'built in')})"
        for step in path.split("."):
            if not hasattr(value, step):
                meant = near(step, dir(value))
                remedy = f"did you mean `{meant[0]}`?" if meant else "check the class's name"
                problem = f'"{quoted(name)}" is not there: {where} has no {quoted(step)}'
                raise ScenarioError(problem, remedy)
            value = getattr(value, step)
        # A function is not called, since a scenario might name any function with any arguments.
        if not inspect.isclass(value):
            raise ScenarioError(
                f'"{quoted(name)}" is not a class but a value of type {type(value).__name__}',
                "name a class; a function that makes controls is given to tailroom.run itself",
            )
        return cast(Factory, value)

    def _import(self, name: str, module_name: str) -> object:
        """Imports a module, also from the directories of the scenario and of the process.

        Raises:
            ScenarioError: There is no such module, or another one hides it; two arguments, the
                problem and the remedy.
            ControlError: The module raised an exception.
            KeyboardInterrupt: Ctrl-C interrupted the import.
        """
        places = [self.directory.absolute(), Path.cwd()]
        # The directories stay in sys.path: a module may import its neighbours during the run.
        sys.path.extend(dict.fromkeys(str(at) for at in places if str(at) not in sys.path))
        importlib.invalidate_caches()
        try:
            module = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            if not f"{module_name}.".startswith(f"{error.name}."):
                raise ControlError(_import_problem(name, module_name, error)) from error
            raise ScenarioError(
                f'"{quoted(name)}" is not there: no module {quoted(error.name)} is installed, next '
                f"to the scenario ({places[0]}) or in the current directory ({places[1]})",
                "check the module's name, or run where its file is",
            ) from None
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a module may call sys.exit
            raise ControlError(_import_problem(name, module_name, error)) from error
        _check_origin(name, module_name.partition(".")[0], places)
        return module


def without_own_frames(trace: TracebackType | None) -> TracebackType | None:
    """Returns the part of a traceback that begins in the user's code."""
    here = (
        str(Path(__file__).parents[1]),
        "<frozen importlib",
        str(Path(importlib.__file__).parent),
    )
    while trace and trace.tb_frame.f_code.co_filename.startswith(here):
        trace = trace.tb_next
    return trace


def _import_problem(name: str, module_name: str, error: BaseException) -> str:
    what = f"importing {quoted(module_name)} raised {type(error).__name__}"
    return f"{quoted(name)}: {what}: {error}"


def _check_origin(name: str, top: str, places: list[Path]) -> None:
    """Refuses a module that hides the module of the same name next to the scenario.

    Raises:
        ScenarioError: The loaded module is not the one next to the scenario.
    """
    loaded = getattr(sys.modules[top], "__file__", None)
    candidates = (at / file for at in places for file in (f"{top}.py", f"{top}/__init__.py"))
    meant = next((file for file in candidates if file.is_file()), None)
    if meant is None or (loaded and _is_same(Path(loaded), meant)):
        return
    raise ScenarioError(
        f'"{quoted(name)}" is ambiguous: {quoted(top)} is loaded from {loaded or "Python itself"}, '
        f"and {meant} has the same name",
        "rename one of the files",
    )


def _is_same(file: Path, other: Path) -> bool:
    return file.samefile(other) or file.read_bytes() == other.read_bytes()


def _is_plain(value: object) -> bool:
    """Whether a scenario can hold the value."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return all(_is_plain(item) for item in value)
    return isinstance(value, (bool, int, float, str))


def _check_factory(
    name: str,
    factory: Factory,
    keywords: dict[str, Any],
    missing_in: Callable[[object], str | None],
) -> None:
    """Refuses a class that lacks methods, and parameters that the class does not take.

    Raises:
        ScenarioError: A method is missing, or the parameters do not suit the class.
    """
    if inspect.isclass(factory):
        missing = missing_in(factory)
        if missing:
            raise ScenarioError(f"{quoted(name)} {missing}", "add it")
    try:
        inspect.signature(factory).bind(**keywords)
    except TypeError as error:
        raise ScenarioError(
            f"{quoted(name)} does not take these parameters: {error}", "correct `parameters`"
        ) from None
    except ValueError:  # a class of a compiled module may hide its signature
        return


def is_control(value: object) -> bool:
    """Whether an object has the methods of a control."""
    return _missing_method(value) is None


def _missing_method(control: object) -> str | None:
    """Returns which method a control lacks; `None` if it has all."""
    is_rate_based = callable(getattr(control, "on_rate_sample", None))
    if is_rate_based and callable(getattr(control, "on_ack", None)):
        return (
            "has both on_ack, which sets a window, and on_rate_sample, which makes it rate-based; "
            "keep one of them"
        )
    for method, returned in (RATE_METHODS if is_rate_based else WINDOW_METHODS).items():
        if not callable(getattr(control, method, None)):
            return f"has no method {method}(self, event), which returns {returned}"
    return None


@dataclass(frozen=True)
class _Maker:
    """Makes a control per flow; knows its kind in advance."""

    factory: ControlFactory
    keywords: Mapping[str, Any]

    def __call__(self) -> CongestionControl | RateBasedControl:
        """Makes the control of a flow.

        Raises:
            ScenarioError: The factory returned an object that is not a control.
        """
        control = self.factory(**copy.deepcopy(dict(self.keywords)))
        missing = _missing_method(control)
        if missing:
            kind = type(control).__name__
            raise ScenarioError(f"made an object of type {kind}, which {missing}")
        return control

    @property
    def is_rate_based(self) -> bool:
        """Whether the controls are rate-based, as far as class or attribute show."""
        factory = self.factory
        inner = factory.func if isinstance(factory, functools.partial) else factory
        if inspect.isclass(inner):
            return callable(getattr(inner, "on_rate_sample", None))
        return bool(getattr(inner, "is_rate_based", False))


_loaded: dict[str, tuple[object, str]] = {}
"""First digest of each module's file, with the import that it belongs to."""


def digest_of_code(control: str) -> str:
    """Returns the SHA-256 of the file with a control's code, if the file is unchanged.

    A control without a file counts as a different control in each process.

    Raises:
        ScenarioError: The file has changed since it was imported.
    """
    name = control.partition(":")[0]
    file = source_file(control)
    if file is None:
        return _NAMELESS
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    imported = getattr(sys.modules[name], "__spec__", None)
    known = _loaded.setdefault(name, (imported, digest))
    if known[0] is not imported:
        known = _loaded[name] = (imported, digest)
    if known[1] != digest:
        raise ScenarioError(
            f"{control}: {file} has changed since it was imported; start Python anew, or use "
            "importlib.reload"
        )
    return digest


def source_file(control: str) -> Path | None:
    """Returns the file with the code of an imported control; `None` without a file."""
    module = sys.modules.get(control.partition(":")[0])
    file = getattr(module, "__file__", None)
    return Path(file) if file and Path(file).is_file() else None


def portable_file(control: str) -> Path | None:
    """Returns that file if it can be imported alone, from another directory, by the same name."""
    module_name = control.partition(":")[0]
    file = source_file(control)
    if file is None or file.name != f"{module_name}.py":
        return None
    return None if _is_installed(file) else file


def modules_next_to(control: Factory) -> list[ModuleType]:
    """Returns the loaded modules in the directory of a control, unless they are installed."""
    inner = control.func if isinstance(control, functools.partial) else control
    file = source_file(getattr(inner, "__module__", type(inner).__module__))
    if file is None or _is_installed(file):
        return []
    places = ((module, getattr(module, "__file__", None)) for module in list(sys.modules.values()))
    return [module for module, at in places if at and Path(at).parent == file.parent]


def _is_installed(file: Path) -> bool:
    installed = (sysconfig.get_path(place) for place in ("stdlib", "platlib", "purelib"))
    return any(file.is_relative_to(place) for place in installed)
