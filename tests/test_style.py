"""The rules of Vale in `tools/linters`, and the names of files."""

import re
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

from tests.tracked_files import tracked_files

REPOSITORY = Path(__file__).parents[1]
VALE = Path(sys.executable).with_name("vale")

FAULTS = {
    "Flows come and\ngo.": "arrive and depart",
    "In order to see it,\nrun it.": "Write 'to' instead of 'In order to'",
    "A powerful simulator.": "or give the number",
    "The measured bandwidth is 9 Mbit/s.": "throughput, goodput",
    "The link is utilised.": "Write 'use' instead",
    "The user and his link.": "Write 'their'",
    "Run the the test.": "'the the' stands twice",
    "word " + "and more " * 30 + "words.": "More than 60 words in a sentence",
}
NO_FAULTS = [
    'The paper calls it "a powerful\ntool".',
    "`in order to`, or `a` or `b`",
    "```text\nin order to\n```",
    "> in order to",
    "The measured bandwidth-delay product.",
    "Utilization of the link.",
    "word " + "and more " * 28 + "words.",
    "$w w$",
]
PYTHON = '''"""Simply this."""


def easily():
    """Returns it easily."""
    return 1  # obviously
'''
RUST = "//! Simply this.\n\n/// Easily.\nlet easily = 1; // Obviously.\n"


def found(text: str, suffix: str = ".md") -> list[str]:
    """What Vale says of a text, a line per fault."""
    if not VALE.exists():
        pytest.skip("Vale is not built: make words (needs Go)")
    command = [str(VALE), "--no-global", "--no-wrap", "--output=line", f"--ext={suffix}"]
    done = subprocess.run(
        command, cwd=REPOSITORY, input=text, capture_output=True, text=True, check=False
    )
    assert not done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(("text", "remedy"), FAULTS.items())
def test_a_fault_is_found_once_with_its_remedy(text: str, remedy: str) -> None:
    (fault,) = found(text)
    assert remedy in fault


@pytest.mark.parametrize("text", NO_FAULTS)
def test_code_quotations_and_terms_of_the_field_are_no_faults(text: str) -> None:
    assert not found(text)


@pytest.mark.parametrize(
    ("text", "suffix", "lines"), [(PYTHON, ".py", [1, 5, 6]), (RUST, ".rs", [1, 3, 4])]
)
def test_comments_and_docstrings_are_prose_and_names_are_not(
    text: str, suffix: str, lines: list[int]
) -> None:
    assert [int(fault.split(":")[1]) for fault in found(text, suffix)] == lines


def test_names_of_files_say_what_is_inside() -> None:
    says_nothing = re.compile(r"(?:.*_)?(?:utils?|common|misc|managers?|helpers?)")
    names = tracked_files("*.py", "*.rs", "*.ts")
    assert len(names) > 100
    assert not [str(name) for name in names if says_nothing.fullmatch(name.stem)]


def test_no_file_is_named_by_a_participle_alone() -> None:
    participle = re.compile(
        "(?!(?:embed|highspeed|red)$)[a-z]+ed|drawn|found|given|kept|left_open|written"
    )
    names = [str(name) for name in tracked_files("*.py", "*.ts")]
    stems = {name: PurePosixPath(name).name.split(".")[0] for name in names}
    assert len(names) > 100
    assert not [name for name, stem in stems.items() if participle.fullmatch(stem)]


def test_texts_say_next_to_or_compared_with() -> None:
    word = re.compile("bes[i]de", re.IGNORECASE)
    # Names under which results are stored.
    stored = re.compile('"bes[i]de the background"|bes[i]de-newreno|(?:-|9743/)bes[i]de(?=-|")')
    files = tracked_files("*.py", "*.rs", "*.toml", "*.ts", "*.mjs", "*.css", "*.ipynb")
    assert len(files) > 100
    texts = {str(name): (REPOSITORY / name).read_text(encoding="utf-8") for name in files}
    assert not [name for name, text in texts.items() if word.search(stored.sub("", text))], (
        "write 'next to', 'with', 'compared with', 'in addition to' or 'apart from'"
    )
