"""Checks the crates of every workspace by deny.toml, with cargo-deny.

python tools/deny.py [--if-installed]

Licences, sources and versions are checked from the lock files alone. Known faults (advisories) need
the database of RustSec; where it cannot be reached, one line says that they are not checked. With
`--if-installed`, one line says that cargo-deny is absent, and that is no error.
"""

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
WORKSPACES = (
    *(".", "fuzz", "validation/kernel/link", "tools/bind_page", "benchmarks/limit"),
    "examples/quinn-link",
)
"""Every directory with a lock file of Cargo."""
WITHOUT_NETWORK = ("licenses", "sources", "bans")
FETCH_S = 60
"""How long the database of advisories is waited for."""


def is_installed() -> bool:
    """Returns whether cargo-deny is at hand."""
    try:
        command = ["cargo", "deny", "--version"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def checks() -> tuple[str, ...]:
    """Returns what can be checked here, and says what cannot."""
    fetch = ["cargo", "deny", "fetch", "db"]
    try:
        subprocess.run(fetch, cwd=REPOSITORY, check=True, capture_output=True, timeout=FETCH_S)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        print("Advisories are not checked: the database of RustSec cannot be reached")
        return WITHOUT_NETWORK
    return (*WITHOUT_NETWORK, "advisories")


def check(workspace: str, what: tuple[str, ...]) -> bool:
    """Checks the crates of a workspace.

    Args:
        workspace: Its directory, from the repository's root.
        what: The checks of cargo-deny.

    Returns:
        Whether all of them hold; what does not is printed.
    """
    print(f"{workspace}: {', '.join(what)}", flush=True)
    manifest = REPOSITORY / workspace / "Cargo.toml"
    command = ["cargo", "deny", "--locked", "--all-features", f"--manifest-path={manifest}"]
    config = REPOSITORY / "deny.toml"
    command += [f"--config={config}", "check", *what]
    return subprocess.run(command, check=False).returncode == 0


def main(arguments: list[str]) -> int:
    """Checks all workspaces, if cargo-deny is installed."""
    if not is_installed():
        print("The crates are not checked: cargo install cargo-deny --locked")
        return 0 if arguments == ["--if-installed"] else 1
    what = checks()
    failed = [workspace for workspace in WORKSPACES if not check(workspace, what)]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
