"""What a release needs next to its builds: version, check of the tag, notes, README for PyPI.

python tools/release.py prepare VERSION
python tools/release.py check TAG
python tools/release.py notes TAG
python tools/release.py readme ADDRESS TAG

`prepare` writes the version into the files that state one and dates the section of CHANGELOG.md.
`check` fails unless the tag names the version that all files state, and no file says that something
is still to be done. `notes` prints the section of CHANGELOG.md. `readme` writes README.md anew with
links that work outside of the repository: a package index shows the file alone.
"""

import datetime
import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from markdown_links import links, resolve

REPOSITORY = Path(__file__).parents[1]
README = PurePosixPath("README.md")
PYTHON_ALONE = ("atlas/pyproject.toml", "papers/pyproject.toml")
UNPUBLISHED = "not published yet"
PLACEHOLDER = "is a placeholder"
VERSION = re.compile(r"\d+\.\d+\.\d+")
TARGET = re.compile(r"(?<=\]\()[^()\s]+")


def _version(repository: Path) -> str:
    """Returns the version of the workspace."""
    manifest = tomllib.loads((repository / "Cargo.toml").read_text(encoding="utf-8"))
    version: str = manifest["workspace"]["package"]["version"]
    return version


def prepare(repository: Path, version: str, date: datetime.date) -> None:
    """Writes a version into the files that state one, and dates the section of CHANGELOG.md.

    Args:
        repository: Root of the repository.
        version: The version, such as `0.2.0`.
        date: Day of the release.

    Raises:
        ValueError: The version is not three numbers, or CHANGELOG.md has no section for it.
    """
    if not VERSION.fullmatch(version):
        raise ValueError(f"{version}: a version is three numbers, such as 0.2.0")
    old = f'version = "{_version(repository)}"'
    for name in ("Cargo.toml", *PYTHON_ALONE):
        _replace(repository / name, old, f'version = "{version}"')
    _replace(repository / "CITATION.cff", re.compile(r"^version: .*$", re.M), f"version: {version}")
    _replace(repository / "CHANGELOG.md", "## [Unreleased]", f"## [{version}] - {date.isoformat()}")


def _replace(path: Path, old: str | re.Pattern[str], new: str) -> None:
    text = path.read_text(encoding="utf-8")
    changed = text.replace(old, new) if isinstance(old, str) else old.sub(new, text)
    if changed == text and new not in text:
        raise ValueError(f"{path.name}: {old} is not there, or it is not the last release's")
    path.write_text(changed, encoding="utf-8")


def faults(repository: Path, tag: str) -> list[str]:
    """Returns why a tag cannot be released; nothing if it can.

    Args:
        repository: Root of the repository.
        tag: The tag, such as `v0.1.0`.
    """

    def read(name: str) -> str:
        return (repository / name).read_text(encoding="utf-8")

    stated = {
        "Cargo.toml": [_version(repository)],
        "CITATION.cff": re.findall(r"^version: (\S+)$", read("CITATION.cff"), re.MULTILINE),
        **{name: [tomllib.loads(read(name))["project"]["version"]] for name in PYTHON_ALONE},
        "CHANGELOG.md": re.findall(r"^## \[(\d\S*)\]", read("CHANGELOG.md"), re.MULTILINE)[:1],
    }
    found = [
        f"{name}: states {', '.join(versions) or 'no version'}, and the tag is {tag}"
        for name, versions in stated.items()
        if [f"v{one}" for one in versions] != [tag]
    ]
    unfinished = {str(README): UNPUBLISHED, "SECURITY.md": PLACEHOLDER}
    found += [
        f'{name}: says "{words}"' for name, words in unfinished.items() if words in read(name)
    ]
    return found


def notes(text: str, tag: str) -> str:
    """Returns what a changelog says of a release.

    Args:
        text: The changelog.
        tag: The tag of the release.

    Raises:
        ValueError: There is no section for the tag.
    """
    heading = re.search(rf"^## \[{re.escape(tag.removeprefix('v'))}\].*\n", text, re.M)
    if heading is None:
        raise ValueError(f"CHANGELOG.md: has no section for {tag}")
    return text[heading.end() :].split("\n## ", 1)[0].strip() + "\n"


def readme(text: str, address: str, tag: str) -> str:
    """Returns the README with absolute links.

    Args:
        text: The README.
        address: Address of the repository on the web.
        tag: The tag whose files the links show.
    """
    absolute: dict[str, str] = {}
    for link in links(text):
        if link.path and not link.is_external:
            kind = "raw" if link.is_image else "blob"
            anchor = f"#{link.anchor}" if link.anchor else ""
            path = resolve(README, link.path)
            absolute[link.target] = f"{address}/{kind}/{tag}/{path}{anchor}"
    return TARGET.sub(lambda match: absolute.get(match[0], match[0]), text)


def main(arguments: Sequence[str]) -> int:
    """Prepares or checks a release, prints its notes, or writes the README anew."""
    try:
        match arguments:
            case ["prepare", version]:
                prepare(REPOSITORY, version, datetime.datetime.now(datetime.UTC).date())
            case ["check", tag]:
                found = faults(REPOSITORY, tag)
                print("\n".join(found), end="\n" if found else "")
                return 1 if found else 0
            case ["notes", tag]:
                text = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
                print(notes(text, tag), end="")
            case ["readme", address, tag]:
                path = REPOSITORY / README
                path.write_text(
                    readme(path.read_text(encoding="utf-8"), address, tag), encoding="utf-8"
                )
            case _:
                usage = "prepare VERSION | check TAG | notes TAG | readme ADDRESS TAG"
                print(f"usage: release.py {usage}", file=sys.stderr)
                return 2
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
