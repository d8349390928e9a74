"""The files of the repository, as git lists them."""

import subprocess
from pathlib import Path, PurePosixPath

import pytest

REPOSITORY = Path(__file__).parents[1]


def tracked_files(*arguments: str) -> list[PurePosixPath]:
    """The files that `git ls-files` lists; outside a repository of git, the test is skipped.

    Args:
        arguments: Patterns and options of `git ls-files`.
    """
    listed = subprocess.run(
        ["git", "ls-files", *arguments],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not in a repository of git")
    return [PurePosixPath(name) for name in listed.stdout.splitlines()]
