"""The reports in docs/papers: short forms that follow from the claims next to them."""

import json

import pytest

import paper_reports
import short_report
from tailroom_papers import framework


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
