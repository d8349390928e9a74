"""What all commands share on the terminal: one notation of losses, colours that words repeat."""

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

import tailroom as tr
from tailroom.cli import phases, size_report
from tailroom.cli.blocks import Column, print_block
from tailroom.cli.sentences import say
from tailroom.studies.size_study.known import Evidence
from tailroom.written_numbers import two_digits
from tests.conftest import Tailroom

pytestmark = pytest.mark.usefixtures("quick_models")

LIMITS = "links.bottleneck.queue.limit=5 packets, 20 packets"
COMMANDS = {
    "run": (),
    "choices": ("--vary", LIMITS, "--seeds", 2),
    "sweep": ("--grid", LIMITS, "--seeds", 2),
    "model": (),
    "curves": ("--over", LIMITS, "--seeds", 2),
    "compare": ("--seeds", 2),
    "size": ("--target", "utilization >= 50%", "--max-seeds", 4),
}
NAMES = {"choices": "run", "curves": "model"}
"""Commands that have several forms."""


@pytest.mark.parametrize("form", COMMANDS)
def test_a_loss_is_a_percentage(
    tailroom: Tailroom,
    small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    form: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = tailroom(NAMES.get(form, form), small, *COMMANDS[form])
    assert ended.status == 0, ended.errors
    assert "loss" in ended.output.lower()
    assert re.search(r"\d%", ended.output)
    assert not re.search(r"\de-\d\d", ended.output)


@pytest.mark.parametrize(
    ("is_terminal", "no_color", "is_coloured"),
    [(True, "", True), (True, "1", False), (False, "", False)],
)
def test_colours_are_for_terminals_and_words_for_all(
    small: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_terminal: bool,
    no_color: str,
    is_coloured: bool,
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    found = tr.size(small, ["utilization >= 50%"], max_seeds=4, workers=1)
    text = io.StringIO()
    console = Console(file=text, force_terminal=is_terminal, width=80)
    size_report.show(found, console, explain=True)
    green = "\x1b[32m"
    assert (f"{green}meets all" in text.getvalue()) is is_coloured
    assert (f"{green}╭" in text.getvalue()) is is_coloured
    assert "meets all" in text.getvalue()


def test_an_answer_whose_own_runs_miss_a_target_says_what_decides(small: Path) -> None:
    """Where no fitted mean stands next to the verdict."""
    found = tr.size(small, ["utilization >= 50%"], max_seeds=4, workers=1)
    assert found.chosen
    found.chosen.fitted.clear()
    found.chosen.evidence[found.targets[0]] = Evidence.FIT
    text = io.StringIO()
    for bound in (0.5, 1.0):
        target = replace(found.targets[0], metric="links.bottleneck.utilization", bound=bound)
        one = replace(found, feasible=(replace(found.feasible[0], target=target),))
        size_report.show(one, Console(file=text, width=200))
    assert text.getvalue().count("runs decides") == 1


PHRASES = ["95.12%\n+1.2%\n-3.4%", "9.00%\n±0.5%", "-"]


def printed_at(width: int, columns: int) -> str:
    """A table of several columns of means with intervals, as a terminal of this width shows it."""
    text = io.StringIO()
    shown = [Column(f"metric\nnumber {place}", PHRASES) for place in range(columns)]
    names = [Column("limit", ["5 packets", "20 packets", "80 packets"])]
    print_block(Console(file=text, width=width), "A title", names, shown)
    return text.getvalue()


def test_a_mean_and_its_interval_share_a_line_where_120_columns_have_room() -> None:
    at_80, at_120 = printed_at(80, 4).splitlines(), printed_at(120, 4).splitlines()
    assert max(map(len, at_80)) <= 80 < max(map(len, at_120)) <= 120
    assert not any("95.12% +1.2% -3.4%" in line for line in at_80)
    [row] = [line for line in at_120 if line.startswith("5 packets")]
    assert row.count("95.12% +1.2% -3.4%") == 4
    # A line per row, and a heading of one line where the column is wide enough.
    assert len(at_120) < len(at_80)
    assert "metric number 3" in printed_at(120, 4)
    # Means stand below each other, so that they can be compared.
    [other] = [line for line in at_120 if line.startswith("20 packets")]
    assert [row.index("95.12%") + 1] == [other.index("9.00%")]


def test_intervals_keep_their_lines_where_one_table_cannot_hold_them() -> None:
    assert "+1.2% -3.4%" not in printed_at(120, 6)
    assert printed_at(120, 6).count("A title") == 1


@pytest.mark.parametrize("width", [80, 120])
def test_curves_of_models_take_the_form_with_fewer_tables(
    tailroom: Tailroom, small: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    few = tailroom("model", small, "--over", LIMITS, "--seeds", 2).output
    assert "continued" not in few
    assert max(map(len, few.splitlines())) <= width
    # The same numbers in either form.
    many = tailroom("model", small, "--over", f"{LIMITS}, {', '.join(f'{n} B' for n in MANY)}")
    assert many.status == 0
    assert "buffer" in many.output
    assert max(map(len, many.output.splitlines())) <= width


PARTED = re.compile(
    r"\d\s*\n\s*(?:[kMGT]?bit/s|[kMGT]?B|[mu]?s|bdp|packets?|runs?|seeds?|flows?|%)(?![\w/])"
)
"""A number at the end of a line, and its unit at the beginning of the next."""


@pytest.mark.parametrize("width", range(40, 90, 7))
@pytest.mark.parametrize("form", ["run", "explained", "choices", "compare"])
def test_a_number_and_its_unit_never_part(
    tailroom: Tailroom, small: Path, monkeypatch: pytest.MonkeyPatch, form: str, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    command, *options = {
        "run": ("run",),
        "explained": ("run", "--explain"),
        "choices": ("run", "--vary", LIMITS, "--seeds", 2),
        "compare": ("compare", "--seeds", 2),
    }[form]
    times = ("--set", "measure_from=1.25 s", "--set", "duration=3.875 s")
    printed = tailroom(command, small, *options, *times).output
    # Cells of a table stand in columns: only what is a sentence is looked at.
    sentences = "\n".join(line for line in printed.splitlines() if "  " not in line.strip())
    assert PARTED.search(sentences) is None


MANY = range(20_000, 60_000, 2_000)


@pytest.mark.parametrize("is_terminal", [True, False])
def test_sentences_break_between_words_on_a_terminal_only(is_terminal: bool) -> None:
    words = [f"word{place}" for place in range(40)]
    text = io.StringIO()
    console = Console(file=text, force_terminal=is_terminal, width=80, no_color=True)
    say(console, f"\n[yellow]warning:[/yellow] {' '.join(words)}")
    plain = re.sub(r"\x1b\[[\d;]*m", "", text.getvalue())
    first, begun, *further = plain.splitlines()
    assert (first, begun.split()[0]) == ("", "warning:")
    assert plain.split() == ["warning:", *words]
    assert bool(further) is is_terminal
    assert all(line.startswith("    word") and len(line) <= 80 for line in further)


def test_the_metrics_of_a_phase_check_have_the_words_of_other_tables(small: Path) -> None:
    found = tr.size(small, ["utilization >= 50%"], max_seeds=4, workers=1)
    text = io.StringIO()
    phases.show(found.phases, Console(file=text, width=120))
    assert found.phases
    assert "queueing delay" in text.getvalue()
    assert "queue_delay_s" not in text.getvalue()
    assert "loss_fraction" not in text.getvalue()


@pytest.mark.parametrize("half_width", [103.0, 1234.0, 0.00073])
def test_a_report_card_writes_half_widths_without_exponents(half_width: float) -> None:
    written = two_digits(half_width)
    assert float(written.replace(",", "")) == pytest.approx(half_width, rel=0.05)
    assert "e" not in written


def test_the_answer_of_a_measurement_is_in_a_box_before_what_to_ask_next(
    tailroom: Tailroom,
) -> None:
    measured = Path(__file__).parent / "measurements" / "simulated.flent.gz"
    answer, _, _ = tailroom("compare", "--measured", measured).output.partition("next:")
    *_, top, one, two, bottom = answer.splitlines()
    assert (top[0], bottom[-1]) == ("╭", "╯")
    assert one.startswith("│ Buffer: the bottleneck holds about")
    assert two.endswith("│")


def test_the_answer_of_the_atlas_is_in_a_box_and_last(tailroom: Tailroom) -> None:
    *_, top, first, second, third, bottom = tailroom(
        "atlas", "near", "--rate", "100Mbit/s", "--rtt", "40ms"
    ).output.splitlines()
    assert (top[0], bottom[-1]) == ("╭", "╯")
    assert [line.split()[1] for line in (first, second, third)] == ["95.0%:", "98.0%:", "99.5%:"]
