"""The exceptions that tailroom defines.

All derive from `TailroomError`, except `Interrupted`, which is a `KeyboardInterrupt`.
"""


class TailroomError(Exception):
    """Base class of tailroom's errors; a message names the place, the problem and the remedy."""


class TailroomWarning(UserWarning):
    """What a reader of results should know before trusting them: a warning of a run."""


class WrongInputError(TailroomError):
    """Base class of errors in the input: a file, a key of a scenario, an argument."""


class ScenarioError(WrongInputError, ValueError):
    """The scenario is wrong; the message has one line per problem."""


class ArgumentError(WrongInputError, ValueError):
    """An argument of a function has the wrong type, is out of range, or names nothing known."""


class CaptureError(WrongInputError, ValueError):
    """The capture cannot be read, or has no TCP flows of the wanted kind."""


class MeasurementError(WrongInputError, ValueError):
    """The file of a measurement cannot be read, or is none of flent, iperf3 or ss."""


class FlowListError(WrongInputError, ValueError):
    """The list of flows cannot be read or written."""


class MetricError(WrongInputError, ValueError):
    """No metric or more than one metric has this name; the message lists names."""


class TargetError(WrongInputError, ValueError):
    """A target is malformed or impossible, or contradicts another target."""


class QueryError(WrongInputError, ValueError):
    """The SQL query is wrong; the message is DuckDB's."""


class OutputDirectoryError(WrongInputError, ValueError):
    """The output directory has content already, or cannot be written."""


class OutputError(TailroomError, OSError):
    """Results cannot be written although the work is done; the message says where they are."""


class StoreError(WrongInputError, ValueError):
    """The directory is not a store, or cannot be read or written."""


class HeadroomTableError(WrongInputError, ValueError):
    """A table of PFC headrooms is damaged; the message names file, line and what is expected."""


class VectorFileError(WrongInputError, ValueError):
    """A file of vectors or of results is wrong; the message names file and key."""


class ClusterError(WrongInputError, RuntimeError):
    """The cluster or executor cannot perform the runs; the message names the machine."""


class ExploreError(WrongInputError, RuntimeError):
    """The page cannot be served: no free port, no page, or files too large for it."""


class MissingLibraryError(WrongInputError, ImportError):
    """An optional library is not installed; the message names the extra that installs it."""


class NotWrittenError(TailroomError, OSError):
    """A file of the store cannot be written, for example on a full disk; earlier ones are kept."""


class NotApplicableError(TailroomError):
    """The model makes no prediction for this scenario; the message names the reason."""


class RunError(TailroomError, RuntimeError):
    """A run failed, for example for lack of memory."""


class ControlError(RunError):
    """Code of the user's own failed in a run: a control, a discipline or a source.

    It raised an exception, the `__cause__`, or it returned what is not allowed, without a cause.
    """


class Interrupted(KeyboardInterrupt):
    """The user ended a study with Ctrl-C; `known` is the result so far.

    `known` has the type that the function returns: for `tailroom.sweep` it is a `SweepResult` with
    the finished runs, for `tailroom.size` a `Size`.
    """

    def __init__(self, known: object) -> None:
        """Takes the result so far."""
        super().__init__()
        self.known = known
        """The result so far."""
