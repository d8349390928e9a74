"""Files that somebody else made: every command that reads one, and the same bombs for each."""

import bz2
import gzip
import hashlib
import io
import json
import shutil
import tracemalloc
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tailroom.cli.completion import ARGUMENTS
from tailroom.cli.main import app
from tailroom.parquet_files import check_size
from tailroom.quoting import LONGEST_QUOTE, quoted
from tailroom.storage import run_directory
from tailroom.storage.store import FORMAT, MARKER
from tests.conftest import Completed, Tailroom

SECRET = "top secret"
MOST_PRINTED = 2_000
"""Characters that a command says of a wrong file."""
MOST_BYTES = 450_000_000
"""Memory that it takes, of Python's objects."""


def _text(path: Path) -> None:
    path.write_text(f"{SECRET}\n" * 3, encoding="utf-8")


def _controls(path: Path) -> None:
    path.write_text("\x1b]0;title\x07" * 50 + "\n", encoding="utf-8")


def _long_line(path: Path) -> None:
    path.write_text("7" * 5_000_000, encoding="utf-8")


def _digits(path: Path) -> None:
    path.write_text('{"BUFFER_PROFILE": {"a": ' + "1" * 6_000 + "}}", encoding="utf-8")


def _depth(path: Path) -> None:
    path.write_text("[" * 200_000, encoding="utf-8")


def _values(path: Path) -> None:
    """Numbers, and as many lists within lists, of which few follow a comma."""
    nested = "[" * 90 + "]" * 90 + ","
    path.write_text('{"x_values": [' + "1," * 1_100_000 + nested * 12_000 + "1]}", encoding="utf-8")


def _binary(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 10)


@cache
def _zeros(pack: Callable[[bytes], bytes]) -> bytes:
    return pack(bytes(200_000_000))


def _packed(path: Path) -> None:
    path.write_bytes(_zeros(gzip.compress))


def _packed_again(path: Path) -> None:
    path.write_bytes(_zeros(bz2.compress))


def _endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


NO_DIRECTORIES = (_text, _endless)
"""Enough for an argument that names a directory."""
BOMBS = (
    _text,
    _controls,
    _long_line,
    _digits,
    _depth,
    _values,
    _binary,
    _packed,
    _packed_again,
    _endless,
)
NETWORK = """\
duration = "1 s"
memory_limit = "100 MB"
[links.bottleneck]
{rate}
delay = "10 ms"
queue = {{ kind = "drop_tail", limit = "10 packets" }}
[flows.some]
path = ["bottleneck"]
source = {source}
"""


def _scenario(path: Path, source: str, rate: str = 'rate = "10 Mbit/s"') -> Path:
    scenario = path.with_name("scenario.toml")
    scenario.write_text(NETWORK.format(source=source, rate=rate), encoding="utf-8")
    return scenario


def _traffic(source: str, rate: str = 'rate = "10 Mbit/s"') -> Callable[[Path], list[object]]:
    """Runs a scenario that names the file."""

    def words(path: Path) -> list[object]:
        return ["run", _scenario(path, source.format(path.name), rate.format(path.name))]

    return words


def _with_files(path: Path, files: dict[str, str]) -> Path:
    """The directory of the file, with other files, which are right."""
    for name, text in files.items():
        place = path.with_name(name)
        place.write_text(text, encoding="utf-8")
    return path.parent


def _store(record: Path) -> Path:
    """A store with the record of a sweep."""
    store = record.parents[1]
    (store / "runs").mkdir()
    return _with_files(store / MARKER, {MARKER: f'{{"format": {FORMAT}}}'})


def _reported(picture: Path) -> Path:
    """The report of the paper on ABM, with this picture."""
    shipped = PAPERS / "abm-2022"
    shutil.copytree(
        *(shipped, picture.parent),
        ignore=shutil.ignore_patterns(picture.name),
        dirs_exist_ok=True,
    )
    return picture.parent


PAPERS = Path(__file__).parents[1] / "docs" / "papers"
RECORD = "sweeps/first.json"
TARGET = ("--target", "utilization >= 50%")
SIZES = '{{ kind = "finite_flows", load = 0.5, size = {{ kind = "empirical", file = "{}" }} }}'
RESULT = {"scenario.toml": NETWORK, "summary.json": "{}"}
WHOLE = {"summary.json": json.dumps({key: {} for key in ("links", "flows", "groups", "warnings")})}
READING: dict[str, dict[str, Callable[[Path], list[object]]]] = {
    "run scenarios": {
        "given": lambda path: ["run", path],
        "flows.csv": _traffic('{{ kind = "trace", file = "{}" }}'),
        "flows.parquet": _traffic('{{ kind = "trace", file = "{}" }}'),
        "sizes.csv": _traffic(SIZES),
        "up.trace": _traffic('"bulk"', 'trace = "{}"'),
    },
    "run --store": {"given": lambda path: ["run", "first", "--store", path, "--seeds", "2"]},
    "size scenario": {"given": lambda path: ["size", path, *TARGET]},
    "size --store": {"given": lambda path: ["size", "first", *TARGET, "--store", path]},
    "atlas run --store": {"given": lambda path: ["atlas", "run", "--store", path]},
    "atlas run --keep": {
        "lookup.csv": lambda path: ["atlas", "run", "--keep", path.parent, "--out", path / "new"],
        "given": lambda path: ["atlas", "run", "--keep", path, "--out", f"{path}-new"],
    },
    "sweep scenario": {"given": lambda path: ["sweep", path]},
    "sweep --store": {"given": lambda path: ["sweep", "first", "--store", path]},
    "results place": {
        "given": lambda path: ["results", path],
        "tailroom-store.json": lambda path: ["results", path.parent],
        RECORD: lambda path: ["results", _store(path)],
    },
    "model scenario": {"given": lambda path: ["model", path]},
    "headroom files": {"given": lambda path: ["headroom", "--check", path]},
    "vectors check vectors": {
        "given": lambda path: ["vectors", "check", path, "--against", path],
        "reno.json": lambda path: ["vectors", "check", path.parent, "--against", path],
    },
    "vectors check --against": {
        "given": lambda path: ["vectors", "check", path, "--against", path],
    },
    "compare scenario": {"given": lambda path: ["compare", path]},
    "compare --store": {
        "given": lambda path: ["compare", "first", "--seeds", "2", "--store", path]
    },
    "compare --measured": {"given": lambda path: ["compare", "--measured", path]},
    "evaluate --store": {
        "given": lambda path: ["evaluate", "reno", "--quick", "--store", path],
    },
    "explore file": {"given": lambda path: ["explore", path]},
    "plot place": {
        "given": lambda path: ["plot", path],
        "summary.json": lambda path: [
            "plot",
            _with_files(path, {"scenario.toml": NETWORK}),
        ],
        "flow_series.parquet": lambda path: ["plot", _with_files(path, RESULT)],
        "actions.json": lambda path: ["plot", _with_files(path, RESULT | WHOLE)],
        "timing.json": lambda path: ["plot", _with_files(path, RESULT | WHOLE)],
    },
    "import path": {"given": lambda path: ["import", path]},
    "papers run --check": {
        "given": lambda path: ["papers", "run", "today", "--check", path],
        "claims.json": lambda path: ["papers", "run", "today", "--check", path.parent],
        "requests.png": lambda path: [
            *("papers", "run", "abm-2022", "--check", _reported(path)),
            *("--out", f"{path.parent}-new"),
        ],
    },
    "papers run --out": {
        "given": lambda path: ["papers", "run", "today", "--out", path],
        "tailroom-paper.json": lambda path: ["papers", "run", "today", "--out", path.parent],
    },
}
"""What a command reads, and by the name of a wrong file, the command."""
DIRECTORIES = {
    "run --store", "size --store", "atlas run --store", "atlas run --keep", "sweep --store",
    "results place", "compare --store", "evaluate --store", "papers run --check",
    "papers run --out",
}  # fmt: skip
"""Arguments that name a directory alone."""
WRITTEN = {
    "run --out", "run --pcap", "run --packets", "run --qlog", "new file", "size --out",
    "atlas run --out", "results --out", "model --out", "vectors write directory",
    "vectors run --qlog", "compare --out", "evaluate --out", "plot --out", "import --out",
    "explore --out",
}  # fmt: skip
"""Arguments with the name of a file that is written, and of which nothing is read."""
FILES = {"FILE", "DIR", "PATH", "STORE", "CAPTURE", "DIR_OR_FILE", "FILE_OR_DIR"}
"""What the help calls such arguments."""


def _commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, list[Any]]]:
    """The words of all commands, with their arguments and options."""
    for name in getattr(command, "commands", {}):
        load = getattr(command, "load", command.commands.get)
        yield from _commands(load(name), (*words, name))
    yield " ".join(words), command.params


def _arguments(command: Any) -> Iterator[str]:
    """The arguments and options of all commands that name files."""
    for words, arguments in _commands(command):
        yield from (f"{words} {one.opts[0]}" for one in arguments if one.metavar in FILES)


def test_every_argument_that_names_a_file_is_tried() -> None:
    assert {*_arguments(app)} == READING.keys() | WRITTEN


@pytest.mark.usefixtures("quick_models")
@pytest.mark.parametrize(
    ("argument", "name", "bomb"),
    [
        pytest.param(argument, name, bomb, id=f"{argument}-{name}-{bomb.__name__.strip('_')}")
        for argument, names in READING.items()
        for name in names
        for bomb in (NO_DIRECTORIES if argument in DIRECTORIES and name == "given" else BOMBS)
    ],
)
def test_a_wrong_file_is_refused_shortly_and_in_bounded_memory(
    tailroom: Tailroom, tmp_path: Path, argument: str, name: str, bomb: Callable[[Path], None]
) -> None:
    path = tmp_path / "place" / name
    path.parent.mkdir(parents=True)
    bomb(path)
    tracemalloc.start()
    ended = tailroom(*READING[argument][name](path))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # A damaged record is left out, with a warning.
    assert ended.status == (0 if name == RECORD else 2), ended.errors
    assert path.parent.name in ended.errors or path.name in ended.errors
    assert len(ended.errors) < MOST_PRINTED
    assert "bug in tailroom" not in ended.errors
    assert "\x1b" not in ended.errors
    assert "7" * 81 not in ended.errors
    assert most < MOST_BYTES


def _completed_options(command: Any) -> Iterator[tuple[str, str]]:
    """The options whose words a shell completes after the name of a scenario or a store."""
    for words, arguments in _commands(command):
        if any(one.name in ARGUMENTS for one in arguments):
            for one in arguments:
                if one.opts[0].startswith("--") and one._custom_shell_complete:
                    yield words, one.opts[0]


@pytest.mark.parametrize("name", ["given.toml", "sweeps/first.json"])
@pytest.mark.parametrize("bomb", [_depth, _binary, _endless])
def test_a_wrong_file_is_completed_silently_and_in_bounded_memory(
    completed: Completed, tmp_path: Path, name: str, bomb: Callable[[Path], None]
) -> None:
    path = tmp_path / "place" / name
    path.parent.mkdir(parents=True)
    bomb(path)
    given = path if name == "given.toml" else path.parents[1]
    options = [*_completed_options(app)]
    assert {("run", "--set"), ("results", "--sweep"), ("plot", "--x")} <= {*options}
    tracemalloc.start()
    for words, option in options:
        completed("tailroom", *words.split(), str(given), option, "")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < MOST_BYTES


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[0.0] * 1_000] * 10),
        pa.array([SECRET]),
        pa.array([{"a": 1}]),
        pa.array([b"1"]),
    ],
    ids=["lists", "text", "tables", "bytes"],
)
def test_a_column_of_a_list_that_holds_no_numbers_is_refused_unread(
    tailroom: Tailroom, tmp_path: Path, column: pa.Array
) -> None:
    path = tmp_path / "list.parquet"
    pq.write_table(pa.table({"start_s": column, "bytes": pa.array([1] * len(column))}), path)
    ended = tailroom("run", _scenario(path, f'{{ kind = "trace", file = "{path.name}" }}'))
    assert ended.status == 2
    assert "its column `start_s` holds" in ended.errors
    assert SECRET not in ended.errors


def test_pages_that_are_larger_than_the_limit_are_refused_unread(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    """A list of 960 bytes whose column has 120 million zeros took 2 GB."""
    path = tmp_path / "list.parquet"
    zeros = pa.array([0.0]).take(pa.array([0] * 10_000_000))
    table = pa.table({"start_s": zeros, "bytes": zeros})
    pq.write_table(table, path, compression="zstd", use_dictionary=False)
    del zeros, table
    tracemalloc.start()
    before = pa.total_allocated_bytes()
    ended = tailroom("run", _scenario(path, f'{{ kind = "trace", file = "{path.name}" }}'))
    tracemalloc.stop()
    assert ended.status == 2
    assert "memory_limit" in ended.errors
    assert pa.total_allocated_bytes() - before < 64_000_000


def _zeros_in_parquet(path: Path) -> None:
    """A file of 16 kB with 640 MB of zeros."""
    zeros = pa.array([0.0]).take(pa.array([0] * 1_000_000))
    table = pa.table({f"x{place}": zeros for place in range(80)})
    whole = {"data_page_size": 1 << 30, "max_rows_per_page": 1_000_000}
    pq.write_table(table, path, write_batch_size=1_000_000, write_statistics=False, **whole)


def _texts_in_parquet(path: Path) -> None:
    """A file of 300 bytes with the same text of a megabyte in each of a thousand rows."""
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 1_000), pa.array(["x" * 1_000_000]))
    pq.write_table(pa.table({"text": text}), path, compression="zstd", store_schema=False)


def _lists_in_parquet(path: Path) -> None:
    """A file with lists."""
    pq.write_table(pa.table({"x": pa.array([[0.0] * 1_000] * 10)}), path)


SMALL_FILE = "it is a small file of a table with more than 500 MB"
PARQUET_BOMBS: dict[Callable[[Path], None], str] = {
    _zeros_in_parquet: SMALL_FILE,
    _texts_in_parquet: SMALL_FILE,
    _lists_in_parquet: "its column `x` holds list<",
}


def _plotted(path: Path) -> tuple[list[object], Path]:
    return [
        "plot",
        _with_files(path / "scenario.toml", RESULT | WHOLE),
    ], path / "link_series.parquet"


def _checked(path: Path) -> tuple[list[object], Path]:
    claims = PAPERS / "su-2005-fhstcp" / "claims.json"
    (path / "data").mkdir()
    (path / "claims.json").write_bytes(claims.read_bytes())
    first = json.loads(claims.read_text(encoding="utf-8"))["parts"][0]
    words = ["papers", "run", "su-2005-fhstcp", "--check", path]
    return words, path / "data" / f"{first}.parquet"


def _kept(path: Path) -> tuple[list[object], Path]:
    return ["atlas", "run", "--keep", path], path / "answers.parquet"


IN_PARQUET = {
    "a result": (_plotted, "give a directory that `tailroom run --out` wrote"),
    "a paper": (_checked, "reproduce the paper anew"),
    "an atlas": (_kept, "the atlas is damaged"),
}
"""Commands that read tables in Parquet, and their remedies."""


@pytest.mark.parametrize("bomb", PARQUET_BOMBS)
@pytest.mark.parametrize("name", IN_PARQUET)
def test_tables_that_are_far_larger_than_their_file_are_refused_unread(
    tailroom: Tailroom, tmp_path: Path, name: str, bomb: Callable[[Path], None]
) -> None:
    command, remedy = IN_PARQUET[name]
    words, path = command(tmp_path)
    bomb(path)
    assert path.stat().st_size < 20_000
    before = pa.total_allocated_bytes()
    ended = tailroom(*words)
    assert ended.status == 2
    for text in (path.name, PARQUET_BOMBS[bomb], remedy):
        assert text in ended.errors
    assert len(ended.errors) < MOST_PRINTED
    assert pa.total_allocated_bytes() - before < 64_000_000


def test_a_store_leaves_out_a_file_of_far_larger_tables(
    tailroom: Tailroom, small: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    assert tailroom("sweep", small, "--store", store, "--seeds", "2").status == 0
    file = min((store / "runs").iterdir())
    rows = pq.read_table(file)
    long = pa.DictionaryArray.from_arrays(pa.array([0] * 1_000), pa.array(["x" * 1_000_000]))
    keys = pa.array([f"{number:064x}" for number in range(1_000)])
    bomb = rows.take(pa.array([0] * 1_000))
    for name, column in (("key", keys), ("summary", long)):
        bomb = bomb.set_column(bomb.column_names.index(name), name, column)
    pq.write_table(bomb, tmp_path / "bomb", compression="zstd", store_schema=False)
    content = (tmp_path / "bomb").read_bytes()
    assert len(content) < 200_000
    wrong = store / "runs" / f"{hashlib.sha256(content).hexdigest()}.parquet"
    wrong.write_bytes(content)
    ended = tailroom("results", store, "--out", tmp_path / "runs.csv")
    assert ended.status == 0
    assert f"warning: {wrong} is damaged and was left out" in ended.errors
    assert "2 rows are in" in ended.output


def _no_end(path: Path) -> None:
    """A file that is larger than memory, of which no disk block is written."""
    with path.open("wb") as file:
        file.truncate(1 << 42)


ROWS = f"runs/{'0' * 64}.parquet"
STORES = {
    "results": ("results",),
    "sweep --store": ("sweep",),
    "run --store": ("run", "--seeds", "2"),
    "size --store": ("size", *TARGET, "--max-seeds", "4"),
    "compare --store": ("compare", "--seeds", "2"),
}


@pytest.mark.parametrize("words", list(STORES))
@pytest.mark.parametrize(
    ("file", "bomb"),
    [
        *((file, bomb) for file in ("index.arrow", ROWS) for bomb in (_endless, _no_end)),
        (ROWS, _zeros_in_parquet),
    ],
)
@pytest.mark.usefixtures("small")
def test_a_store_reads_no_more_of_a_file_than_a_store_may_have(
    tailroom: Tailroom, tmp_path: Path, words: str, file: str, bomb: Callable[[Path], None]
) -> None:
    given = [tmp_path / "small.toml", "--store", store := tmp_path / "store"]
    assert tailroom("sweep", *given, "--seeds", "2").status == 0
    bomb(store / file)
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    command, *more = STORES[words]
    ended = tailroom(command, *([store] if command == "results" else given), *more)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert ended.status == 0, ended.errors
    assert most < MOST_BYTES
    assert pa.total_allocated_bytes() - before < 64_000_000
    if words == "results" and file == ROWS:
        assert f"{store / file} is damaged and was left out" in ended.errors


def test_too_little_memory_is_said_in_words(
    tailroom: Tailroom, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    store = tmp_path / "store"
    assert tailroom("sweep", small, "--store", store, "--seeds", "2").status == 0
    monkeypatch.setattr(run_directory, "read_bytes", fail)
    ended = tailroom("results", store)
    assert ended.status == 1
    assert "error: the memory is not enough; free some" in ended.errors


def test_a_large_file_may_have_a_large_table(tmp_path: Path) -> None:
    """The bound follows the size of the file."""
    _zeros_in_parquet(path := tmp_path / "zeros.parquet")
    content = path.read_bytes()
    begin = len(content) - 8 - int.from_bytes(content[-8:-4], "little")

    def of_size(size: int) -> io.BytesIO:
        """The same file with bytes between its pages and its footer."""
        return io.BytesIO(content[:begin] + bytes(size - len(content)) + content[begin:])

    with pq.ParquetFile(path) as file:
        with pytest.raises(OSError, match="with more than 600 MB"):
            check_size(file, of_size(6_000_000))
        check_size(file, of_size(7_000_000))


def test_a_quote_is_short_and_shows_control_characters() -> None:
    assert quoted("a\x1b[2J\nb") == r"a\x1b[2J\nb"
    for letter in ("x", "\x1b", "\n", "é"):
        quote = quoted(letter * 10**6)
        assert len(quote) <= LONGEST_QUOTE
        assert quote.endswith("... (1000000 characters)")
    assert quoted(json.dumps("x" * 10)) == '"xxxxxxxxxx"'
