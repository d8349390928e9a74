"""The program that replays recordings of the kernel through tailroom's controls and sender."""

import json
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = "tailroom-kernel-replay"


@cache
def program() -> Path:
    """Build the program that replays, unless it is up to date, and return its path.

    The package with the bindings is named because its features are then those of the engine here
    too, which `make package` has compiled; nothing of the bindings is built.

    Raises:
        subprocess.CalledProcessError: It cannot be built.
    """
    built = subprocess.run(
        [
            *("cargo", "build", "--locked", "--profile", "editable", "--message-format", "json"),
            *("--package", "tailroom-python", "--package", PACKAGE, "--bin", PACKAGE),
        ],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    programs = (json.loads(line).get("executable") for line in built.stdout.splitlines())
    return Path(next(path for path in programs if path))
