"""The reports in docs/papers: short forms that follow from the claims next to them."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from matplotlib.figure import Figure

import paper_reports
import short_report
from tailroom_papers import framework
from tailroom_papers.framework import Bounds, Paper, Part


@pytest.mark.parametrize("name", framework.names())
def test_the_report_in_the_repository_follows_from_the_claims(name: str) -> None:
    text = (paper_reports.DOCS / name / "report.md").read_text(encoding="utf-8")
    assert text == paper_reports.text_of(name), "python tools/paper_reports.py --text"
    record = json.loads((paper_reports.DOCS / name / "claims.json").read_text(encoding="utf-8"))
    for claim in record["claims"]:
        sentence = f"{claim['text']} ({claim['place']}): **{claim['verdict']}**."
        assert sentence.replace("|", "\\|") in text
        for check in claim["checks"]:
            assert f" {check['here']} |" in text


def test_rates_in_the_data_have_every_digit() -> None:
    rates = [
        field
        for file in paper_reports.DOCS.glob("*/data/*.parquet")
        for field in pq.read_schema(file)
        if field.name.endswith("capacity_bps")
    ]
    assert rates
    assert all(field.type == pa.float64() for field in rates)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("It is 0.5 of Eq. 5 here. More.", "It is 0.5 of Eq. 5 here."),
        ("Barman et al. 2004 say so.\nMore.", "Barman et al. 2004 say so."),
        ("No end", "No end"),
        ("", ""),
    ],
)
def test_an_abbreviation_ends_no_sentence(text: str, first: str) -> None:
    assert short_report.first_sentence(text) == first


def test_a_caption_refers_to_the_picture_that_says_the_same_first() -> None:
    texts = {"1": "Lines are means. Eq. 5 is dashed.", "later": "Eq. 5 is dashed. Marks are runs."}
    texts["last"] = "Marks are runs."
    parts = [
        Part(name, name, studies=lambda _: (), draw=lambda _: Figure(), caption=text)
        for name, text in texts.items()
    ]
    assert list(short_report.captions(parts)) == [
        texts["1"],
        "Marks are runs. Otherwise as in Figure 1.",
        "As in “later”.",
    ]


def claim(name: str, verdict: str) -> dict[str, object]:
    said = {"text": f"The {name}", "place": "Sec. 1", "why": "", "checks": []}
    return {"part": "1", "claim": name, "verdict": verdict, **said}


def varied(name: str, variation: str, verdict: str, plausible: bool = False) -> dict[str, object]:
    said = {"plausible": plausible, "reason": "why" if variation == "A" else ""}
    return {"part": "1", "claim": name, "variation": variation, "verdict": verdict, **said}


def test_verdicts_that_differ_under_other_conditions_stand_next_to_those_of_the_report() -> None:
    record = {
        **{"form": "full", "runs": 1200, "engine": "0.1.0+aaaaaaaaaa", "first_seed": 1},
        **{"abstract": "", "conditions": []},
        "claims": [claim("edge", "holds"), claim("slope", "undecided")],
        "variations": [
            varied("edge", "A", "holds"),
            varied("edge", "B", "holds in part"),
            varied("edge", "C", "holds in part"),
            varied("slope", "a value that the paper leaves open", "holds", plausible=True),
        ],
        "added": [{"variation": "A", "runs": 1100, "engine": "0.1.0+bbbbbbbbbb"}],
    }
    paper = Paper("small-1999", "Small", "A", "Nowhere", (), "1 s", Bounds(None, {}))
    text = short_report.document(paper, (), record).markdown()
    shown = text[text.index("## Under other conditions") :]
    assert "| 1 | The edge | holds | **holds in part** with “B”, “C” |" in shown
    assert "The slope" not in shown
    assert shown.endswith("\n“A”: why\n")
    # The engine of runs that were added to a report is named next to that of the others.
    runs = "1,200 runs of tailroom (engine 0.1.0+aaaaaa), seeds from 1."
    assert f"{runs} 1,100 more runs with “A” (engine 0.1.0+bbbbbb)." in text


def test_a_side_that_variations_reverse_has_its_number_with_each_of_them() -> None:
    side = {"what": "use", "stated": "75 %", "here": "75.2 ± 0.1 %"}
    reversed_by = {"holds": None, "depends_on": ["jitter", "delay"]}
    open_claim = {**claim("flow", "undecided"), "checks": [{**side, **reversed_by}]}
    elsewhere = [
        {**varied("flow", name, "holds in part", plausible=True), "reversed": reversed_sides}
        | {"checks": [{**side, "holds": False}]}
        for name, reversed_sides in (
            ("jitter", ["use: 0.5 ± 0.1 %, not 75.2 ± 0.1 %"]),
            ("delay", ["another use: 1 %, not 75.2 ± 0.1 %"]),
        )
    ]
    record = {
        **{"form": "full", "runs": 1, "engine": "0.1.0+a", "first_seed": 1, "abstract": ""},
        **{"conditions": [], "claims": [open_claim], "variations": elsewhere},
    }
    parts = (Part("1", "Use", studies=lambda _: (), draw=lambda _: Figure(), caption=""),)
    paper = Paper("small-1999", "Small", "A", "Nowhere", parts, "1 s", Bounds(None, {}))
    text = short_report.document(paper, parts, record).markdown()
    assert "undecided: yes as set up, no with “jitter” (0.5 ± 0.1 %), “delay” |" in text
