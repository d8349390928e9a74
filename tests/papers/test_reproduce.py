"""What all papers share: runs into a store, verdicts from it, the report, and wrong input."""

import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from matplotlib.figure import Figure

from tailroom import OutputDirectoryError
from tailroom.cli.progress import runs_bar
from tailroom.errors import NotWrittenError
from tailroom.execution.progress import RunProgress
from tailroom.figure_titles import titles
from tailroom.scenario.types import Scenario
from tailroom.statistics.intervals import mean_interval
from tailroom.statistics.jackknife import jackknife
from tailroom.storage.run import Run
from tailroom.storage.run_index import StoredRow
from tailroom.storage.store import Store
from tailroom_papers import framework
from tailroom_papers.framework import (
    Claim,
    Form,
    Judgement,
    PaperError,
    Part,
    PartResults,
    PointResults,
    StoredRun,
    Study,
    Verdict,
    catalogue,
    output,
    paired_difference,
    paired_ratio,
)
from tailroom_papers.framework.plan import count_runs
from tests.conftest import Tailroom

LIMIT = "links.bottleneck.queue.limit"
SMALL: Scenario = {
    "title": "Two Reno flows",
    "duration": "5 s",
    "measure_from": "1 s",
    "series": {"interval": "100 ms"},
    "defaults": {"host": "plain"},
    "links": {
        "bottleneck": {
            "rate": "10 Mbit/s",
            "delay": "5 ms",
            "queue": {"kind": "drop_tail", "limit": "20 packets"},
        }
    },
    "flows": {
        "reno": {
            "count": 2,
            "path": ["bottleneck"],
            "congestion": {"kind": "reno"},
            "rtt": "20 ms",
            "start": {"uniform": ["0 s", "100 ms"]},
        }
    },
}


def studies(form: Form) -> Sequence[Study]:
    grid = {LIMIT: ["1 packets", "20 packets"]}
    return [Study("buffers", SMALL, grid, seeds=form.of(3, 3, 5), keep=("flow_series",))]


def utilization_percent(run: StoredRun) -> float:
    return 100 * float(run.summary["links"]["bottleneck"]["utilization"])


def judge(results: PartResults) -> Judgement:
    small, large = results.study("buffers").points
    full = framework.above(
        "utilization, 20 packets", large.interval("utilization"), 0.9, percent=True
    )
    empty = framework.below(
        "utilization, 1 packet", small.interval("utilization"), 0.95, percent=True
    )
    return Judgement((full, empty), f"A queue of {large.mean('queue_packets_mean'):.3g} packets.")


def draw(results: PartResults) -> Figure:
    figure = Figure()
    axes = figure.subplots()
    axes.plot([point.mean("utilization") for point in results.study("buffers").points])
    return figure


BUFFERS = Part(
    "1", "Buffers & what they do", studies, draw, (Claim("full", 'So "full" <b>', "Sec. 1", judge),)
)
AGAIN = Part("again", "The same runs", studies, draw)
PAPER = framework.Paper("small-1999", "Small buffers", "A, B", "Nowhere", (BUFFERS, AGAIN), "1 s")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> framework.Reproduction:
    return framework.reproduce(PAPER, tmp_path_factory.mktemp("out") / "small", form=Form.SMOKE)


def titled(results: PartResults) -> Figure:
    figure = draw(results)
    figure.suptitle("How buffers fill")
    return figure


@pytest.mark.parametrize("wanted", [True, False])
def test_pictures_may_lack_their_titles(tmp_path: Path, *, wanted: bool) -> None:
    part = Part("1", "Buffers & what they do", studies, titled)
    paper = framework.Paper("small-1999", "Small buffers", "A, B", "Nowhere", (part,), "1 s")
    with titles(wanted=wanted):
        framework.reproduce(paper, tmp_path / "small", form=Form.SMOKE)
    svg = (tmp_path / "small" / "figure-1.svg").read_text(encoding="utf-8")
    assert ("How buffers fill" in svg) is wanted


@pytest.mark.parametrize("more", [[], ["--figure", "3"], ["--out", "new"]])
def test_a_check_draws_nothing_that_could_lack_a_title(
    tailroom: Tailroom, tmp_path: Path, more: list[str]
) -> None:
    refused = tailroom("papers", "run", "barman-2004", "--check", tmp_path, "--no-title", *more)
    assert refused.status == 2
    assert "--no-title: --check draws pictures only with --figure and --out" in refused.errors


def test_a_run_that_two_parts_need_is_done_once(done: framework.Reproduction) -> None:
    assert done.runs == 6
    assert len(Store(done.directory / "store").columns().keys) == 6
    for part in done.parts:
        points = part.results.study("buffers").points
        assert [len(point.runs) for point in points] == [3, 3]
        assert {run.seed for run in points[0].runs} == {1, 2, 3}
        assert points[0].runs[0].table("flow_series").num_rows > 0


def test_verdicts_come_from_the_store(tmp_path: Path) -> None:
    """Changed data change them."""
    out = tmp_path / "out"
    parts = (BUFFERS,)
    first = framework.reproduce(PAPER, out, parts=parts, form=Form.SMOKE)
    assert first.parts[0].judged[0][1].verdict is Verdict.HOLDS
    store = Store(out / "store")
    for run in first.parts[0].results.study("buffers").points[1].runs:
        name = "links.bottleneck.utilization"
        changed = {**StoredRow(run.row), name: 0.5}
        series = {"flow_series": run.table("flow_series")}
        store.add([Run(run.key, changed, series)])
    again = framework.reproduce(PAPER, out, parts=parts, form=Form.SMOKE)
    assert again.parts[0].judged[0][1].verdict is Verdict.IN_PART
    claims = json.loads((out / "claims.json").read_text())["claims"]
    assert claims[0]["verdict"] == "holds in part"
    assert claims[0]["checks"][0]["measured"] == {"mean": 0.5, "half_width": 0.0, "runs": 3}
    assert [check["holds"] for check in claims[0]["checks"]] == [False, True]


def test_what_was_interrupted_goes_on(tmp_path: Path) -> None:
    def stop(state: object) -> None:
        if getattr(state, "done", 0) >= 2:
            raise KeyboardInterrupt

    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        framework.reproduce(PAPER, out, form=Form.SMOKE, workers=1, progress=stop)
    found = []
    framework.reproduce(
        PAPER, out, form=Form.SMOKE, progress=lambda state: found.append(state.found)
    )
    assert found[0] >= 2


def test_the_report_holds_claims_numbers_and_pictures(done: framework.Reproduction) -> None:
    text = (done.directory / "report.md").read_text(encoding="utf-8")
    assert text.startswith("# Small buffers: report\n")
    assert '| 1 | So "full" <b> | Sec. 1 | holds |' in text
    assert "![Buffers & what they do](figure-1.png)" in text
    assert re.search(
        r"\| utilization, 20 packets \| above 90 % \| [\d.]+ (?:± [\d.e-]+|\+[\d.e-]+ -[\d.e-]+) % "
        r"\| < 0.001 \| yes",
        text,
    )
    assert "A queue of " in text
    page = (done.directory / "report.html").read_text(encoding="utf-8")
    # Pictures are vectors inside the page; those of two parts share no names.
    assert page.count("<svg") == 2
    assert not re.findall(r'(?:src|[^:]href)="', page)
    named = re.findall(r' id="([^"]*)"', page)
    assert len(named) == len(set(named))
    assert '<meta name="viewport"' in page
    assert "So &quot;full&quot; &lt;b&gt;" in page
    for name in ("figure-1.png", "again.png"):
        assert (done.directory / name).read_bytes().startswith(b"\x89PNG")


def test_the_data_are_a_row_a_run(done: framework.Reproduction) -> None:
    table = pq.read_table(done.directory / "data" / "1.parquet")
    assert table["study"].to_pylist() == ["buffers"] * 6
    assert table[LIMIT].to_pylist() == ["1 packets"] * 3 + ["20 packets"] * 3
    assert "links.bottleneck.utilization" in table.column_names
    lines = (done.directory / "data" / "1.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 7


def test_a_setting_that_is_a_table_is_text_in_the_data(tmp_path: Path) -> None:
    queues: list[dict[str, object]] = [
        {"kind": "drop_tail", "limit": "9 packets"},
        {"kind": "red", "limit": "8 packets", "gentle": True},
    ]
    study = Study("kinds", SMALL, {"links.bottleneck.queue": queues}, seeds=1)
    part = Part("kinds", "Kinds of queues", lambda _: [study], lambda _: Figure())
    paper = framework.Paper("kinds-1999", "Kinds", "A", "Nowhere", (part,), "1 s")
    framework.reproduce(paper, tmp_path / "kinds", form=Form.SMOKE)
    table = pq.read_table(tmp_path / "kinds" / "data" / "kinds.parquet")
    assert [json.loads(one) for one in table["links.bottleneck.queue"].to_pylist()] == queues


def test_the_studies_are_sweeps_of_the_store(done: framework.Reproduction) -> None:
    records = Store(done.directory / "store").sweeps()
    assert [record.id.rpartition("-")[0] for record in records] == ["1-buffers", "again-buffers"]


def test_a_directory_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(OutputDirectoryError, match=r"holds something else.*choose another"):
        framework.reproduce(PAPER, tmp_path, form=Form.SMOKE)
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_a_file_in_the_directorys_place_is_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "notes.txt"
    place.write_text("mine")
    with pytest.raises(OutputDirectoryError, match="is a file; choose another"):
        framework.reproduce(PAPER, place, form=Form.SMOKE)
    assert place.read_text() == "mine"


def test_a_report_that_cannot_be_written_is_said_to_be_so(tmp_path: Path) -> None:
    out = tmp_path / "out"
    output.open_directory(out, PAPER, Form.SMOKE)
    (out / "data").write_text("in the way")
    with pytest.raises(NotWrittenError, match="data"):
        framework.reproduce(PAPER, out, parts=(BUFFERS,), form=Form.SMOKE)
    (out / "data").unlink()
    found: list[int] = []
    framework.reproduce(
        PAPER,
        out,
        parts=(BUFFERS,),
        form=Form.SMOKE,
        progress=lambda state: found.append(state.found),
    )
    assert found == [6]


@pytest.mark.parametrize("names", [["3/4"], [""], [".3"], ["3", "3"]])
def test_names_are_names_of_files(names: list[str], tmp_path: Path) -> None:
    parts = tuple(Part(name, "Title", studies, draw) for name in names)
    with pytest.raises(ValueError, match=r"leave out slashes|use each name once"):
        framework.Paper("p", "P", "A", "Nowhere", parts, "1 s")
    part = Part("1", "Title", lambda _: [Study(name, SMALL) for name in names], draw)
    with pytest.raises(ValueError, match=r"leave out slashes|use each name once"):
        framework.reproduce(PAPER, tmp_path / "out", parts=(part,), form=Form.SMOKE)
    assert not (tmp_path / "out").exists()


def point(values: dict[int, float | None]) -> PointResults:
    """Runs by seed whose only number is this; `None` where it is not defined."""
    rows = [
        pa.table({"seed": [seed], "x": pa.array([value], pa.float64())})
        for seed, value in values.items()
    ]
    return PointResults({}, tuple(StoredRun(cast(Store, None), "", row) for row in rows))


def x(run: StoredRun) -> float | None:
    return run.value("x")


def test_pairs_are_of_one_seed() -> None:
    one, other = point({1: 4.0, 2: None, 3: 9.0}), point({3: 3.0, 2: 5.0, 1: 2.0})
    found = paired_difference(one, other, x)
    assert found is not None
    assert (found.mean, found.count) == (4.0, 2)
    of_both = paired_ratio(one, other, "x")
    assert of_both is not None
    assert of_both.mean == pytest.approx(2.5)
    assert paired_ratio(one, point({1: 0.0, 2: 1.0}), "x") is None


def test_the_jackknife_of_a_mean_is_the_mean_with_its_interval() -> None:
    found = jackknife([1.0, 2.0, 6.0], lambda values: sum(values) / len(values))
    assert found.mean == pytest.approx(3.0)
    assert found.half_width == pytest.approx(mean_interval([1.0, 2.0, 6.0]).half_width)


def test_a_directory_of_another_form_is_left_alone(done: framework.Reproduction) -> None:
    with pytest.raises(OutputDirectoryError, match=r'"smoke".*"quick".*choose another'):
        framework.reproduce(PAPER, done.directory, form=Form.QUICK)


def test_unknown_names_name_the_nearest(tailroom: Tailroom, tmp_path: Path) -> None:
    ended = tailroom("papers", "run", "barman-2005", "--out", tmp_path / "out")
    assert ended.status == 2
    assert "barman-2005: there is no such paper; did you mean barman-2004?" in ended.errors
    with pytest.raises(PaperError, match=r"no figure agan; did you mean again\?"):
        framework.parts_of(PAPER, ["agan"])
    assert framework.parts_of(PAPER, ["again", "1"]) == (BUFFERS, AGAIN)
    assert not (tmp_path / "out").exists()


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The small paper as one of those that the command knows."""
    entry = EntryPoint("small-1999", f"{__name__}:PAPER", catalogue.GROUP)
    monkeypatch.setattr(catalogue, "entry_points", lambda group: [entry])


@pytest.mark.usefixtures("listed")
def test_the_command_reproduces_and_goes_on(tailroom: Tailroom, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ("papers", "run", "small-1999", "--quick", "--figure", "1", "--out", out)
    ended = tailroom(*command)
    assert ended.status == 0
    assert re.search(r'So "full" <b> +1 +holds', ended.output)
    assert "1 holds, 0 holds in part, 0 does not hold, 0 undecided; 6 runs." in ended.output
    assert f"The report is {out / 'report.html'}" in ended.output
    assert not (out / "again.png").exists()
    said = json.loads(tailroom(*command, "--json").output)
    assert [(one["claim"], one["verdict"]) for one in said["claims"]] == [("full", "holds")]
    whole = tmp_path / "whole"
    checked = tailroom("papers", "run", "small-1999", "--check", out, "--out", whole)
    assert checked.status == 0
    assert (whole / "report.md").read_bytes() == (out / "report.md").read_bytes()
    again = tailroom("papers", "run", "small-1999", "--check", out, "--out", whole)
    assert again.status == 2
    full = tailroom("papers", "run", "small-1999", "--out", out)
    assert full.status == 2
    assert "choose another output directory (--out)" in full.errors


@pytest.mark.usefixtures("listed")
def test_a_figure_is_drawn_from_the_data_next_to_a_report(
    tailroom: Tailroom, tmp_path: Path, done: framework.Reproduction
) -> None:
    """Only the numbers of its runs are needed, which lie next to each report."""
    report = tmp_path / "report"
    shutil.copytree(
        done.directory, report, ignore=shutil.ignore_patterns("store", "*.png", "*.svg")
    )
    check = ("papers", "run", "small-1999", "--check", report)
    for part, claims in (("1", 1), ("again", 0)):
        new = tmp_path / part
        drawn = tailroom(*check, "--figure", part, "--out", new, "--no-title")
        assert drawn.status == 0
        assert f"{claims} claims judged from the data; 0 verdicts differ." in drawn.output
        assert not list(report.glob("*.svg"))
        files = {path.name for path in new.iterdir()}
        assert files == {path.name for path in done.directory.glob(f"*{part}.[ps][nv]g")}
    assert tailroom(*check, "--figure", "1").status == 0
    before = (done.directory / "figure-1.svg").read_text(encoding="utf-8")
    after = (tmp_path / "1" / "figure-1.svg").read_text(encoding="utf-8")
    assert paths_of(after) == paths_of(before)


def paths_of(svg: str) -> list[str]:
    """The shapes of a picture, without the identifiers that differ from time to time."""
    return re.findall(r' d="([^"]*)"', svg)


@pytest.mark.usefixtures("listed")
def test_a_figure_that_needs_more_than_the_data_is_refused(
    tailroom: Tailroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def over_time(results: PartResults) -> Figure:
        [run, *_] = results.study("buffers").points[0].runs
        run.table("flow_series")
        return draw(results)

    part = replace(BUFFERS, draw=over_time)
    paper = replace(PAPER, parts=(part,))
    monkeypatch.setattr(f"{__name__}.PAPER", paper)
    report = tmp_path / "report"
    framework.reproduce(paper, report, form=Form.SMOKE)
    check = ("papers", "run", "small-1999", "--check", report, "--figure", "1")
    refused = tailroom(*check, "--out", tmp_path / "new")
    assert refused.status == 2
    assert "reproduce it: --figure 1 without --check" in refused.errors
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("listed")
def test_an_interrupt_says_how_many_runs_are_kept(
    tailroom: Tailroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def pressing() -> Iterator[Callable[[RunProgress], None]]:
        with runs_bar() as told:

            def report(state: RunProgress) -> None:
                told(state)
                if state.done == 2:
                    raise KeyboardInterrupt

            yield report

    again = ("papers", "run", "small-1999", "--quick", "--out", tmp_path / "out")
    with monkeypatch.context() as patched:
        patched.setattr("tailroom_papers.command.runs_bar", pressing)
        ended = tailroom(*again, "--workers", 1)
    assert ended.status == 130
    assert "interrupted: 2 of 6 runs are kept; to continue, give the same command" in ended.errors
    assert tailroom(*again).status == 0


@pytest.mark.usefixtures("listed")
def test_an_interrupt_in_a_picture_says_where_the_runs_are(
    tailroom: Tailroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    again = ("papers", "run", "small-1999", "--quick", "--out", tmp_path / "out")
    with monkeypatch.context() as patched:
        patched.setattr("tailroom_papers.framework.output.render", pressed)
        patched.setattr("sys.argv", ["tailroom", *map(str, again)])
        ended = tailroom(*again)
    assert ended.status == 130
    assert ended.errors == (
        f"interrupted: all 6 runs are in {tmp_path / 'out'}, but its report is not complete; to "
        f"continue, give the same command again: tailroom {' '.join(map(str, again))}\n"
    )
    assert tailroom(*again).status == 0


def test_the_runs_of_a_part_are_counted_without_its_points() -> None:
    assert count_runs(BUFFERS, Form.FULL) == 2 * 5


def test_the_list_shows_studies_of_this_project_after_the_papers(tailroom: Tailroom) -> None:
    ended = tailroom("papers")
    assert ended.status == 0
    assert tailroom("papers", "list").output == ended.output
    rows = dict(line.split(maxsplit=1) for line in ended.output.splitlines())
    assert sorted(rows) == framework.names()
    assert [framework.load(name).authors != "" for name in rows] == sorted(
        (framework.load(name).authors != "" for name in rows), reverse=True
    )
    assert rows["dctcp-2010"] == "Data Center TCP (DCTCP)"


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize("command", ["list", "show"])
def test_a_paper_is_shown_with_its_parts_and_claims(tailroom: Tailroom, command: str) -> None:
    assert "again" not in tailroom("papers").output
    ended = tailroom("papers", command, "small-1999")
    assert ended.status == 0
    for text in ("small-1999", "again: The same runs (about 10 runs)", 'So "full" <b> (Sec. 1)'):
        assert text in ended.output
