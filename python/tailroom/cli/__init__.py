"""The command `tailroom`: one file per subcommand."""

import os
import sys

INTERRUPTED = 130  # 128 + SIGINT, as shells report it


def main() -> None:
    """Runs the command line of this process, and ends the process."""
    status: str | int | None = 0
    try:
        # Ctrl-C may come while modules are imported.
        from tailroom.cli.main import run_command_line  # noqa: PLC0415

        run_command_line()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        status = INTERRUPTED
    except OSError as error:  # of the help; commands report their errors themselves
        print(f"error: {error.strerror or error}", file=sys.stderr)
        status = 1
    except SystemExit as ended:
        status = ended.code
    sys.exit(_flushed(status))


def _flushed(status: str | int | None) -> str | int | None:
    """Writes what is left in the buffer of standard output; returns the exit status.

    Python itself would print an exception here if nobody reads the output any more.
    """
    try:
        if sys.stdout and not sys.stdout.closed:
            sys.stdout.flush()
        return status
    except BrokenPipeError:
        problem = ""
    except OSError as error:
        problem = f"error: standard output: {error.strerror}; the answer is incomplete"
    if problem:
        print(problem, file=sys.stderr)
    # Python flushes again when it ends.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status or 1


__all__ = ["main"]
