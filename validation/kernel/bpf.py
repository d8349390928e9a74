"""Congestion controls of this folder in the kernel, and the records of their callbacks.

The sources in `controls` are compiled by clang, and libbpf, the kernel's own library, loads them.
They are registered only while [`registered`] lasts, and vanish with the process however it ends.
"""

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import exp, floor, log
from pathlib import Path

SOURCES = Path(__file__).parent / "controls"
TYPES = Path("/sys/kernel/btf/vmlinux")
LIBRARY = "libbpf.so.1"
HEADERS = "bpf/bpf_helpers.h"
COMPILERS = ("clang", *(f"clang-{version}" for version in range(22, 13, -1)))
STRUCT_OPS_MAP = 26  # BPF_MAP_TYPE_STRUCT_OPS in linux/bpf.h
STRUCT_OPS_ATTACHMENT = 44  # BPF_STRUCT_OPS in linux/bpf.h
ENDS_WITH_PROCESS = 1 << 13  # BPF_F_LINK in linux/bpf.h
WORDS = 35
"""Words of 32 bits of a record after its time."""

MOST_PACKETS = 2048
"""Windows of the table of FHSTCP; larger than any of the recordings."""

Record = tuple[int, ...]


class ControlsError(Exception):
    """Controls that cannot be compiled or registered."""


def compiler() -> str | None:
    """Return the path of a clang that compiles for BPF, if there is one."""
    found = (shutil.which(name) for name in COMPILERS)
    return next((path for path in found if path), None)


def missing() -> str | None:
    """Return what this machine lacks for controls in the kernel; `None` if it lacks nothing."""
    lacks = [] if compiler() else ["clang"]
    try:
        ctypes.CDLL(LIBRARY)
    except OSError:
        lacks.append(f"{LIBRARY} (libbpf)")
    if not _include_directories():
        lacks.append(f"the header {HEADERS} (libbpf-dev)")
    if not TYPES.exists():
        lacks.append(f"a kernel with {TYPES}")
    return f"controls in the kernel need {', '.join(lacks)}" if lacks else None


def _include_directories() -> list[Path]:
    places = [Path("/usr/include"), Path("/usr/local/include")]
    if not any((place / HEADERS).exists() for place in places):
        return []
    # linux/types.h includes asm/types.h, which Debian keeps in a directory of the processor.
    return [*places, *Path("/usr/include").glob("*-linux-gnu*")]


def highspeed_decrease(window: int) -> float:
    """Return b(w) of RFC 3649 sec. 5.

    Args:
        window: The window w, in packets.
    """
    if window <= 38:
        return 0.5
    return 0.5 - 0.4 * (log(window) - log(38)) / (log(83_000) - log(38))


def highspeed_rows() -> list[tuple[int, int, int]]:
    """Return the table of RFC 3649 appendix B without its last row: w, a(w) and 256 b(w).

    A new row starts where a(w) = w^2 p(w) 2 b(w) / (2 - b(w)) exceeds that of the row before by
    more than 1, with p(w) = 1 / (12.8 w^1.2).
    """
    rows, last = [(38, 1.0)], 1.0
    for window in range(39, 100_001):
        decrease = highspeed_decrease(window)
        increase = window**0.8 * 2 * decrease / (2 - decrease) / 12.8
        if increase > last + 1:
            rows.append((window, increase))
            last = increase
    return [
        (window, floor(increase), floor(256 * highspeed_decrease(window)))
        for window, increase in rows[:-1]
    ]


def highspeed_responses() -> list[tuple[int, int]]:
    """Return a(w) and 1 - b(w) of RFC 3649 sec. 5 at every window, in 2^-16.

    A window of 38 packets meets one loss in 1,000 packets and one of 83,000 a loss in 10^7; between
    them the logarithm of the loss fraction is linear in the logarithm of the window.
    """
    responses = []
    for window in range(MOST_PACKETS):
        decrease = highspeed_decrease(window)
        increase = 1.0
        if window > 38:
            position = log(window / 38) / log(83_000 / 38)
            loss_fraction = exp(position * log(1e-7 / 1e-3) + log(1e-3))
            increase = max(window**2 * loss_fraction * 2 * decrease / (2 - decrease), 1.0)
        responses.append((round(increase * 2**16), round((1 - decrease) * 2**16)))
    return responses


def _write_tables(directory: Path) -> None:
    tables: dict[str, Sequence[tuple[int, ...]]] = {
        "highspeed_table.h": highspeed_rows(),
        "highspeed_response.h": highspeed_responses(),
    }
    for name, rows in tables.items():
        lines = ("{" + ", ".join(map(str, row)) + "},\n" for row in rows)
        (directory / name).write_text("".join(lines), encoding="utf-8")


def compile_controls(source: str, directory: Path) -> Path:
    """Compile a file of `controls` and return the object.

    Args:
        source: Name of the file, without `.bpf.c`.
        directory: Where the object is written.

    Raises:
        ControlsError: The compiler refuses the file.
    """
    lack = missing()
    if lack is not None:
        raise ControlsError(lack)
    _write_tables(directory)
    out = directory / f"{source}.bpf.o"
    includes = [f"-I{place}" for place in (directory, *_include_directories())]
    command = [str(compiler()), "-g", "-O2", "-mcpu=v3", "-target", "bpf", "-Wall", "-Werror"]
    compiled = subprocess.run(
        [*command, *includes, "-c", str(SOURCES / f"{source}.bpf.c"), "-o", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    if compiled.returncode != 0:
        raise ControlsError(f"{source}.bpf.c cannot be compiled:\n{compiled.stderr}")
    return out


@contextmanager
def registered(sources: Sequence[str]) -> Iterator[Callable[[], list[Record]]]:
    """Register the controls of some files while the context lasts.

    Yields a function that returns the records of all callbacks so far, each the time in nanoseconds
    of the monotonic clock and the words of `struct record`.

    Args:
        sources: Names of files of `controls`, without `.bpf.c`.

    Raises:
        ControlsError: The kernel or the compiler refuses a control, or records were lost.
    """
    loaded: list[_Loaded] = []
    try:
        with tempfile.TemporaryDirectory(prefix="tailroom-controls-") as directory:
            for source in sources:
                loaded.append(_Loaded(_library(), compile_controls(source, Path(directory))))
                loaded[-1].register()
        yield lambda: [record for one in loaded for record in one.records()]
    finally:
        for one in loaded:
            one.close()


_SAMPLE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_PRINT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(LIBRARY, use_errno=True)
    pointers = (
        "bpf_object__open_file",
        "bpf_object__next_map",
        "bpf_object__find_map_by_name",
        "bpf_map__attach_struct_ops",
        "bpf_map__initial_value",
        "ring_buffer__new",
    )
    for name in pointers:
        getattr(library, name).restype = ctypes.c_void_p
    return library


class _Record(ctypes.Structure):
    _fields_ = (("time_ns", ctypes.c_uint64), ("words", ctypes.c_uint32 * WORDS))


class _Loaded:
    """A compiled file in the kernel."""

    def __init__(self, library: ctypes.CDLL, path: Path) -> None:
        self._library = library
        self._name = path.name
        self._links: list[int] = []
        self._attached: list[int] = []
        self._records: list[Record] = []
        self._ring = 0
        self._receive = _SAMPLE(self._on_record)
        self._object = self._pointer("open", library.bpf_object__open_file(_text(path), None))
        for control in self._controls():
            library.bpf_map__set_map_flags(ctypes.c_void_p(control), ENDS_WITH_PROCESS)

    def _pointer(self, what: str, pointer: int | None) -> int:
        error = -(pointer or 0) if -4096 < (pointer or 0) < 0 else ctypes.get_errno()
        if not pointer or pointer > 2**64 - 4096:
            raise ControlsError(f"{self._name}: {what} failed with error {error}")
        return pointer

    def _controls(self) -> Iterator[int]:
        last: int | None = None
        while last := self._library.bpf_object__next_map(
            ctypes.c_void_p(self._object), ctypes.c_void_p(last)
        ):
            if self._library.bpf_map__type(ctypes.c_void_p(last)) == STRUCT_OPS_MAP:
                yield last

    def register(self) -> None:
        library = self._library
        problem = library.bpf_object__load(ctypes.c_void_p(self._object))
        if problem:
            raise ControlsError(f"{self._name}: the kernel refuses it (error {-problem})")
        find = library.bpf_object__find_map_by_name
        ring = ctypes.c_void_p(find(ctypes.c_void_p(self._object), b"records"))
        ring_fd = library.bpf_map__fd(ring)
        self._ring = self._pointer(
            "the ring buffer", library.ring_buffer__new(ring_fd, self._receive, None, None)
        )
        for control in self._controls():
            self._attach(ctypes.c_void_p(control))

    def _attach(self, control: ctypes.c_void_p) -> None:
        """Register a control for as long as this process keeps a file descriptor of it.

        Args:
            control: The map of the control.

        Raises:
            ControlsError: The kernel refuses it.
        """
        attached = self._library.bpf_map__attach_struct_ops(control)
        self._attached.append(self._pointer("registering", attached))
        if not self._is_old:
            return
        # Before version 1.2 libbpf fills in the control and leaves this step out.
        link = self._library.bpf_link_create(
            self._library.bpf_map__fd(control), 0, STRUCT_OPS_ATTACHMENT, None
        )
        if link < 0:
            raise ControlsError(f"{self._name}: registering failed with error {-link}")
        self._links.append(link)

    @property
    def _is_old(self) -> bool:
        library = self._library
        return (library.libbpf_major_version(), library.libbpf_minor_version()) < (1, 2)

    def _on_record(self, _context: int, data: int, _size: int) -> int:
        record = _Record.from_address(data)
        self._records.append((record.time_ns, *record.words))
        return 0

    def records(self) -> list[Record]:
        self._library.ring_buffer__consume(ctypes.c_void_p(self._ring))
        if self._lost_records():
            raise ControlsError(f"{self._name}: {self._lost_records()} records were lost")
        taken, self._records = self._records, []
        return taken

    def _lost_records(self) -> int:
        """The one global variable of a file."""
        find = self._library.bpf_object__find_map_by_name
        variables = find(ctypes.c_void_p(self._object), b".bss")
        size = ctypes.c_size_t()
        value = self._library.bpf_map__initial_value(ctypes.c_void_p(variables), ctypes.byref(size))
        return ctypes.c_uint64.from_address(value).value

    def close(self) -> None:
        if self._ring:
            self._library.ring_buffer__free(ctypes.c_void_p(self._ring))
        for link in self._links:
            os.close(link)
        if not self._is_old:
            for attached in self._attached:
                self._library.bpf_link__destroy(ctypes.c_void_p(attached))
        self._library.bpf_object__close(ctypes.c_void_p(self._object))


def _text(path: Path) -> bytes:
    return str(path).encode()
