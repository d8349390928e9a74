"""Figures without a title, and the number of runs in a figure."""

from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

import tailroom as tr
from tests.conftest import Tailroom

LIMIT = "links.bottleneck.queue.limit"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    directory = tmp_path_factory.mktemp("results")
    short = {"duration": "2 s", "measure_from": "1 s"}
    return {
        "run": tr.run("first", set=short, series_samples=10),
        "sweep": tr.sweep(
            "first", grid={LIMIT: [5, 20]}, seeds=3, set=short, store=directory / "store"
        ),
        "choices": tr.choices("first", vary={LIMIT: [5, 20]}, seeds=3, set=short),
        "size": tr.size(
            target="utilization >= 80%", rate="2 Mbit/s", rtt="20 ms", duration="5 s", max_seeds=4
        ),
        "curves": tr.predict_over("first", tr.Axis(LIMIT, (5, 20)), seeds=3),
    }


def words(figure: Figure) -> str:
    figure.draw_without_rendering()
    return "\n".join(text.get_text() for text in figure.findobj(Text))


@pytest.mark.parametrize("name", ["run", "sweep", "choices", "size", "curves"])
@pytest.mark.parametrize("no", [False, None])
def test_a_title_can_be_left_out(results: dict[str, Any], name: str, *, no: bool | None) -> None:
    titled, plain = results[name].plot(), results[name].plot(title=no)
    title = titled.get_suptitle()
    assert title
    assert title in words(titled)
    assert title not in words(plain)
    assert titled.get_size_inches().tolist() == plain.get_size_inches().tolist()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("sweep", {}),
        ("sweep", {"kind": "tradeoff"}),
        ("choices", {}),
        ("curves", {}),
    ],
)
def test_a_figure_says_how_many_runs_a_mean_has(
    results: dict[str, Any], name: str, options: dict[str, Any]
) -> None:
    assert "n = 3 runs" in words(results[name].plot(**options, title=False))


def test_a_figure_of_size_says_how_many_runs_the_buffers_have(results: dict[str, Any]) -> None:
    counts = {len(tried.point.finished) for tried in results["size"].tried}
    known = f"{min(counts)} to {max(counts)}" if len(counts) > 1 else f"{min(counts)}"
    assert f"n = {known} runs" in words(results["size"].plot())


@pytest.mark.parametrize(
    "command",
    [
        ("run", "first", "--set", "duration=21 s", "--out", "OUT"),
        (
            "run",
            "first",
            "--set",
            "duration=21 s",
            "--vary",
            f"{LIMIT}=5 packets,9 packets",
            "--out",
            "OUT",
        ),
        ("model", "first", "--over", f"{LIMIT}=5 packets,9 packets", "--out", "OUT.svg"),
    ],
)
def test_commands_that_draw_leave_titles_out(
    tailroom: Tailroom,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
) -> None:
    titles: list[str] = []
    drawn = Figure.suptitle

    def suptitle(figure: Figure, t: str, **options: Any) -> Text:
        titles.append(t)
        return drawn(figure, t, **options)

    monkeypatch.setattr(Figure, "suptitle", suptitle)
    for number, more in enumerate(([], ["--no-title"])):
        where = [part.replace("OUT", str(tmp_path / f"out{number}")) for part in command]
        ended = tailroom(*where, *more)
        assert ended.status == 0, ended.errors
        assert bool(titles) == (not more)
        titles.clear()


@pytest.mark.parametrize("command", ["run", "size", "compare", "evaluate", "model", "plot"])
def test_every_command_that_draws_has_the_option(tailroom: Tailroom, command: str) -> None:
    assert "--no-title" in tailroom(command, "--help").output


def test_figures_of_one_run_say_that_it_is_one() -> None:
    result = tr.run("first", seed=7)
    for kind in ("utilization", "windows"):
        title = result.plot(kind).get_suptitle()
        assert title.endswith("n = 1 run, seed 7"), kind
