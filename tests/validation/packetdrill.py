"""Linux's own tests of its TCP sender (packetdrill scripts), on tailroom's sender.

The scripts are not part of this repository. Whoever validates gives folders that hold them, in
`--scripts` or in TAILROOM_PACKETDRILL (separated as in PATH):

* `gtests/net/tcp` of https://github.com/google/packetdrill;
* `tools/testing/selftests/net/packetdrill` of the Linux kernel.

`packetdrill.csv` has the outcome of each script, and why; the run fails if one changes. Without
scripts, this program prints the list. docs/validation/packetdrill.md shows it.

    python -m tests.validation.packetdrill [--scripts DIR[:DIR]] [--write]
"""

import argparse
import csv
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.validation.frame import ROOT
from validation.packetdrill.run import Outcome, judge

RECORDED = Path(__file__).with_suffix(".csv")
PAGE = ROOT / "docs/validation/packetdrill.md"
HEADINGS = ("script", "outcome", "reason")
ROOTS = ("tcp", "packetdrill")
"""Folders whose name does not tell scripts apart."""
NOT_EXPLAINED = "not explained yet"
INTRODUCTION = """\
# Linux's own tests of its sender

[packetdrill](https://github.com/google/packetdrill) scripts say which packets reach a host and
when, and which it must send. Those for the Linux kernel's TCP run here on tailroom's sender
instead, as `host = "linux"` sets it up. Compared are the times (within 4 ms), the order and the
sequence numbers of all data packets, and what the scripts assert of `tcp_info`: window, `ssthresh`,
state, and the packets unacknowledged, sacked, lost and retransmitted. What tailroom's sender
does not have, such as `tcpi_reordering`, is not compared; a script passes up to a command that
tailroom cannot follow.

The scripts are not part of tailroom. With a checkout of them:

```sh
TAILROOM_PACKETDRILL=packetdrill/gtests/net/tcp:linux/tools/testing/selftests/net/packetdrill \\
    python -m tests.validation packetdrill
```

The run fails if the outcome of a script is not the one in `tests/validation/packetdrill.csv`, from
which this page is printed. Their facts in other words and numbers, and facts that no script tests,
are [vectors](../guide/vectors.md) of the set `linux`, which need no script.
"""
SELFTESTS = """\
`tools/testing/selftests/net/packetdrill` as posted up to January 2026. All but `tcp_accecn_*`,
`tcp_basic_*`, `tcp_dsack_mult` and `tcp_inq_server` are Google's with other paths. Not run, since
they are about handshakes, receivers and sizes of packets: `tcp_fastopen_*`, `tcp_rcv_*`,
`tcp_ooo*`, `tcp_advmss_pmtu_*`, `tcp_rto_synack_rto_max`, `tcp_disorder_fin_in_FIN_WAIT` and
`tcp_close_no_rst`.
"""


@dataclass(frozen=True)
class Row:
    """A script, and what is expected of it."""

    script: str
    outcome: str
    reason: str


def recorded() -> dict[str, Row]:
    """The list, by script."""
    lines = RECORDED.read_text(encoding="utf-8").splitlines()
    return {row[0]: Row(*row) for row in csv.reader(lines[1:])}


def scripts(folders: Sequence[Path]) -> dict[str, Path]:
    """The scripts in folders, by folder and name."""
    found = sorted(path for folder in folders for path in folder.rglob("*.pkt"))
    return {_name(path): path for path in found}


def _name(path: Path) -> str:
    parts = path.with_suffix("").parts
    tops = [at for at, part in enumerate(parts) if part in ROOTS]
    named = parts[tops[-1] + 1 :] if tops else parts[-1:]
    return "/".join(named)


def changes(expected: Mapping[str, Row], found: Mapping[str, Outcome]) -> Iterator[str]:
    """What is not as the list says."""
    for name, outcome in found.items():
        row = expected.get(name)
        detail = f": {outcome.detail}" if outcome.detail else ""
        if row is None:
            yield f"{name}: is not in {RECORDED.name}; {outcome.kind}{detail}"
        elif row.outcome != outcome.kind:
            yield f"{name}: {outcome.kind}{detail}; {RECORDED.name} says that it {row.outcome}"


def renewed(expected: Mapping[str, Row], found: Mapping[str, Outcome]) -> list[Row]:
    """The list with the outcomes; reasons of differences are kept, and new ones must be written."""
    rows = dict(expected)
    for name, outcome in found.items():
        before = expected.get(name)
        reason = outcome.detail
        if outcome.kind == "differs":
            is_known = before is not None and before.outcome == "differs"
            reason = before.reason if before and is_known else NOT_EXPLAINED
        rows[name] = Row(name, outcome.kind, reason)
    return [rows[name] for name in sorted(rows)]


def page(rows: Sequence[Row]) -> str:
    """docs/validation/packetdrill.md."""
    of_kernel = [row for row in rows if "/" not in row.script]
    others = [row for row in rows if "/" in row.script]
    lines = [
        INTRODUCTION,
        "## Google's scripts",
        "",
        "google/packetdrill at 2c4001c.",
        *_section(others),
        "",
        "## The kernel's selftests",
        "",
        SELFTESTS,
        *_section(of_kernel),
    ]
    return "\n".join(lines) + "\n"


def _section(rows: Sequence[Row]) -> Iterator[str]:
    expressible = [row for row in rows if row.outcome in ("passes", "differs")]
    passing = sum(row.outcome == "passes" for row in expressible)
    yield from (f"{passing} of the {len(expressible)} scripts that can be expressed pass.", "")
    yield from ("| script | outcome |", "| --- | --- |")
    for row in expressible:
        outcome = f"{row.outcome}: {row.reason}" if row.reason else row.outcome
        yield f"| `{row.script}` | {outcome} |"
    others = [row for row in rows if row.outcome == "cannot be expressed"]
    yield ""
    yield f"{len(others)} others are about something that a sender of data here does not have:"
    yield from ("", "| what they need | scripts |", "| --- | --- |")
    for reason in sorted({row.reason for row in others}):
        names = [row.script for row in others if row.reason == reason]
        shown = ", ".join(f"`{name}`" for name in names[:4])
        more = f" and {len(names) - 4} more" if len(names) > 4 else ""
        yield f"| {reason} | {shown}{more} |"


def write(rows: Sequence[Row]) -> None:
    """Writes the list and the page."""
    with RECORDED.open("w", encoding="utf-8", newline="") as file:
        table = [(row.script, row.outcome, row.reason) for row in rows]
        csv.writer(file, lineterminator="\n").writerows([HEADINGS, *table])
    PAGE.write_text(page(rows), encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Runs all scripts; 0 if each has the outcome of the list."""
    parser = argparse.ArgumentParser(prog="tests.validation.packetdrill")
    parser.add_argument("--scripts", default=os.environ.get("TAILROOM_PACKETDRILL"))
    parser.add_argument("--write", action="store_true", help="renew the list and the page")
    given, _ = parser.parse_known_args(arguments)
    expected = recorded() if RECORDED.exists() else {}
    if not given.scripts:
        print("packetdrill: no --scripts (TAILROOM_PACKETDRILL); as recorded:")
        for kind, count in sorted(Counter(row.outcome for row in expected.values()).items()):
            print(f"  {count} {kind}")
        return 0
    folders = [Path(folder) for folder in given.scripts.split(os.pathsep)]
    found = {name: judge(path) for name, path in scripts(folders).items()}
    for name, outcome in found.items():
        if outcome.kind != "cannot be expressed":
            print(f"{name}: {outcome.kind} {outcome.detail}".rstrip())
    if given.write:
        write(renewed(expected, found))
        return 0
    faults = [*changes(expected, found)]
    for fault in faults or ["packetdrill: every outcome is as recorded"]:
        print(fault)
    return int(bool(faults) or not found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
