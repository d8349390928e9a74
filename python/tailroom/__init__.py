"""How much buffer a link needs, and what each choice costs.

    import tailroom as tr

    result = tr.run("scenario.toml")
    result.links["bottleneck"]["utilization"]

A scenario is a TOML file or a `Scenario`; `tailroom.scenario.types` describes its tables: the keys
of the file, their documentation and their types.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from tailroom._engine import (
    AckEvent,
    BeginEvent,
    CongestionEvent,
    ControlOutput,
    LostPacketEvent,
    RateSampleEvent,
    RestartEvent,
    RoundEvent,
    build,
)
from tailroom.errors import (
    ArgumentError,
    CaptureError,
    ClusterError,
    ControlError,
    ExploreError,
    FlowListError,
    Interrupted,
    MetricError,
    MissingLibraryError,
    NotApplicableError,
    NotWrittenError,
    OutputDirectoryError,
    OutputError,
    PaperError,
    QueryError,
    RunError,
    ScenarioError,
    StoreError,
    TailroomError,
    TailroomWarning,
    TargetError,
    WrongInputError,
)

if TYPE_CHECKING:
    from tailroom.buffer_atlas.data import Atlas, atlas
    from tailroom.execution.progress import RunProgress
    from tailroom.models.model import Requirement
    from tailroom.scenario.axis import Axis
    from tailroom.scenario.custom_controls import CongestionControl, RateBasedControl
    from tailroom.scenario.dumbbell import dumbbell
    from tailroom.scenario.scenario import Scenario
    from tailroom.simulation.engine_run import run
    from tailroom.simulation.result import Result
    from tailroom.statistics.intervals import Interval
    from tailroom.storage.result_directory import load
    from tailroom.storage.store import Store
    from tailroom.studies.choice_study.answer import Choice, Choices
    from tailroom.studies.choice_study.study import choices
    from tailroom.studies.phases import PhaseSpread, phase_check
    from tailroom.studies.prediction import Curves, Predictions, predict, predict_over
    from tailroom.studies.report_card.evaluation import Evaluation, evaluate
    from tailroom.studies.size_study.answer import Size
    from tailroom.studies.size_study.study import size
    from tailroom.studies.size_study.targets import Target
    from tailroom.studies.sweep_study.plan import Precision
    from tailroom.studies.sweep_study.study import SweepResult, sweep
    from tailroom.studies.warm_up_time import warm_up
    from tailroom.traffic_import.capture import Capture, import_capture

__all__ = [
    "AckEvent",
    "ArgumentError",
    "Atlas",
    "Axis",
    "BeginEvent",
    "Capture",
    "CaptureError",
    "Choice",
    "Choices",
    "ClusterError",
    "CongestionControl",
    "CongestionEvent",
    "ControlError",
    "ControlOutput",
    "Curves",
    "Evaluation",
    "ExploreError",
    "FlowListError",
    "Interrupted",
    "Interval",
    "LostPacketEvent",
    "MetricError",
    "MissingLibraryError",
    "NotApplicableError",
    "NotWrittenError",
    "OutputDirectoryError",
    "OutputError",
    "PaperError",
    "PhaseSpread",
    "Precision",
    "Predictions",
    "QueryError",
    "RateBasedControl",
    "RateSampleEvent",
    "Requirement",
    "RestartEvent",
    "Result",
    "RoundEvent",
    "RunError",
    "RunProgress",
    "Scenario",
    "ScenarioError",
    "Size",
    "Store",
    "StoreError",
    "SweepResult",
    "TailroomError",
    "TailroomWarning",
    "Target",
    "TargetError",
    "WrongInputError",
    "__version__",
    "atlas",
    "choices",
    "dumbbell",
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

__version__ = build().partition("+")[0]

_MODULES = {
    "buffer_atlas.data": ("Atlas", "atlas"),
    "execution.progress": ("RunProgress",),
    "models.model": ("Requirement",),
    "scenario.axis": ("Axis",),
    "scenario.custom_controls": ("CongestionControl", "RateBasedControl"),
    "scenario.dumbbell": ("dumbbell",),
    "scenario.scenario": ("Scenario",),
    "simulation.engine_run": ("run",),
    "simulation.result": ("Result",),
    "statistics.intervals": ("Interval",),
    "storage.result_directory": ("load",),
    "storage.store": ("Store",),
    "studies.choice_study.answer": ("Choice", "Choices"),
    "studies.choice_study.study": ("choices",),
    "studies.phases": ("PhaseSpread", "phase_check"),
    "studies.prediction": ("Curves", "Predictions", "predict", "predict_over"),
    "studies.report_card.evaluation": ("Evaluation", "evaluate"),
    "studies.size_study.answer": ("Size",),
    "studies.size_study.study": ("size",),
    "studies.size_study.targets": ("Target",),
    "studies.sweep_study.plan": ("Precision",),
    "studies.sweep_study.study": ("SweepResult", "sweep"),
    "studies.warm_up_time": ("warm_up",),
    "traffic_import.capture": ("Capture", "import_capture"),
}
"""The names that are imported when they are first used, by module: NumPy, SciPy and Arrow take
longer to load than a short run takes."""

_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
