"""What a release checks, and its README."""

import shutil
import tomllib
from pathlib import Path

import pytest

from markdown_links import links
from release import UNPUBLISHED, faults, readme

REPOSITORY = Path(__file__).parents[1]
FILES = (
    *("Cargo.toml", "CITATION.cff", "CHANGELOG.md", "README.md"),
    *("atlas/pyproject.toml", "papers/pyproject.toml"),
)


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """A copy of the files that state a version, as they are in a release."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(REPOSITORY / name, tmp_path / name)
    change(tmp_path / "README.md", UNPUBLISHED, "published")
    change(tmp_path / "CHANGELOG.md", "## [Unreleased]", f"## [{version()}]")
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


@pytest.mark.parametrize("name", [name for name in FILES if name != "README.md"])
def test_a_file_that_states_another_version_is_named(released: Path, name: str) -> None:
    change(released / name, version(), "9.9.9")
    (fault,) = faults(released, f"v{version()}")
    assert fault.startswith(f"{name}: states 9.9.9")


def test_a_readme_that_says_it_is_not_published_is_no_release(released: Path) -> None:
    change(released / "README.md", "published", UNPUBLISHED)
    (fault,) = faults(released, f"v{version()}")
    assert fault.startswith("README.md")


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
