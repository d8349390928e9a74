"""Files that somebody else made: every command that reads one, and the same bombs for each."""

import bz2
import gzip
import json
import tracemalloc
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tailroom.given_files import LONGEST_QUOTE, quoted
from tests.conftest import Tailroom

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
    path.write_text('{"x_values": [' + "1," * 5_000_000 + "1]}", encoding="utf-8")


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


COMMANDS: dict[str, Callable[[Path], list[object]]] = {
    "run": lambda path: ["run", path],
    "run, list of flows": lambda path: [
        "run",
        _scenario(path, f'{{ kind = "trace", file = "{path.name}" }}'),
    ],
    "run, sizes": lambda path: [
        "run",
        _scenario(
            path,
            '{ kind = "finite_flows", load = 0.5, '
            f'size = {{ kind = "empirical", file = "{path.name}" }} }}',
        ),
    ],
    "run, rates": lambda path: [
        "run",
        _scenario(path, '"bulk"', f'trace = "{path.name}"'),
    ],
    "import": lambda path: ["import", path],
    "compare": lambda path: ["compare", "--measured", path],
    "headroom": lambda path: ["headroom", "--check", path],
    "vectors, results": lambda path: ["vectors", "check", path, "--against", path],
}


@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb.__name__.strip("_"))
@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_file_is_refused_shortly_and_in_bounded_memory(
    tailroom: Tailroom, tmp_path: Path, command: str, bomb: Callable[[Path], None]
) -> None:
    path = tmp_path / "given"
    bomb(path)
    tracemalloc.start()
    ended = tailroom(*COMMANDS[command](path))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert ended.status == 2, ended.errors
    assert str(path.name) in ended.errors
    assert len(ended.errors) < MOST_PRINTED
    assert "bug in tailroom" not in ended.errors
    assert "\x1b" not in ended.errors
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


def test_a_quote_is_short_and_shows_control_characters() -> None:
    assert quoted("a\x1b[2J\nb") == r"a\x1b[2J\nb"
    assert len(quoted("x" * 10**6)) == LONGEST_QUOTE
    assert quoted(json.dumps("x" * 10)) == '"xxxxxxxxxx"'
