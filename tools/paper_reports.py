"""Writes docs/papers: the papers reproduced in their full form.

python tools/paper_reports.py [NAME ...]

The runs stay in out/papers/NAME, so that a second call only draws and judges anew.
"""

import shutil
import sys
from pathlib import Path

from PIL import Image

from tailroom import papers
from tailroom.papers.report import picture_file

REPOSITORY = Path(__file__).parents[1]
COLOURS = 64
"""Of a picture: enough for lines and bands, at a third of the size."""


def write(name: str) -> None:
    """Reproduces a paper, and copies report, claims and pictures."""
    done = papers.reproduce(papers.load(name), REPOSITORY / "out" / "papers" / name)
    target = REPOSITORY / "docs" / "papers" / name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for file in ("report.md", "claims.json"):
        shutil.copyfile(done.directory / file, target / file)
    for part in done.parts:
        picture = picture_file(part.part.name)
        image = Image.open(done.directory / picture).convert("RGB").quantize(COLOURS)
        image.save(target / picture, optimize=True)


if __name__ == "__main__":
    for paper in sys.argv[1:] or papers.PACKAGES:
        write(paper)
