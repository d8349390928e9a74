"""Links and anchors of every Markdown file of the repository, and files that a README names."""

import re
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from markdown_links import anchors, links, resolve
from tests.tracked_files import tracked_files

REPOSITORY = Path(__file__).parents[1]


def documents() -> list[PurePosixPath]:
    """The Markdown files of the repository, those that are not committed yet included."""
    found = tracked_files("--cached", "--others", "--exclude-standard", "*.md")
    return [name for name in found if (REPOSITORY / name).exists()]


@cache
def anchors_of(path: Path) -> set[str]:
    return anchors(path.read_text(encoding="utf-8"))


def faults(root: Path, page: PurePosixPath) -> list[str]:
    """What is wrong with the links of a page: place, target, and what is missing."""
    found = []
    for link in links((root / page).read_text(encoding="utf-8")):
        if link.is_external:
            continue
        place = f"{page}:{link.line}: {link.target}"
        try:
            target = root / resolve(page, link.path)
        except ValueError as error:
            found.append(f"{place}: {error}")
            continue
        if not target.exists():
            found.append(f"{place}: there is no such file")
        elif link.anchor and target.suffix == ".md" and link.anchor not in anchors_of(target):
            found.append(f"{place}: the file has no such heading")
    return found


def test_every_link_leads_to_a_file_and_every_anchor_to_a_heading() -> None:
    pages = documents()
    assert len(pages) > 80
    found = [fault for page in pages for fault in faults(REPOSITORY, page)]
    assert not found, "\n".join(found)


SOURCE = re.compile(r"`([a-z0-9_./-]+\.(?:csv|html|md|py|rs|tcl|toml|ts))`")
"""A file of the repository in a README; what a build writes has other endings."""


def test_every_file_that_a_readme_names_exists() -> None:
    there = [f"/{name}" for name in tracked_files()]
    missing = [
        f"{page}: {name}"
        for page in documents()
        if page.name == "README.md"
        for name in SOURCE.findall((REPOSITORY / page).read_text(encoding="utf-8"))
        if not any(path.endswith(f"/{name}") for path in there)
    ]
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("absent.md", "there is no such file"),
        ("other.md#absent", "the file has no such heading"),
        ("#absent", "the file has no such heading"),
        ("../../other.md", "leads out of the repository"),
    ],
)
def test_a_link_to_nothing_is_named_with_its_line(tmp_path: Path, link: str, words: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "other.md").write_text("# There\n", encoding="utf-8")
    page = f"# A page\n\nSee [it](other.md#there),\n[this](#a-page), and [that\none]({link}).\n"
    (folder / "page.md").write_text(page, encoding="utf-8")
    (fault,) = faults(tmp_path, PurePosixPath("folder/page.md"))
    assert fault.startswith(f"folder/page.md:4: {link}: ")
    assert words in fault


def test_a_space_in_a_name_is_written_as_in_an_address(tmp_path: Path) -> None:
    (tmp_path / "two words.md").write_text("# There\n", encoding="utf-8")
    (tmp_path / "page.md").write_text("[it](two%20words.md#there)\n", encoding="utf-8")
    assert faults(tmp_path, PurePosixPath("page.md")) == []


def test_code_and_comments_have_no_links() -> None:
    text = "`[a](b.md)`\n\n```text\n[a](b.md)\n```\n\n<!-- [a](b.md) -->\n\n[c `]` d](e.md)\n"
    assert [link.target for link in links(text)] == ["e.md"]


def test_a_picture_within_a_link_and_a_definition_are_links_too() -> None:
    text = "[![alt](picture.png)](page.md) and [this].\n\n[this]: there.md\n"
    found = [(link.target, link.is_image) for link in links(text)]
    assert found == [("page.md", False), ("picture.png", True), ("there.md", False)]


# GitHub's own anchors of headings in this repository's style.
@pytest.mark.parametrize(
    ("title", "anchor"),
    [
        ("Small buffers: the pipe of ns-2's recovery", "small-buffers-the-pipe-of-ns-2s-recovery"),
        ("`scenario_hash` covers", "scenario_hash-covers"),
        ("PIE, *and* others + more", "pie-and-others--more"),
        ("[Sweeps](sweep.md)", "sweeps"),
    ],
)
def test_anchors_are_those_of_github(title: str, anchor: str) -> None:
    assert anchors(f"## {title}\n") == {anchor}


def test_a_heading_that_occurs_twice_has_a_number_and_elements_have_their_names() -> None:
    text = '# Keys\n\n## Keys\n\n```sh\n# Code\n```\n\n<a id="there"></a>\n\nA <b id="b">b</b>\n'
    assert anchors(text) == {"keys", "keys-1", "there", "b"}
