"""A scenario: read from a file or built in Python, changed, checked and handed to the engine."""

import copy
import dataclasses
import hashlib
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias, Union, Unpack, cast

import tomli_w

from tailroom import _engine
from tailroom.arguments import SEED, check_mapping, check_unicode, named
from tailroom.errors import ScenarioError
from tailroom.scenario import scenario_text, types
from tailroom.scenario.classes_by_name import with_names_of_classes
from tailroom.scenario.control_arguments import controls_by_group
from tailroom.scenario.custom_controls import Congestion, OwnControls
from tailroom.scenario.custom_disciplines import Disciplines
from tailroom.scenario.custom_sources import Sources
from tailroom.scenario.discipline_arguments import limits_of
from tailroom.scenario.named_values import few
from tailroom.scenario.shipped_scenarios import shipped_scenario
from tailroom.scenario.source_arguments import check_sources
from tailroom.scenario.toml_values import inline, plain
from tailroom.scenario.trust import EVERYTHING, Trust, allowing, trust_in_files

STANDARD_INPUT = "-"
"""Path that stands for standard input."""
WHOLE = ""
"""Key that stands for the whole scenario."""


class Scenario:
    """Links, flows and measurements of a run: built in Python, or read from a file.

        tr.Scenario(duration=10, links={...}, flows={...})
        tr.Scenario.read("first").with_({"links.bottleneck.queue.limit": 20})

    A scenario never changes, and is read once. Every function that takes a scenario takes the path
    of a file or a dictionary too. In Python, a number without a unit is in seconds, bit/s or bytes,
    and in packets if it is an amount of a queue; a `datetime.timedelta` is a time.
    """

    text: str
    """The scenario as TOML, before values are replaced."""
    directory: Path
    """Base directory of relative paths in the scenario."""
    place: str
    """How messages name the scenario: its path or name, "stdin" for standard input, or "scenario"
    for one built in Python."""
    overrides: tuple[tuple[str, str], ...]
    """Keys with values that replace values of the text."""
    bare: frozenset[str]
    """Keys below which numbers need no unit."""
    controls: OwnControls
    """The user's own congestion controls, queue disciplines and sources."""
    trust: Trust
    """What the scenario may name outside itself."""

    def __init__(self, **tables: Unpack[types.Scenario]) -> None:
        """Reads a scenario that is built in Python.

        Args:
            tables: The keys of a scenario file; `tailroom.scenario.types` has their types.

        Raises:
            ScenarioError: A key or a value is wrong.
        """
        self.__dict__.update(vars(_built(tables)))
        _ = self.handle

    @classmethod
    def read(  # noqa: PLR0913 - each is one option of a run
        cls,
        scenario: "ScenarioLike",
        *,
        set: Mapping[str, object] | None = None,  # noqa: A002
        congestion: Congestion | None = None,
        disciplines: Disciplines | None = None,
        sources: Sources | None = None,
        allow_code: bool = False,
        allow_files: bool = False,
    ) -> "Scenario":
        """Reads a scenario; the arguments are those of `tailroom.run`.

        Args:
            scenario: The path of a file; `"-"` for standard input; where no file has that path, the
                name of a shipped scenario (`"first"`); or a scenario built in Python.
            set: Values that replace those of the scenario, by dotted key.
            congestion: Congestion controls by group, or the control of the only group.
            disciplines: Queue disciplines of your own by link.
            sources: Sources of your own by group.
            allow_code: Whether the scenario file may name code in Python.
            allow_files: Whether the scenario file may name files outside its directory.

        Raises:
            ArgumentError: `set` is not a mapping.
            ScenarioError: The file cannot be read, or a key or a value is wrong.
        """
        with allowing(code=allow_code, files=allow_files):
            read = cls.of(scenario, set, congestion, disciplines, sources)
        _ = read.handle
        return read

    @classmethod
    def from_toml(cls, text: str, place: str = "scenario") -> "Scenario":
        """Returns a scenario that a program has written as TOML.

        Args:
            text: The scenario; its numbers have units, as in a file.
            place: How messages name the scenario.

        Raises:
            ScenarioError: The text has a character that is not Unicode.
        """
        check_unicode(place, text)
        return _scenario(text, Path(), place)

    @classmethod
    def of(
        cls,
        scenario: "ScenarioLike",
        overrides: Mapping[str, object] | None = None,
        congestion: Congestion | None = None,
        disciplines: Disciplines | None = None,
        sources: Sources | None = None,
    ) -> "Scenario":
        """Returns the scenario that an argument stands for; the engine reads it when it is used.

        Args:
            scenario: As in `read`.
            overrides: Values that replace those of the scenario, by dotted key.
            congestion: Congestion controls by group, or the control of the only group.
            disciplines: Queue disciplines of your own by link.
            sources: Sources of your own by group.

        Raises:
            ArgumentError: `overrides` is not a mapping.
            ScenarioError: The file cannot be read, a value cannot be written as TOML, a value of
                `congestion` is not a congestion control, or one of `disciplines` or `sources` is
                not callable.
        """
        check_mapping("set", overrides, '{"links.bottleneck.queue.limit": "625 packets"}')
        source = _opened(scenario)
        replaced = source.with_(overrides) if overrides else source
        with source.named_in_errors():
            by_group = controls_by_group(congestion, lambda: replaced._read().groups)
            limits = limits_of(disciplines, lambda: replaced._read().resolved["links"])
            check_sources(sources, replaced._named_groups)
        if not by_group and not disciplines and not sources:
            return replaced
        source = source.trusting(list(by_group.values()))
        controls = dataclasses.replace(source.controls, given=dict(source.controls.given))
        given = {
            f"flows.{group}.congestion": controls.give(control)
            for group, control in by_group.items()
        }
        queues = {
            f"links.{link}.queue": controls.give_discipline(rule, limits[link])
            for link, rule in (disciplines or {}).items()
        }
        packets = controls.give_sources(sources or {})
        own = source.changed(controls=controls)
        return own.with_({**given, **(overrides or {})}).with_({**queues, **packets})

    def _named_groups(self) -> list[str]:
        """Names of the groups of flows, also if the class of a source is still missing."""
        try:
            flows = tomllib.loads(self.text).get("flows", {})
        except tomllib.TOMLDecodeError:
            return list(self._read().groups)  # which says where the text is wrong
        replaced = [key.split(".")[1] for key, _ in self.overrides if key.startswith("flows.")]
        return list(dict.fromkeys([*flows, *replaced]))

    @classmethod
    def stored(cls, text: str, place: str = "the stored scenario") -> "Scenario":
        """Returns the scenario of a stored run, which names no code unless the caller allows it.

        The paths in it are absolute, so files are not confined to a directory.

        Args:
            text: The resolved scenario as TOML.
            place: How messages name the scenario.
        """
        return _scenario(text, Path(), place, trust_in_files().joined(Trust(files=True)))

    def with_(self, values: Mapping[str, object]) -> "Scenario":
        """Returns the same scenario with some values replaced, as the argument `set` does.

        Args:
            values: The values by dotted key, as in `{"links.bottleneck.queue.limit": 20}`; the end
                of a key suffices if no other key ends so.

        Raises:
            ScenarioError: A value cannot be written as TOML.
        """
        return self.trusting(list(values.values())).replacing(values)

    def trusting(self, values: object) -> "Scenario":
        """Returns the same scenario; what these values name is the caller's own.

        Args:
            values: Values of keys that the caller wrote.
        """
        trust = self.trust.naming(values)
        return self.changed(trust=trust, controls=dataclasses.replace(self.controls, trust=trust))

    def replacing(self, overrides: Mapping[str, object]) -> "Scenario":
        """Returns the same scenario with more of its values replaced.

        Args:
            overrides: The values by dotted key, or the end of one.

        Raises:
            ScenarioError: A key or a value cannot be encoded, or a value is a Python object.
        """
        values = {
            self.full_key(key): plain(f"{self.place}: {key}", value)
            for key, value in overrides.items()
        }
        texts = {
            key: value if isinstance(value, str) else inline(value) for key, value in values.items()
        }
        for key, text in texts.items():
            check_unicode(f"{self.place}: {key}", f"{key} = {text}")
        # Text means what it means on the command line.
        bare = {key for key, value in values.items() if not isinstance(value, str)}
        return self.changed(
            overrides=(*self.overrides, *texts.items()), bare=self.bare - texts.keys() | bare
        )

    def full_key(self, key: str, within: str = "") -> str:
        """Returns the dotted key that ends with a key, such as `limit`; the key if none does.

        Args:
            key: The end of a key, or a whole one.
            within: Of several such keys, the one that begins with this key counts.

        Raises:
            ScenarioError: Several keys end with it, or none does, but some have its last part.
        """
        if key.partition(".")[0] in types.Scenario.__annotations__:
            return key
        known = [full for full in _dotted(self.resolved) if full.endswith(f".{key}")]
        if len(known) > 1 and within:
            known = [full for full in known if full.startswith(f"{within}.")] or known
        if len(known) > 1:
            raise ScenarioError(
                f"{self.place}: {key} is short for several keys: {few(key, known)}; "
                "write one of them"
            )
        if not known and (meant := _like(key, _dotted(self.resolved))):
            raise ScenarioError(
                f"{self.place}: {key}: no key ends so; did you mean {few(key, meant)}?"
            )
        return known[0] if known else key

    def unit_of(self, key: str, number: object) -> str:
        """Returns the unit of a number that is given for a key; empty if it stands for itself.

        Args:
            key: A dotted key in full.
            number: The number.
        """
        try:
            return self.replacing({key: number}).handle.bare_numbers.get(key, "")
        except ScenarioError:  # which names the value when it is used
            return ""

    def changed(self, **attributes: object) -> "Scenario":
        """Returns the same scenario with other attributes.

        Args:
            **attributes: The attributes by name.
        """
        other = copy.copy(self)
        other.__dict__.pop("_handle", None)
        other.__dict__.update(attributes)
        return other

    @property
    def handle(self) -> _engine.Scenario:
        """The scenario as the engine has read it.

        Raises:
            ScenarioError: The scenario is wrong; the message has a line per problem (at most ten)
                with the place and the remedy.
        """
        with self.named_in_errors():
            return self._read()

    def _read(self) -> _engine.Scenario:
        known: _engine.Scenario | None = self.__dict__.get("_handle")
        if known is not None:
            return known
        read = _engine.Scenario(
            self.text,
            self.directory,
            self.overrides,
            sorted(self.bare),
            self.controls.find,
            self.controls.find_discipline,
            self.controls.find_source,
            self.trust.outside,
        )
        # The points of a study would keep as many copies of a long file in memory.
        if not read.files:
            self.__dict__["_handle"] = read
        return read

    def check(self, seed: int | None = None) -> None:
        """Checks that the scenario can be run.

        Args:
            seed: Seed of the run; that of the scenario if left out.

        Raises:
            ArgumentError: The seed is not a number, or out of range.
            ScenarioError: The scenario is wrong.
        """
        self._checked(seed)

    def _checked(self, seed: int | None) -> _engine.Scenario:
        SEED.check("seed", seed)
        with self.named_in_errors():
            read = self._read()
            read.check(seed)
        return read

    def to_toml(self, seed: int | None = None) -> str:
        """Returns the scenario as TOML with every default filled in and absolute file paths.

        Args:
            seed: Seed of the run; that of the scenario if left out.

        Raises:
            ArgumentError: The seed is not a number, or out of range.
            ScenarioError: The scenario is wrong.
        """
        read = self._checked(seed)
        return self.with_absolute_paths(read, read.to_toml(seed))

    def with_absolute_paths(self, read: _engine.Scenario, text: str) -> str:
        """Returns the text of the resolved scenario with absolute file paths.

        Args:
            read: The scenario as the engine has read it.
            text: The scenario as the engine has written it.
        """
        if not read.files:
            return text
        return replace_files(text, lambda path: str((self.directory / path).absolute()))

    @property
    def resolved(self) -> dict[str, Any]:
        """The tables of the scenario with every default filled in."""
        return self.handle.resolved

    @property
    def groups(self) -> list[str]:
        """The names of the groups under congestion control, or the name of the only group."""
        return self.handle.groups

    @property
    def files(self) -> list[str]:
        """The paths of the files that the scenario names, as it writes them."""
        return self.handle.files

    @property
    def hash(self) -> str:
        """The hash of what is simulated, independent of the seed.

        It is the SHA-256 of the scenario as resolved at seed 0, with each file replaced by the
        SHA-256 of its content and each of the user's own controls extended by the SHA-256 of its
        module. Comments, units and omitted defaults do not change it.
        """
        return self.hash_of(self.handle)

    def hash_of(self, read: _engine.Scenario) -> str:
        """Returns `hash`.

        Args:
            read: The scenario as the engine has read it.
        """
        content = read.to_toml(0)
        if read.files:
            content = replace_files(
                content, lambda path: _sha256((self.directory / path).read_bytes())
            )
        code = [self.controls.code_hash(control) for control in read.controls]
        return _sha256("".join([content, *filter(None, code)]).encode())

    @contextmanager
    def named_in_errors(self) -> Iterator[None]:
        """Puts the name of the file in front of each problem in an error.

        Raises:
            ScenarioError: The block raised one; each of its lines now begins with the file.
        """
        try:
            yield
        except ScenarioError as error:
            raise self.named_in(error) from None

    def named_in(self, error: ScenarioError) -> ScenarioError:
        """Returns the error with the name of the file in front of each problem.

        Args:
            error: What the engine has raised.
        """
        lines = str(error).splitlines()
        if WHOLE in self.bare:  # nobody has seen this text
            lines = [_LINE.sub("", line) for line in lines]
        return ScenarioError(
            "\n".join(f"{self.place}: {_with_name_of_set(line)}" for line in lines)
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leaves out what the engine has read: another process reads the scenario itself."""
        return {key: value for key, value in self.__dict__.items() if key != "_handle"}

    def __repr__(self) -> str:
        """The place, and the values that are replaced."""
        values = f", {dict(self.overrides)}" if self.overrides else ""
        return f"<Scenario {self.place!r}{values}>"


ScenarioLike: TypeAlias = Union[str, "PathLike[str]", Scenario, types.Scenario]
"""A scenario, the path of its file, the name of a shipped scenario, or its tables."""


def _dotted(table: Mapping[str, Any], start: str = "") -> Iterator[str]:
    """Yields the dotted keys of a table and of the tables in it."""
    for key, value in table.items():
        yield f"{start}{key}"
        if isinstance(value, Mapping):
            yield from _dotted(value, f"{start}{key}.")


def _like(key: str, known: Iterable[str]) -> list[str]:
    """The known keys that have the last part of a key; if some have all its parts, these."""
    *first, last = key.split(".")
    same = [full for full in known if full.endswith(f".{last}")]
    return [full for full in same if set(first) <= set(full.split("."))] or same


def _scenario(
    text: str, directory: Path, place: str, trust: Trust = EVERYTHING, **more: object
) -> Scenario:
    """Returns a scenario whose values are not replaced."""
    made = Scenario.__new__(Scenario)
    made.__dict__.update(
        text=text,
        directory=directory,
        place=place,
        overrides=(),
        bare=frozenset(),
        controls=OwnControls(directory, trust=trust),
        trust=trust,
    )
    return made.changed(**more)


def _built(tables: Mapping[str, Any]) -> Scenario:
    """Writes down a scenario that was built in Python.

    Raises:
        ScenarioError: A value cannot be written as TOML.
    """
    controls = OwnControls()
    document = with_names_of_classes(tables, controls)
    document = {key: plain(f"scenario: {key}", value) for key, value in document.items()}
    try:
        text = tomli_w.dumps(document)
    except (TypeError, ValueError) as error:
        raise ScenarioError(f"scenario: {error}; use text as keys") from None
    check_unicode("scenario", text)
    return _scenario(text, Path(), "scenario", controls=controls, bare=frozenset([WHOLE]))


def _opened(scenario: ScenarioLike) -> Scenario:
    """Returns a scenario from its file, its tables, or itself.

    Raises:
        ScenarioError: The file cannot be read, or the argument is something else.
    """
    if isinstance(scenario, Scenario):
        trust = scenario.trust.joined(trust_in_files())
        return scenario if trust == scenario.trust else scenario.changed(trust=trust).trusting(())
    if isinstance(scenario, (str, PathLike)):
        if fspath(scenario) == STANDARD_INPUT:
            return _scenario(
                scenario_text.of_standard_input(sys.stdin), Path(), "stdin", trust_in_files()
            )
        if isinstance(scenario, str) and "\n" in scenario:
            raise ScenarioError(
                "scenario: is the text of a scenario, and not its file or name; "
                "give tailroom.Scenario.from_toml(text)"
            )
        path = Path(scenario)
        shipped = None if path.is_file() else shipped_scenario(str(path))
        file = shipped or path
        return _scenario(scenario_text.of_file(file), file.parent, str(path), trust_in_files())
    if isinstance(scenario, Mapping):
        return _built(cast("Mapping[str, Any]", scenario))
    raise ScenarioError(
        f"scenario: {scenario!r} is not a scenario; give a tailroom.Scenario, the path of a file, "
        "a name that `tailroom list scenarios` shows, or a dictionary"
    )


_MAY_NAME_FILES = re.compile(r"\b(?:trace|file)\b[\"']?\s*=")
"""What the keys that name files look like in a resolved scenario, and perhaps other text."""


def replace_files(scenario: str, replace: Callable[[str], str]) -> str:
    """Replaces the path of each file that a scenario (as TOML) names."""
    if not _MAY_NAME_FILES.search(scenario):  # reading a long scenario takes seconds
        return scenario
    document = tomllib.loads(scenario)
    naming = list(_naming_files(document))
    for table, key in naming:
        table[key] = replace(table[key])
    return tomli_w.dumps(document) if naming else scenario


def _naming_files(value: object) -> Iterator[tuple[dict[str, Any], str]]:
    """Yields tables that name a file, with the key: traces of links, files of distributions."""
    if isinstance(value, dict):
        # A table may have such a key for another value.
        yield from ((value, key) for key in ("trace", "file") if isinstance(value.get(key), str))
        # Parameters of the user's own controls are opaque.
        items = [item for key, item in value.items() if key != "parameters"]
    else:
        items = value if isinstance(value, list) else []
    for item in items:
        yield from _naming_files(item)


def own_controls(scenario: str) -> list[str]:
    """Returns the names of the user's own code in a resolved scenario (TOML)."""
    if '"custom"' not in scenario:
        return []
    document = tomllib.loads(scenario)
    places = [group.get("congestion", {}) for group in document["flows"].values()]
    for table in ("links", "switches", "fabrics"):
        for entry in document.get(table, {}).values():
            places += [entry.get("queue", {}), entry.get("nic_queue", {})]
    custom = [place for place in places if place.get("kind") == "custom"]
    return [place.get("control") or place["discipline"] for place in custom]


_LINE = re.compile(r"^line \d+(?:, |: )")


def _with_name_of_set(problem: str) -> str:
    """Names the argument that replaces values; the engine knows it as an option."""
    replaced = problem.removeprefix("--set ")
    return problem if replaced == problem else f"{named('set')} {replaced}"


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
