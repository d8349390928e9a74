"""Runs every validation; the exit status says whether all goals were met.

Arguments go to the comparison with ns-2, and leave out the others.
"""

import sys

from tests.validation import (
    buffer_rules,
    bursts,
    coverage,
    exact,
    fhstcp,
    fixed_points,
    kernel,
    l4s_tests,
    ns2,
    papers,
    size_confidence,
    store,
    tofino,
    traffic,
    transcripts,
)
from tests.validation.two_way import codel, layouts

if __name__ == "__main__":
    ended = [ns2.main(sys.argv[1:])]
    if len(sys.argv) == 1:
        ended += [fhstcp.main(), tofino.main([]), l4s_tests.main([])]
        ended += [traffic.main(), buffer_rules.main(), fixed_points.main(), bursts.main([])]
        ended += [layouts.compare(), codel.main(), kernel.main(), exact.main()]
        ended += [
            coverage.main(),
            size_confidence.main(),
            store.main(),
            papers.main(),
            transcripts.main(),
        ]
    sys.exit(max(ended))
