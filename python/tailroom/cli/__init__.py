"""The command `tailroom`: one file per subcommand."""

import sys

from tailroom.cli import streams

INTERRUPTED = 130  # 128 + SIGINT, as shells report it


def main() -> None:
    """Runs the command line of this process, and ends the process."""
    status: str | int | None = 0
    streams.prepare()
    try:
        # Ctrl-C may come while modules are imported.
        from tailroom.cli.main import run_command_line  # noqa: PLC0415

        run_command_line()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        status = INTERRUPTED
    except SystemExit as ended:
        status = ended.code
    except OSError as error:  # of the help; commands report their errors themselves
        print(f"error: {error}", file=sys.stderr)
        status = 1
    sys.exit(_flushed(status))


def _flushed(status: str | int | None) -> str | int | None:
    """Writes what is left in the buffer of standard output; returns the exit status."""
    try:
        if not sys.stdout.closed:
            sys.stdout.flush()
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return status or 1
    return status


__all__ = ["main"]
