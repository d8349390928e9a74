"""Writes docs/papers: the papers reproduced in their full form, and an index of them.

python tools/paper_reports.py [--text] [NAME ...]

The runs stay in out/papers/NAME, so that a second call only draws and judges anew. With `--text`,
nothing is run: the reports and the index are written from docs/papers/NAME/claims.json.
"""

import json
import shutil
import sys
from pathlib import Path

from PIL import Image

import short_report
from tailroom.reports.document import Block, Document, Heading, Paragraph, Table
from tailroom_papers import framework
from tailroom_papers.framework import Verdict
from tailroom_papers.framework.report import picture_file

REPOSITORY = Path(__file__).parents[1]
DOCS = REPOSITORY / "docs" / "papers"
QUICK = "quick.json"
"""Verdicts of the quick form."""
COLOURS = 256
"""Of a picture: enough for lines and bands, at half the size."""
LARGEST_DATA_BYTES = 5_000_000
"""Of the data of all papers together."""
REFINEMENTS = 3
"""Rounds in which the colours move to the means of their pixels."""
INTRODUCTION = """\
Every figure, table and claim of three papers, the figures on queue and incast of a fourth, what a
fifth claims over dynamic thresholds, and two studies of this project in the same form, as
`tailroom papers run NAME` reproduces them in the full form ([guide](../guide/papers.md)). Each
report contains the pictures, and for each claim the verdict, the paper's numbers and the measured
numbers with their confidence intervals. The runs' metrics and the numbers of every picture are in
the folder `data` next to the report, as Parquet; counts above 512 are rounded there to within
0.2 %, except for `abm-2022`. `tailroom papers run NAME --check docs/papers/NAME` judges the claims
anew from them; with `--out DIR` it also writes the whole report, with notes, p-values,
explanations, variations and the reasons for bounds. `make papers` writes these pages anew."""
AGES = """\
The verdicts of `abm-2022` and `dctcp-2010` are of 28 November 2026, those with Linux hosts of 26
November, before `rack_timer_margin`. All others are of 23 November, before the random
order of packets that arrive at one instant; those of the quick form (`quick.json`) are of 28
November. Each report names its engine."""


def write(name: str) -> None:
    """Reproduces a paper, and copies claims, data and pictures.

    The verdicts of the quick form, which `tests/validation/papers.py` writes, are kept.
    """
    done = framework.reproduce(framework.load(name), REPOSITORY / "out" / "papers" / name)
    target = DOCS / name
    quick = target / QUICK
    verdicts = quick.read_bytes() if quick.exists() else None
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    if verdicts is not None:
        quick.write_bytes(verdicts)
    (target / "data").mkdir()
    data = [f"data/{stem}.parquet" for part in done.parts for stem in data_of(part.part.name)]
    for file in ("claims.json", *data):
        shutil.copyfile(done.directory / file, target / file)
    for part in done.parts:
        picture = picture_file(part.part.name)
        image = Image.open(done.directory / picture).convert("RGB")
        image = image.quantize(
            COLOURS, Image.Quantize.MEDIANCUT, kmeans=REFINEMENTS, dither=Image.Dither.NONE
        )
        image.save(target / picture, optimize=True)


def write_text(name: str) -> None:
    """Writes the short report from the claims in docs/papers."""
    (DOCS / name / "report.md").write_text(text_of(name), encoding="utf-8")


def text_of(name: str) -> str:
    """Returns the short report of a paper."""
    paper = framework.load(name)
    record = json.loads((DOCS / name / "claims.json").read_text(encoding="utf-8"))
    parts = framework.parts_of(paper, record["parts"])
    return short_report.document(paper, parts, record).markdown()


def data_of(part: str) -> tuple[str, str]:
    """Returns the names of a part's files of data, without their ending."""
    return part, f"{part}-figure"


def check_size() -> None:
    """Ends with an error if the data of all papers are larger than the repository should hold."""
    size = sum(file.stat().st_size for file in DOCS.glob("*/data/*"))
    print(f"data of all papers: {size / 1e6:.2f} MB")
    if size > LARGEST_DATA_BYTES:
        sys.exit(f"data of all papers: more than {LARGEST_DATA_BYTES / 1e6:g} MB; keep fewer")


def index() -> Document:
    """What has become of the claims of each paper, and of each study of this project."""
    papers = [framework.load(name) for name in framework.names()]
    blocks: list[Block] = [Paragraph(INTRODUCTION), Paragraph(AGES)]
    for heading, is_study in (("Papers", False), ("Studies of this project", True)):
        rows = [_row(paper) for paper in papers if is_study == (not paper.authors)]
        blocks += [Heading(heading), Table(("", "title", *Verdict), rows)]
    return Document("The papers, reproduced, and two studies", blocks)


def _row(paper: framework.Paper) -> tuple[str, ...]:
    claims = json.loads((DOCS / paper.name / "claims.json").read_text(encoding="utf-8"))
    verdicts = [claim["verdict"] for claim in claims["claims"]]
    title = f"{paper.authors}: {paper.title}" if paper.authors else paper.title
    counts = (str(verdicts.count(verdict)) for verdict in Verdict)
    return (f"[{paper.name}]({paper.name}/report.md)", title, *counts)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    is_text = "--text" in arguments
    for paper in [name for name in arguments if name != "--text"] or framework.names():
        if not is_text:
            write(paper)
        write_text(paper)
    check_size()
    (DOCS / "index.md").write_text(index().markdown(), encoding="utf-8")
