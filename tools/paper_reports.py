"""Writes docs/papers: the papers reproduced in their full form, and an index of them.

python tools/paper_reports.py [NAME ...]

The runs stay in out/papers/NAME, so that a second call only draws and judges anew.
"""

import json
import shutil
import sys
from pathlib import Path

from PIL import Image

from tailroom import reproduction
from tailroom.reports.document import Document, Paragraph, Table
from tailroom.reproduction import Verdict
from tailroom.reproduction.report import picture_file

REPOSITORY = Path(__file__).parents[1]
DOCS = REPOSITORY / "docs" / "papers"
COLOURS = 256
"""Of a picture: enough for lines and bands, at half the size."""
REFINEMENTS = 3
"""Rounds in which the colours move to the means of their pixels."""
INTRODUCTION = """\
Every figure, table and claim of three papers, and the same questions on today's links, as
`tailroom papers run NAME` reproduces them in the full form ([guide](../guide/papers.md)). Each
report holds the pictures, and for each claim the paper's number, ours with its confidence interval,
the verdict, and why. `make papers` writes these pages anew."""


def write(name: str) -> None:
    """Reproduces a paper, and copies report, claims and pictures."""
    done = reproduction.reproduce(reproduction.load(name), REPOSITORY / "out" / "papers" / name)
    target = DOCS / name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for file in ("report.md", "claims.json"):
        shutil.copyfile(done.directory / file, target / file)
    for part in done.parts:
        picture = picture_file(part.part.name)
        image = Image.open(done.directory / picture).convert("RGB")
        image = image.quantize(
            COLOURS, Image.Quantize.MEDIANCUT, kmeans=REFINEMENTS, dither=Image.Dither.NONE
        )
        image.save(target / picture, optimize=True)


def index() -> Document:
    """What has become of the claims of each paper."""
    rows = []
    for name in reproduction.names():
        claims = json.loads((DOCS / name / "claims.json").read_text(encoding="utf-8"))
        verdicts = [claim["verdict"] for claim in claims]
        counts = [str(verdicts.count(verdict)) for verdict in Verdict]
        paper = reproduction.load(name)
        rows.append((f"[{name}]({name}/report.md)", f"{paper.authors}: {paper.title}", *counts))
    headings = ("", "paper", *Verdict)
    return Document("The papers, reproduced", [Paragraph(INTRODUCTION), Table(headings, rows)])


if __name__ == "__main__":
    for paper in sys.argv[1:] or reproduction.names():
        write(paper)
    (DOCS / "index.md").write_text(index().markdown(), encoding="utf-8")
