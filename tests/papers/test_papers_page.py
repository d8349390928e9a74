"""The page of papers in docs/papers: it follows from the claims, and a release has the reports."""

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paper_reports
import papers_page
from tailroom.reports.document import Document
from tailroom_papers import framework
from tailroom_papers.framework import Bounds, Paper
from tailroom_papers.framework.report import picture_file

MOST_WORDS = 2800
LINE = re.compile(r"- \S.*: \[\S[^]]*\]\((?P<picture>[^)]+)\)")


def test_the_page_in_the_repository_follows_from_the_claims() -> None:
    text = papers_page.PAGE.read_text(encoding="utf-8")
    assert text == papers_page.page().markdown(), "python tools/paper_reports.py --text"
    assert len(text.split()) <= MOST_WORDS
    claims = [
        (name, claim)
        for name in framework.names()
        for claim in papers_page.claims_of(name)["claims"]
    ]
    pictures = [match["picture"] for line in text.splitlines() if (match := LINE.match(line))]
    assert sorted(pictures) == sorted(
        f"{name}/{picture_file(claim['part'])}" for name, claim in claims
    )


def test_a_release_has_each_report_with_its_pictures(tmp_path: Path) -> None:
    paper_reports.write_reports(tmp_path / "papers")
    for name in framework.names():
        record = papers_page.claims_of(name)
        text = (tmp_path / "papers" / name / "report.md").read_text(encoding="utf-8")
        for claim in record["claims"]:
            title = f"{claim['text']} ({claim['place']}): {claim['verdict']}"
            assert f"\n### {title}\n" in text
        for picture in map(picture_file, record["parts"]):
            assert f"]({picture})" in text
            assert (tmp_path / "papers" / name / picture).is_file()


def test_rates_in_the_data_have_every_digit() -> None:
    rates = [
        field
        for file in papers_page.DOCS.glob("*/data/*.parquet")
        for field in pq.read_schema(file)
        if field.name.endswith("capacity_bps")
    ]
    assert rates
    assert all(field.type == pa.float64() for field in rates)


def claim(name: str, verdict: str, *means: tuple[float | dict[str, float], str]) -> dict[str, Any]:
    checks = [{"measured": measured, "here": here} for measured, here in means]
    return {"part": "1", "claim": name, "verdict": verdict, "checks": checks}


def varied(name: str, variation: str, verdict: str, plausible: bool = False) -> dict[str, Any]:
    return {**claim(name, verdict), "variation": variation, "plausible": plausible}


def small(*claims: dict[str, Any], variations: tuple[dict[str, Any], ...] = ()) -> str:
    """The section of a paper with these claims; the text of each is all its means."""
    record = {
        "abstract": "Is Eq. 5 right? It says 5. Use it.",
        **{"claims": list(claims), "variations": list(variations)},
    }
    texts = {
        f"1 {one['claim']}": [one["claim"], ", ".join(["{}"] * len(one["checks"])) or "-"]
        for one in claims
    }
    paper = Paper("small-1999", "Small", "A", "Nowhere", (), "1 s", Bounds(None, {}))
    blocks = list(papers_page.section(paper, record, {"claims": texts, "pictures": []}))
    return Document("", blocks).markdown()


def test_a_paper_has_its_question_its_advice_and_its_claims_by_verdict() -> None:
    text = small(
        claim("open", "undecided", (2.0, "2")),
        claim("true", "holds", ({"mean": 0.75246}, "75.25 ± 0.1 %"), (-12345.6, "-12346")),
    )
    assert "A: Small. Nowhere. Is Eq. 5 right? Use it.\n" in text
    holds = "**Holds**\n\n- true: [75.2, -1.23e+04](small-1999/figure-1.png)\n"
    assert text.endswith(f"{holds}\n**Undecided**\n\n- open: [2](small-1999/figure-1.png)\n")


def test_verdicts_that_differ_under_other_conditions_are_counted() -> None:
    claims = claim("edge", "holds"), claim("slope", "undecided")
    differs = varied("edge", "A", "holds in part"), varied("edge", "B", "holds")
    omitted = varied("slope", "a value that the paper leaves open", "holds", plausible=True)
    assert "With “A”, 1 verdict differs." in small(*claims, variations=(*differs, omitted))
    more = (*differs, varied("slope", "C", "holds"), varied("edge", "C", "undecided"))
    assert "With “C”, 2 verdicts differ." in small(*claims, variations=more)
    split = (*differs, varied("slope", "C", "holds"))
    assert "With other settings, 2 verdicts differ; with “A”, 1." in small(
        *claims, variations=split
    )
    assert "differ" not in small(*claims, variations=(omitted,))


def test_a_text_needs_a_claim_and_a_claim_a_text() -> None:
    paper = Paper("small-1999", "Small", "A", "Nowhere", (), "1 s", Bounds(None, {}))
    record = {"abstract": "Is it? Yes.", "claims": [claim("edge", "holds")], "variations": []}
    with pytest.raises(ValueError, match=r"page\.toml has '1 slope'"):
        list(papers_page.section(paper, record, {"claims": {"1 slope": ["a", "b"]}}))
    with pytest.raises(KeyError, match="1 edge"):
        list(papers_page.section(paper, record, {"claims": {}}))


def test_a_mean_has_a_size_and_thousandths() -> None:
    mean = papers_page.Mean(-0.0084212)
    assert f"{mean} {mean.size} {mean.milli:.2g}" == "-0.00842 0.00842 -8.4"
