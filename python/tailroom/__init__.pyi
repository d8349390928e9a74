# The public names of the package, from the modules that define them.
# ruff: noqa: I001 - a name a statement would triple the lines

from tailroom._engine import (
    AckEvent as AckEvent,
    BeginEvent as BeginEvent,
    CongestionEvent as CongestionEvent,
    ControlOutput as ControlOutput,
    FlowRequest as FlowRequest,
    LinkInfo as LinkInfo,
    LostPacketEvent as LostPacketEvent,
    QueueList as QueueList,
    QueuePacket as QueuePacket,
    QueueState as QueueState,
    RateSampleEvent as RateSampleEvent,
    RestartEvent as RestartEvent,
    RoundEvent as RoundEvent,
    Seen as Seen,
    SeenFlow as SeenFlow,
    SeenLink as SeenLink,
    SourceInfo as SourceInfo,
)
from tailroom.buffer_atlas.data import Atlas as Atlas, atlas as atlas
from tailroom.errors import (
    ArgumentError as ArgumentError,
    CaptureError as CaptureError,
    ClusterError as ClusterError,
    ControlError as ControlError,
    ExploreError as ExploreError,
    FlowListError as FlowListError,
    HeadroomTableError as HeadroomTableError,
    Interrupted as Interrupted,
    MeasurementError as MeasurementError,
    MetricError as MetricError,
    MissingLibraryError as MissingLibraryError,
    NotApplicableError as NotApplicableError,
    NotWrittenError as NotWrittenError,
    OutputDirectoryError as OutputDirectoryError,
    OutputError as OutputError,
    QueryError as QueryError,
    RunError as RunError,
    ScenarioError as ScenarioError,
    StoreError as StoreError,
    TailroomError as TailroomError,
    TailroomWarning as TailroomWarning,
    TargetError as TargetError,
    VectorFileError as VectorFileError,
    WrongInputError as WrongInputError,
)
from tailroom.execution.progress import RunProgress as RunProgress
from tailroom.measurements.buffer_estimate import (
    BufferEstimate as BufferEstimate,
    Condition as Condition,
)
from tailroom.measurements.samples import Measurement as Measurement
from tailroom.models.model import Requirement as Requirement
from tailroom.pfc_headroom.calculate import headroom as headroom
from tailroom.pfc_headroom.check import (
    HeadroomCheck as HeadroomCheck,
    check_headroom as check_headroom,
)
from tailroom.pfc_headroom.result import Headroom as Headroom
from tailroom.scenario.axis import Axis as Axis
from tailroom.scenario.custom_controls import (
    CongestionControl as CongestionControl,
    RateBasedControl as RateBasedControl,
)
from tailroom.scenario.custom_disciplines import (
    QueueRule as QueueRule,
    QueueScheduler as QueueScheduler,
)
from tailroom.scenario.custom_sources import (
    FlowSource as FlowSource,
    PacketSource as PacketSource,
)
from tailroom.scenario.dumbbell import dumbbell as dumbbell
from tailroom.scenario.own_parameters import Range as Range
from tailroom.scenario.scenario import Scenario as Scenario
from tailroom.simulation.action_log import Action as Action, ActionLog as ActionLog
from tailroom.simulation.any_result import AnyResult as AnyResult
from tailroom.simulation.engine_run import run as run
from tailroom.simulation.progress import Progress as Progress
from tailroom.simulation.result import Result as Result
from tailroom.simulation.stepping import Simulation as Simulation
from tailroom.statistics.intervals import Interval as Interval
from tailroom.storage.result_directory import load as load
from tailroom.storage.store import Store as Store
from tailroom.studies.choice_study.answer import Choice as Choice, Choices as Choices
from tailroom.studies.choice_study.study import choices as choices
from tailroom.studies.headroom_run import (
    SimulatedHeadroom as SimulatedHeadroom,
    simulate_headroom as simulate_headroom,
)
from tailroom.studies.measured_comparison import (
    MeasuredComparison as MeasuredComparison,
    compare_measured as compare_measured,
)
from tailroom.studies.phases import PhaseSpread as PhaseSpread, phase_check as phase_check
from tailroom.studies.prediction import (
    Curves as Curves,
    Predictions as Predictions,
    predict as predict,
    predict_over as predict_over,
)
from tailroom.studies.report_card.evaluation import Evaluation as Evaluation, evaluate as evaluate
from tailroom.studies.size_study.answer import Size as Size
from tailroom.studies.size_study.frontier import Frontier as Frontier, frontier as frontier
from tailroom.studies.size_study.study import size as size
from tailroom.studies.size_study.targets import Target as Target
from tailroom.studies.sweep_study.plan import Precision as Precision
from tailroom.studies.sweep_study.study import SweepResult as SweepResult, sweep as sweep
from tailroom.studies.warm_up_time import warm_up as warm_up
from tailroom.traffic_import.capture import Capture as Capture, import_capture as import_capture

__all__: list[str]
__version__: str
_MODULE_OF: dict[str, str]
