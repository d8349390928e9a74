"""Writes the numbers of docs/quality.md from what programs have recorded.

python tools/quality.py [--check]

`python -m tests.validation.attack --record` records what was attacked, and how it ended. With
`--check`, nothing is written, and the status is 1 if the table is out of date, or if a sentence
outside it has a number that nothing prints or asserts.
"""

import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from markdown_table import markdown_table

REPOSITORY = Path(__file__).parents[1]
PAGE = REPOSITORY / "docs" / "quality.md"
ATTACK = REPOSITORY / "tests" / "validation" / "attack.csv"
BEGIN, END = "<!-- tools/quality.py writes this table -->\n\n", "\n<!-- end of the table -->"
NOT_CHECKED = "## Dependencies and their licences"
"""A section with a program of its own."""
ASSERTED = {
    "64 MB": ("64", "tests/test_memory_limit.py"),
    "half a second": ("0.5", "tests/test_batch.py"),
    "thousands of groups": ("12_000", "tests/test_interrupt.py"),
}
"""Numbers of sentences, and how the test that asserts them writes them."""
NUMBER = re.compile(r"\d|\b(?:half(?!-)|(?:tens|hundreds?|thousands?|millions?) of)\b")
NAMES = re.compile(r"`[^`]*`|\]\([^)]*\)|64-bit|M/M/1/K|M/D/1|ns-2|x86-64")
"""What has digits and is no number."""


def attack_table() -> str:
    """What was attacked: kinds of inputs, how many, how they ended."""
    with ATTACK.open(encoding="utf-8", newline="") as file:
        rows = [
            [row["part"], f"{int(row['inputs']):,}", row["endings"], row["commit"]]
            for row in csv.DictReader(file)
        ]
    return markdown_table(["part", "inputs", "how they ended", "commit"], rows)


def page(before: str) -> str:
    """Returns the page with the table.

    Args:
        before: The page as it was.
    """
    head, begin, rest = before.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not (begin and end):
        sys.exit(f"{PAGE}: the marks of the table are missing; add them again")
    return f"{head}{begin}{attack_table()}{end}{tail}"


def loose_numbers(text: str) -> Iterator[str]:
    """Yields the lines with a number that nothing prints or asserts.

    Args:
        text: The page.
    """
    sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    checked = "".join(one for one in sections if not one.startswith(NOT_CHECKED))
    head, _, rest = checked.partition(BEGIN)
    for line in (head + rest.partition(END)[2]).splitlines():
        left = NAMES.sub("", line)
        for number in ASSERTED:
            left = left.replace(number, "")
        if NUMBER.search(left):
            yield line


def main(arguments: list[str]) -> int:
    """Writes the table, or compares it."""
    before = PAGE.read_text(encoding="utf-8")
    now = page(before)
    if arguments != ["--check"]:
        PAGE.write_text(now, encoding="utf-8")
        return 0
    if now != before:
        print("docs/quality.md is out of date: python tools/quality.py")
    loose = list(loose_numbers(now))
    for line in loose:
        print(f"docs/quality.md: a number that nothing prints: {line}")
    lost = [(number, test) for number, (digits, test) in ASSERTED.items() if not _has(test, digits)]
    for number, test in lost:
        print(f"docs/quality.md: {number} is not in {test}")
    return 1 if now != before or loose or lost else 0


def _has(test: str, digits: str) -> bool:
    text = (REPOSITORY / test).read_text(encoding="utf-8")
    return re.search(rf"\b{re.escape(digits)}\b", text) is not None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
