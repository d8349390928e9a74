"""Reference results: of ns-2 and of a hardware switch.

`ns2.csv`: means and sample standard deviations of ns-2.35 runs on the papers' scenarios, by case
("S1 1250" is Barman's Figure 3 with a buffer of 1250 packets, counted as ns-2 does, with the one in
transmission); docs/validation/ns2.md tells how they were made.

`tofino.csv`: percentiles of the queue that packets see in a Tofino switch, published with Spang,
Arslan and McKeown, "Updating the Theory of Buffer Sizing" (IFIP Performance 2021), repository
brucespang/ifip21-buffer-sizing, file notebooks/generalized_test.csv, under the Apache License 2.0
(`tofino_license.txt`); columns dropped, rows sorted, values unchanged.
"""

from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv

NS2 = Path(__file__).with_name("ns2.csv")
TOFINO = Path(__file__).with_name("tofino.csv")


def ns2(prefix: str = "") -> pa.Table:
    """Returns ns-2's rows whose case begins with `prefix`, as in "S1 "; columns as in the file."""
    table = csv.read_csv(NS2)
    return table.filter(pa.array([case.startswith(prefix) for case in table["case"].to_pylist()]))


def ns2_row(case: str) -> dict[str, Any] | None:
    """Returns ns-2's row with exactly this case; `None` if there is none."""
    return next((row for row in ns2(case).to_pylist() if row["case"] == case), None)


def tofino() -> pa.Table:
    """A row for each number of flows, control and buffer; columns as in the file."""
    return csv.read_csv(TOFINO)
