"""Recordings of the Linux kernel's TCP at a link under tailroom's queue disciplines.

What records needs Linux and root, and lies here; what compares tailroom with the recordings runs on
any machine, and lies in `tests/validation`.
"""

from validation.kernel.experiment import Experiment
from validation.kernel.harness import missing, record
from validation.kernel.summary import FlowSummary, Recovery, RunSummary, recovery, summarize

__all__ = [
    "Experiment",
    "FlowSummary",
    "Recovery",
    "RunSummary",
    "missing",
    "record",
    "recovery",
    "summarize",
]
