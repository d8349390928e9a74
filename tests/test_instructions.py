"""The guard of the engine's speed: instructions per packet-hop compared with recorded counts."""

import dataclasses
import re
import subprocess
import sys
from pathlib import Path

import pytest

import instructions
from instructions import Counts, compare

REPOSITORY = Path(__file__).parents[1]

RECORDED = Counts("rustc 1.95.0", "x86_64", {"ten_flows": 500.0, "codel": 800.0})


def counted(**changes: float) -> Counts:
    """The recorded counts with changes."""
    return dataclasses.replace(RECORDED, instructions={**RECORDED.instructions, **changes})


def test_a_rise_of_four_per_cent_fails_and_names_the_case() -> None:
    comparison = compare(counted(codel=832.0), RECORDED)
    assert comparison.has_failed
    (fault,) = (line for line in comparison.lines if "more instructions" in line)
    assert fault == "codel takes 4.0% more instructions than recorded, and 3% are allowed"


@pytest.mark.parametrize("codel", [400.0, 800.0, 823.0])
def test_a_fall_and_a_rise_of_less_than_three_per_cent_pass(codel: float) -> None:
    comparison = compare(counted(codel=codel), RECORDED)
    assert not comparison.has_failed
    assert [line.split()[0] for line in comparison.lines] == ["ten_flows", "codel"]


SLOW = counted(codel=1600.0)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (
            dataclasses.replace(SLOW, compiler="rustc 1.96.0"),
            "another compiler (rustc 1.95.0; here: rustc 1.96.0)",
        ),
        (
            dataclasses.replace(SLOW, architecture="aarch64"),
            "another architecture (x86_64; here: aarch64)",
        ),
    ],
)
def test_another_compiler_or_architecture_is_reported_and_does_not_fail(
    other: Counts, words: str
) -> None:
    assert compare(SLOW, RECORDED).has_failed
    comparison = compare(other, RECORDED)
    assert not comparison.has_failed
    assert any("+100.0%" in line for line in comparison.lines)
    assert words in comparison.lines[-1]


@pytest.mark.parametrize(("codel", "status"), [(800.0, 0), (832.0, 1)])
def test_the_exit_status_says_whether_a_count_has_risen(
    codel: float, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / "instructions.toml"
    RECORDED.save(record)
    monkeypatch.setattr(instructions, "RECORD", record)
    monkeypatch.setattr("shutil.which", lambda _: "/usr/bin/valgrind")
    monkeypatch.setattr(instructions, "build_engine_benchmark", lambda _: Path("program"))
    monkeypatch.setattr(instructions, "count_all", lambda _: counted(codel=codel))
    monkeypatch.setattr("sys.argv", ["instructions.py"])
    assert instructions.main() == status
    monkeypatch.setattr("sys.argv", ["instructions.py", "--update"])
    assert instructions.main() == 0
    assert Counts.load(record) == counted(codel=codel)


def test_a_case_that_the_file_does_not_have_fails_and_the_remedy_is_named() -> None:
    comparison = compare(counted(fair=1700.0), RECORDED)
    assert comparison.has_failed
    assert comparison.lines[-1] == (
        "fair is not in instructions.toml: run this script with --update"
    )


def test_a_case_that_the_benchmark_no_longer_has_fails() -> None:
    left = dataclasses.replace(RECORDED, instructions={"ten_flows": 500.0})
    comparison = compare(left, RECORDED)
    assert comparison.has_failed
    assert comparison.lines[-1].startswith("codel is in instructions.toml and not in the benchmark")


def test_counts_are_read_as_they_were_written(tmp_path: Path) -> None:
    RECORDED.save(tmp_path / "counts.toml")
    assert Counts.load(tmp_path / "counts.toml") == RECORDED


def test_the_recorded_file_has_the_cases_of_the_benchmark() -> None:
    source = REPOSITORY / "crates/tailroom-engine/benches/instructions.rs"
    recorded = Counts.load(instructions.RECORD)
    text = source.read_text(encoding="utf-8")
    cases = text[text.index("vec![") :]
    assert re.findall(r'^ +\("(\w+)", ', cases, re.MULTILINE) == list(recorded.instructions)
    assert all(100 < count < 5000 for count in recorded.instructions.values())


def test_without_valgrind_the_script_says_so_with_a_status_of_its_own(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, instructions.__file__],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == instructions.TOOL_IS_MISSING
    assert "valgrind is not installed" in done.stdout


@pytest.mark.slow
def test_no_case_takes_three_per_cent_more_instructions_than_recorded() -> None:
    done = subprocess.run(
        [sys.executable, instructions.__file__], capture_output=True, text=True, check=False
    )
    if done.returncode == instructions.TOOL_IS_MISSING:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
