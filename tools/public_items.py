"""The names that the engine's crate shows to others, as a list that a change has to state.

python tools/public_items.py [--write]

Compares what `cargo doc` has just documented, target/doc/tailroom_engine/all.html, with
crates/tailroom-engine/public_items.txt. `--write` writes the file. Modules that only tests and the
other crates of this repository look into are hidden in the documentation, and may change in any
version.

Exit status: 0 if both agree, 1 if a name was added or removed.
"""

import argparse
import os
import re
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
RECORD = REPOSITORY / "crates" / "tailroom-engine" / "public_items.txt"
_ITEM = re.compile(r'<li><a href="(?:[a-z_0-9]+/)*([a-z]+)\.[^"]*">([^<]+)</a></li>')


def documented(page: str) -> list[str]:
    """The items of the crate, `struct link::spec::LinkSpec` say, sorted by path.

    Args:
        page: The text of all.html.
    """
    return [f"{kind} {path}" for path, kind in sorted((p, k) for k, p in _ITEM.findall(page))]


def differences(recorded: list[str], now: list[str]) -> list[str]:
    """A line for each item that only one of both has."""
    added, removed = sorted({*now} - {*recorded}), sorted({*recorded} - {*now})
    return [*(f"added: {item}" for item in added), *(f"removed: {item}" for item in removed)]


def main() -> int:
    """Compares or writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"write {RECORD.name}")
    is_written = parser.parse_args().write
    target = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    page = target / "doc" / "tailroom_engine" / "all.html"
    if not page.exists():
        print(f"{page} does not exist: run cargo doc --no-deps --workspace first", file=sys.stderr)
        return 1
    items = documented(page.read_text(encoding="utf-8"))
    if is_written:
        RECORD.write_text("\n".join(items) + "\n", encoding="utf-8")
        return 0
    lines = differences(RECORD.read_text(encoding="utf-8").split("\n")[:-1], items)
    if lines:
        print(*lines, sep="\n")
        print("If this is meant: python tools/public_items.py --write, and a line in CHANGELOG.md")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
