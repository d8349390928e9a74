"""What a shell completes: scenarios, keys and their values, metrics, models, sweeps.

Completion runs with each press of the tab key. It reads files, simulates a microsecond at most, and
offers nothing where a file cannot be read: a message would end up in the middle of the command.
"""

import json
import os
import shlex
import tomllib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tailroom.errors import TailroomError
from tailroom.given_files import read_bytes

if TYPE_CHECKING:
    from tailroom.scenario.key_tree import Node

SHELL = "_TAILROOM_COMPLETE"
"""Environment variable by which a shell asks for completions: its value ends in its name."""
BASH = "complete_bash"
BEGUN = "_TAILROOM_COMPLETE_BEGUN"
"""What stands before the word that bash completes: bash ends words at each equals sign."""
CONTINUED = ("=", ".", "/")
"""A completion that ends so is the beginning of more: no space follows."""
ARGUMENTS = ("scenario", "scenarios", "file", "place", "store", "name")
"""Arguments of commands that name what the other options are about."""

Completer = Callable[[typer.Context, str], list[str]]


def join_words() -> None:
    """Restores words that bash has split at equals signs: `--set seed = 2` is `--set seed=2`."""
    if os.environ.get(SHELL) != BASH:
        return
    try:
        last = int(os.environ["COMP_CWORD"])
        words = _split(os.environ["COMP_WORDS"])[: last + 1]
    except (KeyError, ValueError):
        return
    words += [""] * (last + 1 - len(words))
    joined: list[str] = []
    for word in words:
        if joined and (word == "=" or joined[-1].endswith("=")):
            joined[-1] += word
        else:
            joined.append(word)
    if joined[-1].startswith("--") and "=" in joined[-1]:
        joined[-1:] = joined[-1].split("=", 1)
    begun, equals, rest = joined[-1].rpartition("=")
    joined[-1] = rest
    os.environ[BEGUN] = begun + equals
    os.environ["COMP_WORDS"] = shlex.join(joined)
    os.environ["COMP_CWORD"] = str(len(joined) - 1)


def _split(text: str) -> list[str]:
    """Splits a command at spaces, by the shell's rules, also where a quotation mark is open."""
    for closing in ("", "'", '"'):
        try:
            return shlex.split(text + closing)
        except ValueError:
            continue
    return text.split()


def completer(offer: Callable[[typer.Context, str], Iterable[str]]) -> Completer:
    """Makes a function for the option `autocompletion` of one that offers whole words."""

    @wraps(offer)
    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        begun = os.environ.get(BEGUN, "")
        try:
            words = offer(ctx, begun + incomplete)
            offered = [word for word in words if word.startswith(begun)]
        except Exception:  # a shell has no place for a message
            return []
        return _without_space([word.removeprefix(begun) for word in dict.fromkeys(offered)])

    # Typer reads the annotations of this function, not of the wrapped one.
    del complete.__wrapped__
    return complete


def _without_space(offered: list[str]) -> list[str]:
    """Keeps bash and zsh from ending a word that goes on: they do for a single completion only."""
    is_begun = len(offered) == 1 and offered[0].endswith(CONTINUED)
    if is_begun and not os.environ.get(SHELL, "").endswith("fish"):
        return [offered[0], f"{offered[0]}..."]
    return offered


def names_in(collection: str, attribute: str | None = None) -> Completer:
    """Makes the completer for names in a collection, which is imported when a shell asks.

    Args:
        collection: `MODULE:COLLECTION`.
        attribute: The attribute of an element that is its name; the element if `None`.
    """
    module, _, variable = collection.partition(":")

    def offer(_ctx: typer.Context, _incomplete: str) -> Iterator[str]:
        elements = getattr(import_module(module), variable)
        return (getattr(one, attribute) if attribute else one for one in elements)

    return completer(offer)


model_names = names_in("tailroom.models:MODELS")
asic_names = names_in("tailroom.pfc_headroom.profiles:PROFILES", "name")
headroom_tables = names_in("tailroom.pfc_headroom.profiles:TABLES", "name")
speed_names = names_in("tailroom.pfc_headroom.speeds:SPEEDS", "name")
figure_kinds = names_in("tailroom.cli.figures:Kind")
figure_formats = names_in("tailroom.cli.figures:FileFormat")


@completer
def scenario_names(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """Names of shipped scenarios, TOML files and directories."""
    from tailroom.scenario.shipped_scenarios import shipped_scenarios  # noqa: PLC0415 - for shells only

    yield from (name for name in shipped_scenarios() if name.startswith(incomplete))
    yield from _paths(incomplete, ".toml")


@completer
def stores_and_scenarios(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """Directories and TOML files."""
    yield from _paths(incomplete, ".toml")


def _paths(incomplete: str, ending: str) -> list[str]:
    """Files with an ending and directories that begin with a path, written as the user writes it.

    The content of a directory is offered too if nothing else begins with the path.
    """
    head, slash, start = incomplete.rpartition("/")
    directory = Path(head + slash).expanduser()
    offered = [
        f"{head}{slash}{path.name}{'/' if path.is_dir() else ''}"
        for path in sorted(directory.iterdir())
        if path.name.startswith(start)
        and (start.startswith(".") or not path.name.startswith("."))
        and (path.is_dir() or path.suffix == ending)
    ]
    if len(offered) == 1 and offered[0].endswith("/"):
        return _paths(offered[0], ending) or offered
    return [_for_shell(path) for path in offered]


def _for_shell(path: str) -> str:
    """A path with its spaces escaped for bash; other shells escape what they insert."""
    return path.replace(" ", "\\ ") if os.environ.get(SHELL) == BASH else path


@completer
def setting_keys(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """Keys of the scenario, and after `KEY=` the words that the key takes."""
    return _settings(ctx, incomplete, has_list=False)


@completer
def axis_keys(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """Keys of the scenario, and after `KEY=` and each comma the words that the key takes."""
    return _settings(ctx, incomplete, has_list=True)


@completer
def keys_to_vary(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """Keys of the scenario."""
    if "=" in incomplete:
        return iter(())
    return (key.removesuffix("=") for key in _settings(ctx, incomplete, has_list=False))


def _settings(ctx: typer.Context, incomplete: str, *, has_list: bool) -> Iterator[str]:
    from tailroom.scenario.key_tree import key_tree  # noqa: PLC0415 - for shells only

    node: Node = key_tree(_scenario(ctx))
    key, equals, values = incomplete.partition("=")
    if equals:
        for name in key.split("."):
            node = node.children[name]
        before, comma, _ = values.rpartition(",") if has_list else ("", "", "")
        return (f"{key}={before}{comma}{word}" for word in node.words)
    parents = key.split(".")[:-1]
    for name in parents:
        node = node.children[name]
    return iter(_keys(node, "".join(f"{name}." for name in parents), key))


def _keys(node: "Node", prefix: str, incomplete: str) -> list[str]:
    """Keys of a table; `links.` for tables within; of a single table, its own keys at once."""
    offered = []
    for name, child in node.children.items():
        if f"{prefix}{name}".startswith(incomplete):
            if child.is_value:
                offered.append(f"{prefix}{name}=")
            if child.children:
                offered.append(f"{prefix}{name}.")
    if len(offered) == 1 and offered[0].endswith("."):
        name = offered[0].removeprefix(prefix).removesuffix(".")
        return _keys(node.children[name], offered[0], offered[0])
    return offered


@completer
def link_names(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """Links of the scenario."""
    return iter(_scenario(ctx).get("links", {}))


@completer
def metric_names(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """Metrics by their short names, and whole ones if the word begins like one of those."""
    from tailroom.simulation.metrics import short_name  # noqa: PLC0415 - for shells only

    known = _metrics(_scenario_file(ctx))
    if incomplete.startswith(("links.", "groups.", "flows.")):
        return iter(known)
    names = (short_name(name, known) for name in known if incomplete in name)
    return (name for name in names if "links." not in name)


def _metrics(scenario: Path | None) -> list[str]:
    """Metrics that runs of a scenario have; without a scenario that can run, those of a link."""
    from tailroom.scenario.scenario import Scenario  # noqa: PLC0415 - for shells only
    from tailroom.simulation.metric_catalogue import LINK  # noqa: PLC0415 - as above
    from tailroom.simulation.metrics import expected_names  # noqa: PLC0415 - as above

    with suppress(TailroomError):
        if scenario and (known := expected_names(Scenario.of(scenario))):
            return known
    return list(LINK)


@completer
def cell_names(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """Cells of the atlas."""
    from tailroom.buffer_atlas.lookup import shipped_rows  # noqa: PLC0415 - for shells only

    return (row["cell"] for row in shipped_rows())


@completer
def control_names(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """Congestion controls of the engine."""
    return iter(_kinds("congestion"))


@completer
def evaluated_names(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """Congestion controls and queue disciplines of the engine."""
    return iter([*_kinds("congestion"), *_kinds("queue")])


@completer
def host_names(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """Profiles of hosts."""
    return iter(_kinds("host"))


@completer
def component_kinds(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """What `tailroom list` lists."""
    return iter([*_components(), "scenarios", "metrics", "models"])


def _kinds(kind: str) -> list[str]:
    return [component["kind"] for component in _components()[kind]]


def _components() -> dict[str, Any]:
    from tailroom import _engine  # noqa: PLC0415 - for shells only

    components: dict[str, Any] = json.loads(_engine.components())
    return components


@completer
def sweep_ids(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """Sweeps of the store that is named earlier in the command."""
    return (record["id"] for record in _sweeps(ctx))


@completer
def swept_keys(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """Keys that vary in the sweeps of the store that is named earlier in the command."""
    return (key for record in _sweeps(ctx) for key in record["axes"])


def _sweeps(ctx: typer.Context) -> Iterator[dict[str, Any]]:
    """The records of sweeps as the store has them; `Store` would load pyarrow."""
    from tailroom.scenario.json_text import read_json  # noqa: PLC0415 - for shells only
    from tailroom.storage.sweep_record import MOST_RECORD_BYTES  # noqa: PLC0415 - as above

    for place in named_arguments(ctx):
        for path in sorted((Path(place).expanduser() / "sweeps").glob("*.json")):
            yield read_json(read_bytes(path, MOST_RECORD_BYTES).decode())


def _scenario(ctx: typer.Context) -> dict[str, Any]:
    """The scenario that the command names, or that of the store, as its file has it."""
    from tailroom.scenario import scenario_text  # noqa: PLC0415 - for shells only

    file = _scenario_file(ctx)
    return tomllib.loads(scenario_text.of_file(file)) if file else {}


def _scenario_file(ctx: typer.Context) -> Path | None:
    from tailroom.scenario.shipped_scenarios import shipped_scenario  # noqa: PLC0415 - for shells only

    for name in [*named_arguments(ctx), *(record["scenario"] for record in _sweeps(ctx))]:
        path = Path(name).expanduser()
        if file := path if path.is_file() else shipped_scenario(name):
            return file
    return None


def named_arguments(ctx: typer.Context) -> list[str]:
    """Arguments of the command that may name a scenario, a store or a paper.

    An option that still lacks its value stops Typer from assigning arguments; they are in `args`.
    """
    named: list[str] = []
    for name in ARGUMENTS:
        value = ctx.params.get(name)
        named += map(str, value if isinstance(value, (list, tuple)) else [value] if value else [])
    return named + [word for word in ctx.args if not word.startswith("-")]
