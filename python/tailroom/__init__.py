"""How much buffer a link needs, and what each choice costs.

    import tailroom as tr

    result = tr.run("scenario.toml")
    result.links["bottleneck"]["utilization"]

A scenario may be a TOML file or be built in Python from the classes of
`tailroom.scenario_types`, which carry the keys of the file, their documentation and their types.
"""

from tailroom._engine import (
    AckEvent,
    CaptureError,
    CongestionEvent,
    ControlError,
    RoundEvent,
    RunError,
    ScenarioError,
)
from tailroom.capture import Capture, import_capture
from tailroom.choices import Choice, Choices, choices
from tailroom.cluster import ClusterError
from tailroom.evaluate import Evaluation, evaluate
from tailroom.interrupted import Interrupted
from tailroom.output_directory import OutputDirectoryError
from tailroom.own_controls import CongestionControl
from tailroom.phases import PhaseSpread, phase_check
from tailroom.predict import Predictions, predict, predict_over
from tailroom.result_files import load
from tailroom.results import Result
from tailroom.run import run
from tailroom.scenario_types import Scenario
from tailroom.size import size
from tailroom.size_answer import Size
from tailroom.store import NotWrittenError, Store, StoreError
from tailroom.sweep import SweepProgress, SweepResult, sweep
from tailroom.sweep_plan import Until
from tailroom.warm_up import warm_up

__all__ = [
    "AckEvent",
    "Capture",
    "CaptureError",
    "Choice",
    "Choices",
    "ClusterError",
    "CongestionControl",
    "CongestionEvent",
    "ControlError",
    "Evaluation",
    "Interrupted",
    "NotWrittenError",
    "OutputDirectoryError",
    "PhaseSpread",
    "Predictions",
    "Result",
    "RoundEvent",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Size",
    "Store",
    "StoreError",
    "SweepProgress",
    "SweepResult",
    "Until",
    "choices",
    "evaluate",
    "import_capture",
    "load",
    "phase_check",
    "predict",
    "predict_over",
    "run",
    "size",
    "sweep",
    "warm_up",
]

for _error in (CaptureError, ControlError, RunError, ScenarioError):
    # Named as users import them, which also lets them come back from other processes.
    _error.__module__ = __name__
