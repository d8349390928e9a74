"""Every exception that tailroom raises for its callers.

All derive from `TailroomError`, except `Interrupted`, which is a `KeyboardInterrupt`.
"""


class TailroomError(Exception):
    """Base class of tailroom's errors; the message names the place and the remedy."""


class WrongInputError(TailroomError):
    """Base class of errors in what the caller gave: a file, a key, an argument."""


class ScenarioError(WrongInputError, ValueError):
    """The scenario is wrong; the message has one line per problem, with its place and remedy."""


class CaptureError(WrongInputError, ValueError):
    """The file is not a capture of TCP traffic; the message says what it is."""


class FlowListError(WrongInputError, ValueError):
    """The list of flows cannot be written there."""


class MetricError(WrongInputError, ValueError):
    """No metric, or more than one, has this name; the message lists names."""


class TargetError(WrongInputError, ValueError):
    """A target is malformed, impossible, or contradicts another target."""


class QueryError(WrongInputError, ValueError):
    """The SQL query is wrong; the message is DuckDB's."""


class PaperError(WrongInputError, ValueError):
    """No paper or part of a paper has this name; the message lists names."""


class OutputDirectoryError(WrongInputError, ValueError):
    """The directory for results is occupied or cannot be written."""


class StoreError(WrongInputError, ValueError):
    """The directory is not a store of results, or cannot be used."""


class ClusterError(WrongInputError, RuntimeError):
    """The cluster cannot perform the runs; the message names the machine and the reason."""


class MissingLibraryError(WrongInputError, ImportError):
    """An optional library is not installed; the message names the extra that installs it."""


class NotWrittenError(TailroomError, OSError):
    """A file of the store cannot be written, for example on a full disk; finished runs are kept."""


class NotApplicableError(TailroomError):
    """The model makes no prediction for this scenario; the message names the reason."""


class RunError(TailroomError, RuntimeError):
    """The run failed."""


class ControlError(RunError):
    """A congestion control written in Python raised an exception, which is the `__cause__`."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a long piece of work; `known` holds what is known so far.

    `known` has the type that the function would have returned: for `tailroom.sweep` it is a
    `SweepResult` with the runs that are finished.
    """

    def __init__(self, known: object) -> None:
        """Keeps what is known."""
        super().__init__()
        self.known = known
