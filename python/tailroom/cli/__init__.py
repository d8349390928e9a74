"""The command `tailroom`: one file per subcommand."""

from tailroom.cli.main import main

__all__ = ["main"]
