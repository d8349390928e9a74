"""What a release checks, and its README."""

import datetime
import shutil
import tomllib
from pathlib import Path

import pytest

from markdown_links import links
from release import PLACEHOLDER, UNPUBLISHED, faults, notes, prepare, readme

REPOSITORY = Path(__file__).parents[1]
FILES = (
    *("Cargo.toml", "CITATION.cff", "CHANGELOG.md", "README.md", "SECURITY.md"),
    *("atlas/pyproject.toml", "papers/pyproject.toml"),
)


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """A copy of the files that state a version, as they are in a release."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(REPOSITORY / name, tmp_path / name)
    change(tmp_path / "README.md", UNPUBLISHED, "published")
    change(tmp_path / "SECURITY.md", PLACEHOLDER, "is read by the owner")
    prepare(tmp_path, version(), datetime.date(2026, 12, 1))
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    """Replaces a text of a file, which must be there."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def version() -> str:
    """The version of the workspace."""
    manifest = tomllib.loads((REPOSITORY / "Cargo.toml").read_text(encoding="utf-8"))
    stated: str = manifest["workspace"]["package"]["version"]
    return stated


def test_a_tag_with_the_version_of_all_files_is_released(released: Path) -> None:
    assert not faults(released, f"v{version()}")


@pytest.mark.parametrize(
    "name", [name for name in FILES if name not in ("README.md", "SECURITY.md")]
)
def test_a_file_that_states_another_version_is_named(released: Path, name: str) -> None:
    change(released / name, version(), "9.9.9")
    (fault,) = faults(released, f"v{version()}")
    assert fault.startswith(f"{name}: states 9.9.9")


@pytest.mark.parametrize(
    ("name", "done", "to_do"),
    [
        ("README.md", "published", UNPUBLISHED),
        ("SECURITY.md", "is read by the owner", PLACEHOLDER),
    ],
)
def test_a_file_that_says_what_is_still_to_be_done_is_named(
    released: Path, name: str, done: str, to_do: str
) -> None:
    change(released / name, done, to_do)
    (fault,) = faults(released, f"v{version()}")
    assert fault.startswith(name)


def test_a_version_is_written_into_all_files(released: Path) -> None:
    section = f"## [{version()}]"
    change(released / "CHANGELOG.md", section, f"## [Unreleased]\n\nNew.\n\n{section}")
    prepare(released, "0.2.0", datetime.date(2027, 2, 3))
    assert not faults(released, "v0.2.0")
    changelog = (released / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## [0.2.0] - 2027-02-03" in changelog
    assert notes(changelog, "v0.2.0") == "New.\n"


def test_a_version_that_is_not_three_numbers_is_refused(released: Path) -> None:
    with pytest.raises(ValueError, match=r"v0\.2: a version is three numbers"):
        prepare(released, "v0.2", datetime.date(2027, 2, 3))


def test_notes_of_a_release_without_a_section_are_refused() -> None:
    with pytest.raises(ValueError, match=r"no section for v9\.9\.9"):
        notes("# Changelog\n\n## [0.1.0]\n", "v9.9.9")


def test_the_readme_of_a_package_index_has_absolute_links() -> None:
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    shown = readme(text, "https://example.org/o/r", "v1.0.0")
    targets = [link.target for link in links(shown)]
    assert len(targets) == len(list(links(text))) > 15
    assert all(target.startswith("https://") for target in targets)
    assert "https://example.org/o/r/raw/v1.0.0/docs/images/explore.png" in targets
    assert "https://example.org/o/r/blob/v1.0.0/docs/guide/size.md" in targets


def test_a_text_that_equals_its_link_stays() -> None:
    shown = readme("See [a.md](a.md#b) and [![p](p.png)](c.md).", "https://e.org/r", "v1")
    assert shown == (
        "See [a.md](https://e.org/r/blob/v1/a.md#b) and "
        "[![p](https://e.org/r/raw/v1/p.png)](https://e.org/r/blob/v1/c.md)."
    )
