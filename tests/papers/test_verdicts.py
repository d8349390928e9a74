"""Verdicts: tests of sides, Holm's adjustment, bounds, variations, and the data of a report."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from matplotlib.figure import Figure
from scipy import stats

from tailroom.statistics.holm import holm
from tailroom.statistics.intervals import Interval, mean_interval
from tailroom.statistics.outcome import Outcome
from tailroom_papers import framework
from tailroom_papers.framework import (
    Bounds,
    Check,
    Claim,
    Form,
    Judgement,
    NamedBound,
    Paper,
    PaperError,
    Part,
    PartResults,
    StoredRun,
    Study,
    Variation,
    Verdict,
    above,
    below,
    between,
    judging,
    shown,
)
from tailroom_papers.framework.checked_report import write_report
from tailroom_papers.framework.data import numbers
from tailroom_papers.framework.results import metric_name
from tests.papers.test_reproduce import LIMIT, SMALL

YES, NO, OPEN = Outcome


@pytest.mark.parametrize(
    ("sides", "verdict"),
    [
        ([True, True], "holds"),
        ([True, False], "holds in part"),
        ([True, False, None], "holds in part"),
        ([True, None], "undecided"),
        ([None], "undecided"),
        ([False, False], "does not hold"),
        ([False, None], "does not hold"),
    ],
)
def test_the_sides_decide_a_claim(sides: list[bool | None], verdict: str) -> None:
    checks = tuple(
        Check(str(place), "", None, condition=Outcome(side)) for place, side in enumerate(sides)
    )
    assert Judgement(checks, "").verdict == verdict


def test_an_interval_decides_only_what_it_excludes() -> None:
    interval = Interval(10.0, 1.0, 5)
    holds = [above("", interval, bound).holds for bound in (8, 10.5, 12)]
    assert holds == [YES, OPEN, NO]
    holds = [below("", interval, bound).holds for bound in (8, 10.5, 12)]
    assert holds == [NO, OPEN, YES]
    inside = [between("", interval, *ends).holds for ends in ((8, 12), (10, 12), (12, 14))]
    assert inside == [YES, OPEN, NO]
    assert above("", None, 1.0).holds is OPEN
    # A number of a model, and runs that are all equal, have no uncertainty.
    assert above("", 0.5, 0.4).holds is YES
    assert below("", Interval(0.0, 0.0, 5), 0.0).holds is YES
    # A single run decides nothing.
    assert above("", Interval(10.0, float("inf"), 1), 1.0).holds is OPEN


def test_numbers_are_shown_with_their_intervals() -> None:
    assert above("", 1.0, 0.9, percent=True).stated == "above 90 %"
    assert shown(Interval(0.9512, 0.0123, 5), percent=True) == "95.12 ± 1.2 %"
    assert shown(Interval(0.9512, float("inf"), 1)) == "0.9512 (one run)"


def test_the_p_value_of_a_side_is_that_of_students_t_test() -> None:
    values = [0.91, 0.93, 0.90, 0.94, 0.89]
    for bound in (0.85, 0.9, 0.95):
        expected = stats.ttest_1samp(values, bound).pvalue
        check = above("", mean_interval(values), bound)
        assert check.p_value == pytest.approx(expected, rel=1e-9)
    # Between two bounds the nearer one counts.
    inside = between("", mean_interval(values), 0.85, 0.95)
    assert inside.p_value == pytest.approx(stats.ttest_1samp(values, 0.95).pvalue, rel=1e-9)


def test_holms_adjustment_is_that_of_r() -> None:
    # R 4: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm"); p.adjust(c(0.4, 0.9, 0.5), "holm")
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.4, 0.9, 0.5]) == pytest.approx([1, 1, 1])
    assert holm([]) == []


def test_sides_are_adjusted_for_the_number_of_all_sides_of_a_paper() -> None:
    # t = 3.5 with 9 degrees of freedom: p = 0.0067, decided alone and alongside 6 others, not 7.
    half_width = 2.262157 / 3.5
    side = above("", Interval(1.0, half_width, 10), 0.0)
    certain = below("certain", Interval(1.0, 0.0, 10), 2.0)
    for others, holds in ((6, True), (7, None)):
        open_sides = [above(f"{place}", Interval(0.0, 1.0, 10), 0.1) for place in range(others)]
        found = judging.adjusted([Judgement((side,), ""), Judgement((certain, *open_sides), "")])
        assert found[0].checks[0].holds is Outcome(holds)
        assert found[1].checks[0].holds is YES
        assert judging.count_tests(found) == others + 2
    # Neither yes and no nor a model's number is a test.
    exact = Judgement((above("", 0.5, 0.4), framework.is_true("x", "", True)), "")
    assert judging.count_tests(judging.adjusted([exact])) == 0


def test_a_bound_says_how_the_words_of_the_paper_are_read() -> None:
    stated = NamedBound("ninety", (0.9,), "more than 90 %", "", known=True)
    almost = NamedBound("almost", (0.97,), "almost 98 %", "a point less", known=True, word="almost")
    assert above("", 0.95, stated, percent=True).stated == "more than 90 %"
    assert above("", 0.95, almost, percent=True).stated == "almost 98 % (above 97 %)"
    near = NamedBound("near", (0.73, 0.77), "75 %", "within two points", known=False)
    assert between("", 0.75, near, percent=True).stated == "75 % (73 % to 77 %)"
    with pytest.raises(ValueError, match="near is a range"):
        above("", 0.95, near)


def utilization_percent(run: StoredRun) -> float:
    return 100 * float(run.summary["links"]["bottleneck"]["utilization"])


def scaled_utilization(run: StoredRun, factor: float) -> float:
    return factor * float(run.summary["links"]["bottleneck"]["utilization"])


def studies(form: Form) -> Sequence[Study]:
    return [Study("buffers", SMALL, {LIMIT: ["1 packets", "20 packets"]}, seeds=3)]


def variations(form: Form) -> Sequence[Variation]:
    (buffers,) = studies(form)
    slow = {"flows.reno.rtt": "500 ms"}
    return [
        Variation("RTT of 500 ms", [buffers.varied(slow)], ("full",)),
        Variation("RTT of 21 ms", [buffers.varied({"flows.reno.rtt": "21 ms"})], ("full",)),
        Variation("RTT of a satellite", [buffers.varied(slow)], ("some",), plausible=False),
    ]


def is_full(results: PartResults) -> Judgement:
    """By a metric, by functions of a run, and with a word that only the report needs."""
    large = results.study("buffers").points[1]
    checks = (
        above("utilization", large.interval("utilization"), 0.9, percent=True),
        above("in percent", large.interval(utilization_percent), 90),
        above("in permille", large.interval(partial(scaled_utilization, factor=1000)), 900),
    )
    return Judgement(checks, lambda: f"{results.study('buffers').points[0].mean('utilization')}")


def is_some(results: PartResults) -> Judgement:
    mean = results.study("buffers").points[1].interval("utilization")
    return Judgement((above("utilization", mean, 0.9),), "")


def draw(results: PartResults) -> Figure:
    figure = Figure()
    axes = figure.subplots()
    axes.plot([1, 20], [point.mean("utilization") for point in results.study("buffers").points])
    return figure


PART = Part(
    "1",
    "Buffers",
    studies,
    draw,
    (Claim("full", "Full", "Sec. 1", is_full), Claim("some", "Some", "Sec. 2", is_some)),
    conditions=(Claim("enough", "Enough runs", "", is_some),),
    variations=variations,
    caption="Utilization over the buffer.",
)
BOUNDS = Bounds(None, {})
PAPER = Paper("small-1999", "Small", "A", "Nowhere", (PART,), "1 s", BOUNDS, first_seed=2001)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> framework.Reproduction:
    return framework.reproduce(PAPER, tmp_path_factory.mktemp("out") / "small", form=Form.SMOKE)


def test_a_plausible_variation_that_turns_a_side_leaves_the_claim_undecided(
    done: framework.Reproduction,
) -> None:
    (part,) = done.parts
    (_, full), (_, some) = part.judged
    assert full.verdict is Verdict.UNDECIDED
    assert {check.depends_on for check in full.checks} == {("RTT of 500 ms",)}
    assert all(check.holds_at_base is YES for check in full.checks)
    # Another condition is shown, and changes no verdict.
    assert some.verdict is Verdict.HOLDS
    assert {one.variation.name: one.judgement.verdict for one in part.varied} == {
        "RTT of 500 ms": "does not hold",
        "RTT of 21 ms": "holds",
        "RTT of a satellite": "does not hold",
    }
    text = (done.directory / "report.md").read_text(encoding="utf-8")
    assert "The result for “utilization” is reversed by: RTT of 500 ms." in text
    assert (
        "| 1 | Some | RTT of a satellite (another condition) | does not hold | utilization: "
        in text
    )
    assert "Conditions on the runs: 1 of 1 met." in text
    assert "Claims: 1 holds, 0 holds in part, 0 does not hold, 1 undecided." in text
    assert "*Utilization over the buffer.*" in text


def test_the_seeds_begin_with_the_first_seed_of_the_paper(done: framework.Reproduction) -> None:
    points = done.parts[0].results.study("buffers").points
    assert [run.seed for run in points[0].runs] == [2001, 2002, 2003]


def test_a_variation_of_an_unknown_claim_is_an_error(tmp_path: Path) -> None:
    none = replace(PART, variations=lambda form: [Variation("v", studies(form), ("absent",))])
    with pytest.raises(ValueError, match=r"names the claim 'absent'"):
        framework.reproduce(PAPER, tmp_path / "out", parts=(none,), form=Form.SMOKE)


def test_two_sides_of_a_claim_have_different_descriptions(tmp_path: Path) -> None:
    twice = Claim("twice", "", "", lambda _: Judgement((above("a", 1.0, 0.0),) * 2, ""))
    part = replace(PART, claims=(twice,), variations=None)
    with pytest.raises(ValueError, match="two sides are called 'a'"):
        framework.reproduce(PAPER, tmp_path / "out", parts=(part,), form=Form.SMOKE)


def copied(done: framework.Reproduction, place: Path) -> Path:
    """What is shipped of a reproduction: claims and data, without the store."""
    (place / "data").mkdir(parents=True)
    for name in ("claims.json", "data/1.parquet"):
        (place / name).write_bytes((done.directory / name).read_bytes())
    return place


def test_the_data_next_to_a_report_give_its_verdicts_without_runs(
    done: framework.Reproduction, tmp_path: Path
) -> None:
    place = copied(done, tmp_path / "shipped")
    checked = framework.recheck(PAPER, place)
    assert checked.differences == ()
    for (_, found), (_, expected) in zip(
        checked.parts[0].judged, done.parts[0].judged, strict=True
    ):
        assert found.checks == expected.checks
        assert found.explanation == expected.explanation


def test_the_report_follows_from_claims_and_pictures_without_runs(
    done: framework.Reproduction, tmp_path: Path
) -> None:
    place = copied(done, tmp_path / "shipped")
    out = tmp_path / "report"
    out.mkdir()
    with pytest.raises(PaperError, match=r"figure-1.png: cannot be read"):
        write_report(PAPER, place, out)
    shutil.copy(done.directory / "figure-1.png", place)
    write_report(PAPER, place, out)
    assert (out / "report.md").read_bytes() == (done.directory / "report.md").read_bytes()
    assert (out / "figure-1.png").exists()
    assert "data:image/png;base64," in (out / "report.html").read_text(encoding="utf-8")


def test_metrics_that_no_verdict_follows_from_are_rounded_and_not_repeated(
    done: framework.Reproduction,
) -> None:
    table = pq.read_table(done.directory / "data" / "1.parquet")
    name = "links.bottleneck.queue_packets_mean"
    exact = [
        run.summary["links"]["bottleneck"]["queue_packets_mean"]
        for point in done.parts[0].results.study("buffers").points
        for run in point.runs
    ]
    own = table.filter(pc.equal(table["variation"], ""))[name].to_pylist()
    assert own == pytest.approx(exact, rel=1 / 512)
    assert own != exact
    rounded = [table[one.name].to_pylist() for one in table.schema if one.type == pa.float32()]
    assert all(rounded.count(values) == 1 for values in rounded)
    assert "links.bottleneck.drops_overflow_packets" not in table.column_names  # As drops_packets.


def test_whole_numbers_next_to_a_report_are_exact(done: framework.Reproduction) -> None:
    table = pq.read_table(done.directory / "data" / "1.parquet")
    own = table.filter(pc.equal(table["variation"], ""))
    runs = [run for point in done.parts[0].results.study("buffers").points for run in point.runs]
    for metric in ("capacity_bps", "departures_packets", "drops_packets"):
        exact = [run.summary["links"]["bottleneck"][metric] for run in runs]
        assert own[f"links.bottleneck.{metric}"].to_pylist() == exact


def test_changed_data_change_the_verdict(done: framework.Reproduction, tmp_path: Path) -> None:
    place = copied(done, tmp_path / "shipped")
    path = place / "data" / "1.parquet"
    table = pq.read_table(path)
    name = "links.bottleneck.utilization"
    column = table.column_names.index(name)
    pq.write_table(table.set_column(column, name, pa.array([0.5] * table.num_rows)), path)
    checked = framework.recheck(PAPER, place)
    assert checked.differences == (
        "1 full: undecided in the report, does not hold by the data",
        "1 full with RTT of 21 ms: holds in the report, holds in part by the data",
        "1 some: holds in the report, does not hold by the data",
    )


def test_data_of_another_paper_or_none_are_refused(
    done: framework.Reproduction, tmp_path: Path
) -> None:
    place = copied(done, tmp_path / "shipped")
    with pytest.raises(PaperError, match=r"is of small-1999, not of large-1999"):
        framework.recheck(replace(PAPER, name="large-1999"), place)
    (place / "data" / "1.parquet").write_bytes(b"PAR1")
    with pytest.raises(PaperError, match=r"1.parquet: cannot be read"):
        framework.recheck(PAPER, place)
    (place / "claims.json").write_text(json.dumps([]))
    with pytest.raises(PaperError, match=r"claims.json: is not the claims.json"):
        framework.recheck(PAPER, place)


@pytest.mark.parametrize(
    ("key", "value"),
    [("form", "huge"), ("form", []), ("parts", 5), ("parts", [["1"]]), ("claims", "none"),
     ("claims", [1]), ("claims", [{"part": "1", "claim": "some"}]), ("paper", None)],
)  # fmt: skip
def test_claims_of_another_version_are_refused(
    done: framework.Reproduction, tmp_path: Path, key: str, value: object
) -> None:
    place = copied(done, tmp_path / "shipped")
    claims = place / "claims.json"
    claims.write_text(json.dumps({**json.loads(claims.read_text()), key: value}))
    with pytest.raises(PaperError, match=r"claims.json: is not the .* reproduce the paper anew"):
        framework.recheck(PAPER, place)


@pytest.mark.parametrize("column", ["study", "variation", "point"])
def test_data_that_lack_a_column_are_refused(
    done: framework.Reproduction, tmp_path: Path, column: str
) -> None:
    place = copied(done, tmp_path / "shipped")
    path = place / "data" / "1.parquet"
    pq.write_table(pq.read_table(path).drop_columns([column]), path)
    with pytest.raises(PaperError, match="reproduce the paper anew"):
        framework.recheck(PAPER, place)


def test_the_numbers_of_a_picture_are_what_it_draws(done: framework.Reproduction) -> None:
    table = pq.read_table(done.directory / "data" / "1-figure.parquet")
    drawn = [point.mean("utilization") for point in done.parts[0].results.study("buffers").points]
    assert table["x"].to_pylist() == [1, 20]
    assert table["y"].to_pylist() == drawn
    figure = Figure()
    left, right = figure.subplots(1, 2)
    left.errorbar([1, 2], [3, 4], yerr=[0.5, 0.25], label="bars")
    right.fill_between([1, 2], [0, 0], [1, 1], label="band")
    right.scatter([5], [6], label="dots")
    right.axhline(7, label="limit")
    rows = numbers(figure).to_pylist()
    of = {
        kind: [(r["panel"], r["x"], r["y"]) for r in rows if r["kind"] == kind]
        for kind in ("line", "bar", "band", "mark", "reference")
    }
    assert of["line"] == [(1, 1, 3), (1, 2, 4)]
    assert of["bar"] == [(1, 1, 2.5), (1, 1, 3.5), (1, 2, 3.75), (1, 2, 4.25)]
    assert {(x, y) for _, x, y in of["band"]} == {(1, 0), (2, 0), (1, 1), (2, 1)}
    assert of["mark"] == [(2, 5, 6)]
    assert [y for _, _, y in of["reference"]] == [7, 7]


def test_a_metric_without_a_name_of_its_own_is_refused() -> None:
    assert metric_name("utilization") == "utilization"
    assert metric_name(utilization_percent) == "test_verdicts.utilization_percent"
    scaled = partial(scaled_utilization, factor=2)
    assert metric_name(scaled) == "test_verdicts.scaled_utilization(factor=2)"
    with pytest.raises(ValueError, match="make it a function of its module"):
        metric_name(lambda run: 1.0)
