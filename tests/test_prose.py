"""The check of words and file names in `make lint`."""

from pathlib import PurePosixPath

import pytest

from prose import faults

PAGE = PurePosixPath("page.md")


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("Flows come and\ngo.", "arrive and depart"),
        ("In order to see it,\nrun it.", '1: "In order to": to'),
        ("A powerful simulator.", "or give the number"),
        ("The measured bandwidth is 9 Mbit/s.", "throughput, goodput"),
    ],
)
def test_a_word_is_named_with_its_line_and_what_to_write(text: str, remedy: str) -> None:
    (fault,) = faults(PAGE, text)
    assert fault.startswith("page.md:1: ")
    assert remedy in fault


@pytest.mark.parametrize(
    "text",
    [
        'The paper calls it "a powerful tool".',
        "`in order to`",
        "```text\nin order to\n```\n",
        "> in order to\n",
        "The measured bandwidth-delay product.",
        "Utilization of the link.",
    ],
)
def test_code_quotations_and_terms_of_the_field_are_no_faults(text: str) -> None:
    assert not list(faults(PAGE, text))


def test_comments_and_docstrings_are_prose_and_strings_are_not() -> None:
    python = '"""Simply this."""\n\nVALUE = "simply"  # simply that\n'
    found = list(faults(PurePosixPath("page.py"), python))
    assert [fault.split(": ")[0] for fault in found] == ["page.py:1", "page.py:3"]
    rust = "/// Simply this.\nlet value = simply;\n"
    assert next(faults(PurePosixPath("page.rs"), rust)).startswith("page.rs:1: ")


@pytest.mark.parametrize(
    ("name", "number"),
    [("utils.py", 1), ("io_helpers.rs", 1), ("io.rs", 0), ("common_flows.py", 0)],
)
def test_a_name_that_says_nothing_is_a_fault(name: str, number: int) -> None:
    assert len(list(faults(PurePosixPath("folder") / name, ""))) == number
