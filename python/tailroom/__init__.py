"""How much buffer a link needs, and what each choice costs.

    import tailroom as tr

    result = tr.run("scenario.toml")
    result.links["bottleneck"]["utilization"]

A scenario may be a TOML file or be built in Python from the classes of
`tailroom.scenario_types`, which carry the keys of the file, their documentation and their types.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from tailroom._engine import (
    AckEvent,
    BeginEvent,
    CaptureError,
    CongestionEvent,
    ControlError,
    ControlOutput,
    LostPacketEvent,
    RateSampleEvent,
    RestartEvent,
    RoundEvent,
    RunError,
    ScenarioError,
)

if TYPE_CHECKING:
    from tailroom.capture import Capture, import_capture
    from tailroom.choices import Choice, Choices, choices
    from tailroom.cluster import ClusterError
    from tailroom.evaluate import Evaluation, evaluate
    from tailroom.interrupted import Interrupted
    from tailroom.output_directory import OutputDirectoryError
    from tailroom.own_controls import CongestionControl, RateBasedControl
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
    "Evaluation",
    "Interrupted",
    "LostPacketEvent",
    "NotWrittenError",
    "OutputDirectoryError",
    "PhaseSpread",
    "Predictions",
    "RateBasedControl",
    "RateSampleEvent",
    "RestartEvent",
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

_MODULES = {
    "capture": ("Capture", "import_capture"),
    "choices": ("Choice", "Choices", "choices"),
    "cluster": ("ClusterError",),
    "evaluate": ("Evaluation", "evaluate"),
    "interrupted": ("Interrupted",),
    "output_directory": ("OutputDirectoryError",),
    "own_controls": ("CongestionControl", "RateBasedControl"),
    "phases": ("PhaseSpread", "phase_check"),
    "predict": ("Predictions", "predict", "predict_over"),
    "result_files": ("load",),
    "results": ("Result",),
    "run": ("run",),
    "scenario_types": ("Scenario",),
    "size": ("size",),
    "size_answer": ("Size",),
    "store": ("NotWrittenError", "Store", "StoreError"),
    "sweep": ("SweepProgress", "SweepResult", "sweep"),
    "sweep_plan": ("Until",),
    "warm_up": ("warm_up",),
}
"""The names that are imported when they are first used, by module: NumPy, SciPy and Arrow take
longer to load than a short run takes."""

_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

for _error in (CaptureError, ControlError, RunError, ScenarioError):
    # Named as users import them, which also lets them come back from other processes.
    _error.__module__ = __name__


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """This package, in which `run` is always the function and never the module of that name."""

    def __setattr__(self, name: str, value: object) -> None:
        """Ignores a submodule that the import system binds to the name of a function."""
        if name not in _MODULE_OF or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
