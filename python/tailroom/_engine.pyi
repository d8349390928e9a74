"""The engine, as compiled from crates/tailroom-python."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, TypeAlias, TypedDict, type_check_only

from numpy.typing import NDArray

__all__ = [
    "CaptureError",
    "RunError",
    "ScenarioError",
    "components",
    "import_capture",
    "resolve",
    "run",
    "schema",
]

_Columns: TypeAlias = dict[str, NDArray[Any]]

@type_check_only
class _Answer(TypedDict):
    summary: str
    scenario: str
    link_series: _Columns | None
    flow_series: _Columns | None
    packet_log: _Columns | None
    flow_counts: _Columns
    flow_log: _Columns | None

@type_check_only
class _Capture(TypedDict):
    columns: _Columns
    flow: list[str]
    packets: int
    unseen_bytes: int
    skipped: list[tuple[str, int]]
    broken: tuple[int, str] | None

class CaptureError(ValueError): ...
class ScenarioError(ValueError): ...
class RunError(RuntimeError): ...

def run(
    text: str,
    base_directory: str | PathLike[str],
    overrides: Sequence[tuple[str, str]],
    seed: int | None = None,
    progress: Callable[[float, float], object] | None = None,
) -> _Answer: ...
def import_capture(path: str | PathLike[str], window_ns: int) -> _Capture: ...
def resolve(
    text: str,
    base_directory: str | PathLike[str],
    overrides: Sequence[tuple[str, str]],
    seed: int | None = None,
) -> str: ...
def schema() -> str: ...
def components() -> str: ...
