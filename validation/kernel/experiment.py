"""The description of an experiment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Experiment:
    """A scenario of tailroom that is run between two hosts of the kernel.

    The simulator runs the same scenario. Here it may have one link, from host A to host B, and a
    second one from B to A; under congestion control, bulk flows and flows with `objects` with
    `start`, `stop`, `rtt` and `ecn`, and finite flows of one `rtt`; and the links may have all
    keys. The kernel's own sender takes the place of the other keys of flows.

    Attributes:
        name: Name of the file of the results, without its suffix.
        scenario: The text of the scenario, in TOML.
        controls: The kernel's congestion control of a group, where its name is not that of the
            scenario's control (`bbr1` is the kernel's `bbr`).
        repetitions: Number of runs; the scenario's seed counts them from 1.
        is_coarse: Whether connections are sampled once a second and queues ten times, and the times
            of drops are left out: a tenth of the bytes.
    """

    name: str
    scenario: str
    controls: Mapping[str, str] = field(default_factory=dict)
    repetitions: int = 3
    is_coarse: bool = False

    @classmethod
    def read(
        cls, path: Path, controls: Mapping[str, str] | None = None, repetitions: int = 3
    ) -> "Experiment":
        """Read the scenario of an experiment.

        Args:
            path: The scenario file, after which the experiment is named.
            controls: As [`Experiment.controls`].
            repetitions: Number of runs.
        """
        return cls(path.stem, path.read_text(encoding="utf-8"), dict(controls or {}), repetitions)
