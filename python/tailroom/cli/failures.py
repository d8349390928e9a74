"""Errors of a command: one message, one exit status, no traceback."""

import errno
import os
import shlex
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import typer

from tailroom.arguments import named_as_options
from tailroom.errors import (
    ControlError,
    Interrupted,
    NotWrittenError,
    OutputError,
    RunError,
    ScenarioError,
    WrongInputError,
)
from tailroom.libraries import named_if_missing
from tailroom.quoting import quoted, shown
from tailroom.scenario.custom_controls import without_own_frames

RUN_FAILED = 1
TABLE_WRONG = 1
"""`headroom --check` found something wrong in a table."""
VECTOR_MISSED = 1
"""`vectors check` found an expectation that results do not meet."""
INPUT_WRONG = 2
OWN_CONTROL_FAILED = 3
NO_BUFFER = 4
"""`size` found no buffer that meets every target."""
INTERRUPTED = 130  # 128 + SIGINT, as shells report it

SHOW_TRACEBACK = "TAILROOM_TRACEBACK"
"""Environment variable: if set, unexpected exceptions print a traceback."""


class InputError(WrongInputError, ValueError):
    """An argument of the command line is wrong; the message names the remedy."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C after the work; the message says what is complete, and how to continue."""


def this_command(*more: str) -> str:
    """Returns the running command with more arguments, quoted for a shell."""
    return shlex.join(["tailroom", *sys.argv[1:], *more])


@contextmanager
def reported(
    show_known: Callable[[Any], str] | None = None,
) -> Iterator[None]:
    """Ends the command with a message and an exit status if the block raises.

    Args:
        show_known: Called if Ctrl-C interrupts work with an intermediate result (`Interrupted`).
            Prints the intermediate result and returns the end of the message: how to continue.
    """
    try:
        with named_as_options(), named_if_missing():
            yield
    except ScenarioError as error:
        _end(_per_line(error), INPUT_WRONG, error)
    except (WrongInputError, UnicodeEncodeError) as error:
        problem = _not_unicode(error) if isinstance(error, UnicodeEncodeError) else error
        _end(f"error: {problem}", INPUT_WRONG, error)
    except ControlError as error:
        _show_cause(error)
        _end(f"error: {error}", OWN_CONTROL_FAILED, error)
    except (RunError, MemoryError) as error:
        _end(f"error: {_failure(error)}", RUN_FAILED, error)
    except OutputError as error:
        _end(_per_line(error), RUN_FAILED, error)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _end(f"error: {place}{error.strerror or error}; {_kept(error)}", RUN_FAILED, error)
    except KeyboardInterrupt as error:
        remedy = f": {error}" if isinstance(error, Stopped) else ""
        if show_known and isinstance(error, Interrupted):
            with suppress(KeyboardInterrupt):  # a second Ctrl-C ends at once
                remedy = f": {show_known(error.known)}"
        _end(f"interrupted{remedy}", INTERRUPTED, error)
    except (SystemExit, typer.Exit):
        raise
    except BaseException as error:
        if SHOW_TRACEBACK in os.environ:
            raise
        if sys.stdout.closed:
            _end(
                "error: standard output was closed during the work, for example by a congestion "
                "control of your own, so the answer cannot be printed",
                RUN_FAILED,
                error,
            )
        _end(
            f"error: {type(error).__name__}: {error}; this is a bug in tailroom: please report it "
            f"with the traceback that {SHOW_TRACEBACK}=1 shows",
            RUN_FAILED,
            error,
        )


def _per_line(error: Exception) -> str:
    """The message with a problem per line."""
    return "\n".join(f"error: {problem}" for problem in str(error).splitlines())


def _failure(error: RunError | MemoryError) -> str:
    """What failed; Python says nothing of memory that is missing."""
    if isinstance(error, RunError):
        return f"the run failed: {error}"
    what = f" ({error})" if str(error) else ""
    return f"the memory is not enough{what}; free some, or raise the limit of the process"


def _not_unicode(error: UnicodeEncodeError) -> str:
    """Says which text of the command line cannot be encoded."""
    given, wrong = (ascii(text)[1:-1] for text in (error.object, error.object[error.start]))
    return f"{quoted(given)}: the character {wrong} is not Unicode; leave it out"


def _kept(error: OSError) -> str:
    if isinstance(error, NotWrittenError):
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        remedy = "free disk space" if is_full else "make it writable"
        return f"the runs written before are kept: {remedy}, then give the same command again"
    return "nothing was kept"


def _show_cause(error: ControlError) -> None:
    cause = error.__cause__
    if cause:
        trace = without_own_frames(cause.__traceback__)
        lines = traceback.format_exception(type(cause), cause, trace)
        print(shown("".join(lines)), end="", file=sys.stderr)


def _end(message: str, status: int, cause: BaseException) -> None:
    print(shown(message), file=sys.stderr)
    raise typer.Exit(status) from cause
