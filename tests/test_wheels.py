"""The wheels work in an environment that has neither Rust nor the repository, with the locked
versions of what they require and with the lowest that they allow."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
UV = Path(sys.executable).with_name("uv")
UNREACHABLE = ("network connectivity is disabled", "error sending request", "dns error")
"""What uv says where a package is neither in its cache nor to be had."""

ALL_EXTRAS = "all"
USE_OF_EVERY_DEPENDENCY = """
import tailroom as tr

SHORT = {"duration": "3 s", "measure_from": "1 s"}
LIMITS = {"links.bottleneck.queue.limit": ["20 packets", "80 packets"]}


def main():
    result = tr.run("first", set=SHORT, series_samples=20)
    assert len(result.to_pandas("flow_series")) == result.to_polars("flow_series").height > 0
    assert result._repr_html_().count("<img") == 1
    result.save("run")
    sweep = tr.sweep("first", store="store", grid=LIMITS, seeds=2, set=SHORT)
    assert len(sweep.to_pandas()) == 4
    assert len(sweep.means("utilization")) == 2
    assert len(tr.predict("first").answers) > 10

    from distributed import Client, LocalCluster

    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        far = tr.sweep("first", store="far", grid=LIMITS, seeds=1, set=SHORT, executor=client)
    assert len(far.to_pandas()) == 2


if __name__ == "__main__":
    main()
"""

Installed = Callable[..., "subprocess.CompletedProcess[str]"]


def uv(*arguments: object, environment: Path) -> None:
    """Runs uv; a package that cannot be had skips the test."""
    done = subprocess.run(
        [UV, *map(str, arguments)],
        cwd=REPOSITORY,
        env={
            **os.environ,
            "UV_PROJECT_ENVIRONMENT": str(environment),
            "CARGO_TARGET_DIR": str(REPOSITORY / "target"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and any(words in done.stderr.lower() for words in UNREACHABLE):
        pytest.skip(f"a package is not in uv's cache, and not to be had: {done.stderr[-200:]}")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the wheels of both distributions, built from their source distributions."""
    if not UV.exists():
        pytest.skip("uv is not in this environment; `make setup` installs it")
    directory = tmp_path_factory.mktemp("wheels")
    for package in ("tailroom", "tailroom-atlas", "tailroom-papers"):
        uv("build", "--quiet", "--package", package, "--out-dir", directory,
           environment=directory / "none")  # fmt: skip
    return directory


@pytest.fixture(scope="module")
def environment(wheels: Path) -> Path:
    """An environment with the locked dependencies that are required, and the wheel of tailroom."""
    place = wheels / "environment"
    install_dependencies(place)
    (wheel,) = wheels.glob("tailroom-*.whl")
    install(wheel, place)
    return place


def install_dependencies(environment: Path, *options: str) -> None:
    """Installs the locked dependencies."""
    uv("sync", "--quiet", "--frozen", "--inexact", "--no-dev", "--no-install-workspace", "--python",
       sys.executable, *options, environment=environment)  # fmt: skip


def install(wheel: Path, environment: Path) -> None:
    """Installs a wheel, and checks that what it requires is there."""
    python = environment / "bin" / "python"
    uv("pip", "install", "--quiet", "--no-deps", "--python", python, wheel, environment=environment)
    uv("pip", "check", "--quiet", "--python", python, environment=environment)


@pytest.fixture
def installed(environment: Path, tmp_path: Path) -> Installed:
    """Runs the command that the wheel installs, where no other program is on the path."""

    def call(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [environment / "bin" / "tailroom", *arguments],
            cwd=tmp_path,
            env={"PATH": str(environment / "bin"), "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )

    return call


@pytest.mark.slow
def test_the_wheel_runs_and_sizes_without_rust(installed: Installed) -> None:
    run = installed("run", "first", "--json")
    assert run.returncode == 0, run.stderr
    (link,) = json.loads(run.stdout)["links"].values()
    assert 0 < link["utilization"] <= 1
    question = ("--rate", "10Mbps", "--rtt", "20ms", "--duration", "5 s", "--max-seeds", "4")
    sized = installed("size", *question, "--target", "utilization >= 90%", "--json")
    assert sized.returncode == 0, sized.stderr
    assert json.loads(sized.stdout)


@pytest.mark.slow
def test_commands_name_the_package_to_install_and_work_once_it_is(
    installed: Installed, environment: Path, wheels: Path
) -> None:
    for name, command, printed in (
        ("papers", ["papers"], "barman-2004"),
        ("atlas", ["atlas", "plan"], "core-seconds"),
    ):
        without = installed(*command)
        assert without.returncode == 2
        assert f"pip install tailroom-{name}" in without.stderr
        install_dependencies(environment, "--all-extras")
        (wheel,) = wheels.glob(f"tailroom_{name}-*.whl")
        install(wheel, environment)
        listed = installed(*command)
        assert listed.returncode == 0, listed.stderr
        assert printed in listed.stdout


@pytest.fixture(scope="module")
def lowest(wheels: Path) -> Path:
    """An environment with both wheels, and the lowest versions of what they name."""
    place = wheels / "lowest"
    uv("venv", "--quiet", "--python", sys.executable, place, environment=place)
    (wheel,) = wheels.glob("tailroom-*.whl")
    (papers,) = wheels.glob("tailroom_papers-*.whl")
    uv("pip", "install", "--quiet", "--resolution", "lowest-direct",
       "--python", place / "bin" / "python", f"{wheel}[{ALL_EXTRAS}]", papers,
       environment=place)  # fmt: skip
    return place


@pytest.mark.slow
def test_the_lowest_versions_that_the_wheels_allow_suffice(lowest: Path, tmp_path: Path) -> None:
    def call(*arguments: str) -> str:
        done = subprocess.run(
            [lowest / "bin" / arguments[0], *arguments[1:]],
            cwd=tmp_path,
            env={"PATH": str(lowest / "bin"), "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    (tmp_path / "use.py").write_text(USE_OF_EVERY_DEPENDENCY, encoding="utf-8")
    call("python", "use.py")
    assert json.loads(call("tailroom", "run", "first", "--set", "duration=30s", "--json"))["links"]
    assert "4" in call("tailroom", "results", "store", "--sql", "select count(*) from runs")
    call("tailroom", "plot", "run")
    call("tailroom", "model", "first")
    assert "barman-2004" in call("tailroom", "papers")
