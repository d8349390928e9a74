"""Runs validations; the exit status says whether all goals were met.

    python -m tests.validation [NAME ...] [OPTION ...]

Without names, all of `NAMES` are run. The options are those of the named programs.
"""

import sys
from collections.abc import Sequence
from importlib import import_module

NAMES = (
    *("ns2", "fhstcp", "tofino", "l4s_tests", "traffic", "buffer_rules", "fixed_points", "bursts"),
    *("sawtooth", "window_laws", "yang", "packetdrill"),
    *("two_way.layouts", "two_way.codel", "l4s.curves", "kernel", "exact", "coverage"),
    *("size_confidence", "store", "papers", "transcripts"),
)


def main(arguments: Sequence[str]) -> int:
    """Runs validations, one after the other; 0 if all goals were met."""
    options_from = next((at for at, word in enumerate(arguments) if word[0] == "-"), None)
    names = arguments[:options_from] or NAMES
    if unknown := sorted({*names} - {*NAMES}):
        sys.exit(f"{', '.join(unknown)}: no such validation; choose from {', '.join(NAMES)}")
    options = [] if options_from is None else arguments[options_from:]
    programs = [import_module(f"tests.validation.{name}") for name in names]
    return max(int(program.main(options)) for program in programs)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
