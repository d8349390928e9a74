"""The tutorial: every command is run, and prints what stands below it."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.validation import transcripts, tutorial_pictures

ROOT = Path(__file__).parents[1]
TUTORIAL = ROOT / "docs" / "tutorial"
PAGES = sorted(TUTORIAL.glob("?-*.md"))
QUICK = {"1-first-run.md"}
"""Pages whose commands take a second or two."""

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def _quietly(_: object) -> None:
    """Shows no commands."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=() if page.name in QUICK else pytest.mark.slow)
        for page in PAGES
    ],
)
def test_the_commands_of_a_page_print_what_stands_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    stale = [now for _, now in transcripts.stale_blocks(text, _quietly)]
    assert not stale, "python -m tests.validation.transcripts --write renews it:\n" + stale[0]


@pages
def test_every_block_is_run_or_is_a_file_that_a_command_uses(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    fences = re.findall(r"^```(?!math)\w.*$", text, re.MULTILINE)
    blocks = list(transcripts.BLOCK.finditer(text))
    files = list(transcripts.FILE.finditer(text))
    assert transcripts.OWN_DIRECTORY in text
    assert blocks
    assert len(fences) == len(blocks) + len(files)
    for file in files:
        users = [block["command"] for block in blocks] + [
            other["text"] for other in files if other is not file
        ]
        assert any(file["name"].partition(".")[0] in user for user in users), file["name"]


@pages
def test_a_page_has_a_small_picture_that_is_there(page: Path) -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    assert pictures
    for picture in pictures:
        assert (TUTORIAL / picture).stat().st_size < tutorial_pictures.MOST_BYTES, picture


def test_the_index_has_every_page_in_order() -> None:
    linked = re.findall(r"\((\d-[\w-]+\.md)\)", (TUTORIAL / "index.md").read_text(encoding="utf-8"))
    assert linked == [page.name for page in PAGES]
    assert len(PAGES) == 6


def _page(*blocks: str) -> str:
    return transcripts.OWN_DIRECTORY + "".join(f"\n{block}\n" for block in blocks)


def test_commands_share_a_directory_that_has_the_files_of_the_page() -> None:
    file = "<!-- file names.txt -->\n```text\none\ntwo\n```"
    first = "```console\n$ cat names.txt && echo three > more.txt\none\ntwo\n```"
    second = "```console\n$ cat more.txt\nthree\n```"
    assert not list(transcripts.stale_blocks(_page(file, first, second), _quietly))


def test_a_file_of_the_repository_is_copied_if_the_page_names_it() -> None:
    block = "```console\n$ cmp LICENSE licence && ls\nLICENSE\nlicence\n```"
    file = "<!-- file of the repository: LICENSE -->"
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    page = _page(file, f"<!-- file licence -->\n```text\n{text}```", block)
    assert not list(transcripts.stale_blocks(page, _quietly))


def test_a_block_that_is_marked_is_not_run() -> None:
    page = _page("<!-- not run -->\n```console\n$ exit 1\nold\n```")
    assert not list(transcripts.stale_blocks(page, _quietly))


def test_the_name_of_the_directory_is_not_that_of_this_run() -> None:
    block = f"```console\n$ pwd\n{transcripts.SHOWN_DIRECTORY}\n```"
    assert not list(transcripts.stale_blocks(_page(block), _quietly))


@pytest.mark.parametrize(
    ("part", "shown"), [("first 2", "1\n2\n..."), ("last 2", "...\n2\n3"), ("last 3", "1\n2\n3")]
)
def test_a_part_of_the_output_suffices(part: str, shown: str) -> None:
    block = f"<!-- {part} lines -->\n```console\n$ seq 3\n{shown}\n```"
    assert not list(transcripts.stale_blocks(_page(block), _quietly))


def test_other_output_is_noticed() -> None:
    page = _page("```console\n$ echo new\nold\n```", "```console\n$ echo same\nsame\n```")
    ((block, now),) = transcripts.stale_blocks(page, _quietly)
    assert block["command"] == "echo new"
    assert now == "```console\n$ echo new\nnew\n```\n"


def test_equal_blocks_are_renewed_each_with_its_own_output(tmp_path: Path) -> None:
    block = "```console\n$ echo >> lines; grep -c ^ lines\nold\n```"
    page = tmp_path / "page.md"
    page.write_text(_page(block, block), encoding="utf-8")
    assert transcripts.main(["--write", str(page)], _quietly) == 0
    blocks = [block.replace("old", number) for number in ("1", "2")]
    assert page.read_text(encoding="utf-8") == _page(*blocks)


def test_a_new_directory_stands_for_the_word_alone() -> None:
    block = "```console\n$ touch OUT/file; TIMEOUT=5; echo $TIMEOUT OUT/*\n5 OUT/file\n```"
    assert not list(transcripts.stale_blocks(_page(block), _quietly))


def test_a_command_that_is_to_fail_shows_its_errors() -> None:
    block = "<!-- exit status 3 -->\n```console\n$ echo wrong >&2; exit 3\nwrong\n```"
    assert not list(transcripts.stale_blocks(_page(block), _quietly))


@pytest.mark.parametrize("head", ["", "<!-- exit status 2 -->\n"])
def test_another_exit_status_ends_the_comparison(head: str) -> None:
    page = _page(f"{head}```console\n$ exit 3\n```")
    with pytest.raises(subprocess.CalledProcessError, match="exit status 3"):
        list(transcripts.stale_blocks(page, _quietly))
