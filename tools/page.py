"""Builds the page of `tailroom explore` into the Python package.

python tools/page.py [--if-possible]

The engine becomes WebAssembly, `tools/bind_page` writes what loads it (page/wasm), and
npm builds the page into python/tailroom/explore/page. With `--if-possible`, what is missing is said
in one line, and is no error.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PAGE = REPOSITORY / "page"
TARGET = "wasm32-unknown-unknown"
OLDEST_NODE = 20
MODULE = REPOSITORY / "target" / TARGET / "release" / "tailroom_web.wasm"


def missing() -> str:
    """Returns all that has to be installed before the page can be built; empty if all is there."""
    needed = []
    node = _output("node", "--version")
    version = re.match(r"v(\d+)", node or "")
    if version is None or int(version[1]) < OLDEST_NODE or not shutil.which("npm"):
        needed.append(f"node {OLDEST_NODE} or newer, with npm")
    libraries = Path((_output("rustc", "--print", "sysroot") or "").strip()) / "lib/rustlib"
    if not (libraries / TARGET).is_dir():
        needed.append(f"Rust's target for the browser: rustup target add {TARGET}")
    return ", and ".join(needed)


def _output(*command: str) -> str | None:
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None


def build() -> None:
    """Builds engine and page; what is up to date is not built again."""
    _run("cargo", "build", "--quiet", "--package=tailroom-web", f"--target={TARGET}",
         "--release", "--locked")  # fmt: skip
    _run("cargo", "run", "--quiet", "--locked",
         "--manifest-path=tools/bind_page/Cargo.toml", "--target-dir=target/bind-page",
         "--", str(MODULE), str(PAGE / "wasm"))  # fmt: skip
    if _is_older(PAGE / "node_modules/.package-lock.json", PAGE / "package-lock.json"):
        _run("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(PAGE))
    _run("npm", "run", "build", "--silent", "--prefix", str(PAGE), "--", "--logLevel=warn")


def _run(*command: str) -> None:
    subprocess.run(command, check=True, cwd=REPOSITORY, env={**os.environ, "CI": "1"})


def _is_older(made: Path, source: Path) -> bool:
    return not made.exists() or made.stat().st_mtime < source.stat().st_mtime


def main(arguments: list[str]) -> int:
    """Builds the page, if everything that it needs is installed."""
    if_possible = arguments == ["--if-possible"]
    needed = missing()
    if needed:
        print(f"The page of `tailroom explore` is not built; it needs {needed}")
        return 0 if if_possible else 1
    try:
        build()
    except subprocess.CalledProcessError as error:
        print(f"The page of `tailroom explore` is not built: {error.cmd[0]} failed")
        return 0 if if_possible else 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
