"""What the shell completes, and that bash, zsh and fish do."""

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tailroom.models import MODELS
from tailroom.scenario import scenario_text
from tests.conftest import Completed

COMMANDS = Path(sys.executable).parent
"""Directory of the command `tailroom`."""

TWO_LINKS = """\
duration = "4 s"

[links.up]
rate = "10 Mbit/s"
delay = "5 ms"
queue = { kind = "drop_tail", limit = "20 packets" }

[links.down]
rate = "10 Mbit/s"
delay = "5 ms"
queue = { kind = "red", limit = "20 packets" }

[flows.reno]
path = ["up", "down"]
congestion = { kind = "cubic" }
rtt = "20 ms"

[flows.pages]
path = ["down"]
congestion = "cubic"
rtt = "20 ms"
source = { kind = "objects", size = "20 kB", arrivals_per_second = 5.0 }
"""


@pytest.fixture
def two_links(tmp_path: Path) -> str:
    path = tmp_path / "two-links.toml"
    path.write_text(TWO_LINKS, encoding="utf-8")
    return str(path)


def test_commands_and_options_are_completed(completed: Completed) -> None:
    assert completed("tailroom", "s") == ["size", "sweep", "schema"]
    assert {"--set", "--seed"} <= set(completed("tailroom", "run", "--se"))


@pytest.mark.parametrize("command", ["run", "size", "sweep", "model", "compare"])
def test_names_of_scenarios_are_completed(completed: Completed, command: str) -> None:
    assert completed("tailroom", command, "fir") == ["first"]
    assert "barman-2004/figure-3" in completed("tailroom", command, "barman")


def test_toml_files_are_completed_in_subdirectories(
    completed: Completed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("mine/deep/one.toml", "mine/two.toml", "mine/notes.txt", "with spaces.toml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert completed("tailroom", "run", "mi") == ["mine/deep/", "mine/two.toml"]
    assert completed("tailroom", "run", "mine/d") == ["mine/deep/one.toml"]
    assert completed("tailroom", "run", f"{tmp_path}/mine/t") == [f"{tmp_path}/mine/two.toml"]
    assert completed("tailroom", "run", "with") == ["with\\ spaces.toml"]
    assert completed("tailroom", "run", "with", shell="fish") == ["with spaces.toml"]


def test_keys_have_the_names_of_the_links_and_groups(completed: Completed, two_links: str) -> None:
    assert completed("tailroom", "run", two_links, "--set", "links.") == [
        "links.up.",
        "links.down.",
    ]
    assert completed("tailroom", "run", two_links, "--set", "flows.") == [
        "flows.reno.",
        "flows.pages.",
    ]
    assert "flows.reno.rtt=" in completed("tailroom", "sweep", two_links, "--grid", "flows.reno.r")


def test_keys_of_a_component_are_those_of_its_kind(completed: Completed, two_links: str) -> None:
    up = completed("tailroom", "run", two_links, "--set", "links.up.queue.")
    assert up == ["links.up.queue.kind=", "links.up.queue.limit="]
    down = completed("tailroom", "run", two_links, "--set", "links.down.queue.m")
    assert "links.down.queue.min_threshold=" in down
    cubic = completed("tailroom", "run", two_links, "--set", "flows.reno.congestion.")
    assert "flows.reno.congestion.fast_convergence=" in cubic


@pytest.mark.parametrize(
    ("key", "start", "offered"),
    [
        ("flows.reno.congestion", "bb", ["bbr1", "bbr3"]),
        ("flows.reno.congestion.kind", "bb", ["bbr1", "bbr3"]),
        ("links.up.queue.kind", "fq", ["fq_codel", "fq_pie"]),
        ("links.up.queue", "fq", ["fq_codel", "fq_pie"]),
        ("flows.reno.congestion.fast_convergence", "", ["true", "false"]),
        ("flows.reno.send_jitter", "", ["auto", "none"]),
        ("flows.reno.ecn", "c", ["classic"]),
        ("links.up.rate", "", []),
    ],
)
def test_the_words_that_a_key_takes_are_completed(
    completed: Completed, two_links: str, key: str, start: str, offered: list[str]
) -> None:
    at_once = completed("tailroom", "run", two_links, "--set", f"{key}={start}", shell="fish")
    assert at_once == [f"{key}={word}" for word in offered]
    # bash splits words at equals signs, and replaces the last of the words
    assert completed("tailroom", "run", two_links, "--set", key, "=", start) == offered


def test_each_value_of_an_axis_is_completed(completed: Completed, two_links: str) -> None:
    values = completed("tailroom", "run", two_links, "--vary", "links.up.queue.kind", "=", "pie,fq")
    assert values == ["pie,fq_codel", "pie,fq_pie"]


UTILIZATIONS = ["utilization", "utilization_without_duplicates"]


def test_metrics_of_a_single_link_have_short_names(completed: Completed) -> None:
    for words in (
        ("size", "first", "--target"),
        ("sweep", "first", "--metric"),
        ("sweep", "first", "--until"),
        ("run", "first", "--metric"),
    ):
        assert completed("tailroom", *words, "util") == UTILIZATIONS


def test_metrics_of_several_links_and_groups_name_them(
    completed: Completed, two_links: str
) -> None:
    offered = completed("tailroom", "run", two_links, "--metric", "")
    assert {"up.utilization", "down.utilization", "reno.goodput_bps"} <= set(offered)
    assert "utilization" not in offered
    whole = completed("tailroom", "run", two_links, "--metric", "links.down.disc")
    assert "links.down.discipline_state.average_queue_packets" in whole


def test_code_that_is_not_allowed_leaves_the_metrics_of_links(
    completed: Completed, two_links: str
) -> None:
    path = Path(two_links)
    path.write_text(TWO_LINKS.replace('"cubic" }', '"own:Control" }'), encoding="utf-8")
    assert completed("tailroom", "run", two_links, "--metric", "util") == UTILIZATIONS


def test_a_completed_metric_is_accepted(completed: Completed, two_links: str) -> None:
    from tailroom.scenario.scenario import Scenario  # noqa: PLC0415
    from tailroom.simulation.metrics import full_names  # noqa: PLC0415

    offered = completed("tailroom", "run", two_links, "--metric", "")
    measured = [one for one in offered if "discipline_state" not in one]
    assert len(full_names(Scenario.of(two_links, {}), measured)) == len(measured) > 100


def test_models_papers_controls_and_kinds_are_completed(completed: Completed) -> None:
    assert completed("tailroom", "model", "first", "--model", "") == list(MODELS)
    assert completed("tailroom", "papers", "run", "barm") == ["barman-2004"]
    assert "3" in completed("tailroom", "papers", "run", "barman-2004", "--figure", "")
    cell = "mobile-40Mbit-40-80ms-4-cubic-pie"
    assert completed("tailroom", "atlas", "show", cell[:-2]) == [cell]
    assert completed("tailroom", "evaluate", "bb") == ["bbr1", "bbr3"]
    assert completed("tailroom", "headroom", "--asic", "tofino") == ["tofino-1", "tofino-2"]
    assert completed("tailroom", "headroom", "--table", "sn56") == ["sn5600", "sn5640"]
    assert completed("tailroom", "headroom", "--speed", "80") == ["800G"]
    assert completed("tailroom", "size", "--congestion", "cub") == ["cubic"]
    assert completed("tailroom", "list", "sc") == ["scenarios"]
    assert completed("tailroom", "size", "first", "--link", "b") == ["bottleneck"]


def test_sweeps_of_a_store_are_completed(completed: Completed, tmp_path: Path) -> None:
    (tmp_path / "sweeps").mkdir()
    record = {"id": "a1b2", "scenario": "first", "axes": {"links.bottleneck.rate": []}}
    (tmp_path / "sweeps" / "a1b2.json").write_text(json.dumps(record), encoding="utf-8")
    store = str(tmp_path)
    assert completed("tailroom", "results", store, "--sweep", "") == ["a1b2"]
    assert completed("tailroom", "plot", store, "--x", "l") == ["links.bottleneck.rate"]
    assert completed("tailroom", "results", store, "--metric", "util") == UTILIZATIONS


@pytest.mark.parametrize("text", ["x = [", "\x00", "links = 3", ""])
def test_a_broken_scenario_completes_nothing_and_says_nothing(
    completed: Completed, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "broken.toml"
    path.write_text(text, encoding="utf-8")
    for option in ("--set", "--metric", "--vary"):
        assert completed("tailroom", "run", str(path), option, "links.") == []
    assert completed("tailroom", "run", "nowhere.toml", "--set", "links.") == []


def test_a_scenario_that_is_too_large_to_run_completes_nothing(
    completed: Completed, two_links: str
) -> None:
    with Path(two_links).open("a", encoding="utf-8") as file:
        file.write(f"# {'x' * scenario_text.LARGEST_BYTES}\n")
    assert completed("tailroom", "run", two_links, "--set", "links.") == []


def test_a_scenario_with_a_mark_of_byte_order_is_completed(
    completed: Completed, tmp_path: Path
) -> None:
    path = tmp_path / "marked.toml"
    path.write_text(TWO_LINKS, encoding="utf-8-sig")
    offered = completed("tailroom", "run", str(path), "--set", "links.")
    assert offered == ["links.up.", "links.down."]


def test_a_word_that_goes_on_gets_no_space(completed: Completed) -> None:
    # A shell adds a space to a single completion only.
    assert completed("tailroom", "run", "first", "--set", "seed") == ["seed=", "seed=..."]
    assert completed("tailroom", "run", "first", "--set", "seed", shell="fish") == ["seed="]


START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source {script}"),
    "zsh": (["zsh", "-f", "-i"], "autoload -U compinit; compinit -D -u; source {script}"),
}
TYPED = {
    "run fir": "run first",
    "run home-router --set ser": "run home-router --set series.interval=",
    "run home-router --set links.down.queue.kind=fq_c": "links.down.queue.kind=fq_codel",
    'size first --target "util': '--target "utilization',
}


@pytest.fixture
def script(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """What `tailroom --show-completion` prints in a shell."""
    shell = request.node.callspec.params["shell"]
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run(
        [COMMANDS / "tailroom"],
        env={**os.environ, "_TAILROOM_COMPLETE": f"source_{shell}"},
        capture_output=True,
        text=True,
        check=True,
    )
    path = tmp_path / f"completion.{shell}"
    path.write_text(done.stdout, encoding="utf-8")
    return path


@pytest.mark.parametrize("shell", START)
def test_the_shell_completes_what_is_typed(shell: str, script: Path) -> None:
    arguments, start = START[shell]
    for typed, expected in TYPED.items():
        shown = _typed_into(arguments, start.format(script=script), f"tailroom {typed}\t", expected)
        assert expected in shown, shown


@pytest.mark.parametrize("shell", ["fish"])
def test_fish_completes_what_is_typed(shell: str, script: Path) -> None:
    asked = ("run fir", "run home-router --set links.down.queue.kind=fq_c")
    words = [f"source {script}", *(f"complete -C 'tailroom {one}'" for one in asked)]
    done = subprocess.run(
        [shell, "--no-config", "-c", "; ".join(words)],
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["first", "links.down.queue.kind=fq_codel"]


def _environment() -> dict[str, str]:
    path = f"{COMMANDS}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "TERM": "dumb", "COLUMNS": "200", "PS1": "$ "}


def _typed_into(arguments: list[str], start: str, typed: str, expected: str) -> str:
    """What a terminal shows once the shell has completed the command, or after two minutes."""
    process, terminal = pty.fork()
    if process == 0:
        os.execvpe(arguments[0], arguments, _environment())
    shown = ""

    def wait_for(text: str) -> None:
        nonlocal shown
        latest = time.monotonic() + 120
        while text not in shown and time.monotonic() < latest:
            if select.select([terminal], [], [], 0.2)[0]:
                shown += re.sub(r"[\a\b]", "", os.read(terminal, 65536).decode(errors="replace"))

    try:
        # The quotation marks keep the echo of the command from looking like its output.
        os.write(terminal, f"{start}; echo rea''dy\n".encode())
        wait_for("ready\r")
        shown = ""
        os.write(terminal, typed.encode())
        wait_for(expected)
    finally:
        os.kill(process, 9)
        os.waitpid(process, 0)
        os.close(terminal)
    return shown
