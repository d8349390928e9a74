"""Writes docs/papers: the papers reproduced in their full form, and the page of all.

python tools/paper_reports.py [--text | NAME ...]
python tools/paper_reports.py --reports DIR

The runs stay in out/papers/NAME, so that a second call only draws and judges anew. With `--text`,
nothing is run: the page is written from docs/papers/NAME/claims.json. `--reports` writes the report
of each paper, which is not in git, into DIR/NAME, and runs nothing either.
"""

import shutil
import sys
from pathlib import Path

from PIL import Image

from papers_page import DOCS, PAGE, page
from tailroom_papers import framework
from tailroom_papers.framework.checked_report import write_report
from tailroom_papers.framework.report import picture_file

REPOSITORY = Path(__file__).parents[1]
QUICK = "quick.json"
"""Verdicts of the quick form."""
COLOURS = 256
"""Of a picture: enough for lines and bands, at half the size."""
LARGEST_DATA_BYTES = 5_000_000
"""Of the data of all papers together."""
REFINEMENTS = 3
"""Rounds in which the colours move to the means of their pixels."""


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


def write_reports(out: Path) -> None:
    """Writes the report of each paper from its claims and pictures in docs/papers.

    Args:
        out: New directory, with a directory for each paper.
    """
    for name in framework.names():
        (out / name).mkdir(parents=True)
        write_report(framework.load(name), DOCS / name, out / name)


def data_of(part: str) -> tuple[str, str]:
    """Returns the names of a part's files of data, without their ending."""
    return part, f"{part}-figure"


def check_size() -> None:
    """Ends with an error if the data of all papers are larger than the repository should hold."""
    size = sum(file.stat().st_size for file in DOCS.glob("*/data/*"))
    print(f"data of all papers: {size / 1e6:.2f} MB")
    if size > LARGEST_DATA_BYTES:
        sys.exit(f"data of all papers: more than {LARGEST_DATA_BYTES / 1e6:g} MB; keep fewer")


def main(arguments: list[str]) -> None:
    """Reproduces papers and writes the page, or writes the reports."""
    match arguments:
        case ["--reports", out]:
            write_reports(Path(out))
            return
        case ["--text"]:
            pass
        case names:
            for name in names or framework.names():
                write(name)
            check_size()
    PAGE.write_text(page().markdown(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
