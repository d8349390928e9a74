"""What a release needs in addition to its builds: a check of its tag, and a README for PyPI.

python tools/release.py check TAG
python tools/release.py readme ADDRESS TAG

`check` fails unless the tag names the version that all files state, and the README no longer says
that it is not published. `readme` writes README.md anew with links that work outside of the
repository: a package index shows the file alone.
"""

import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from markdown_links import links, resolve

REPOSITORY = Path(__file__).parents[1]
README = PurePosixPath("README.md")
UNPUBLISHED = "not published yet"
TARGET = re.compile(r"(?<=\]\()[^()\s]+")


def faults(repository: Path, tag: str) -> list[str]:
    """Returns why a tag cannot be released; nothing if it can.

    Args:
        repository: Root of the repository.
        tag: The tag, such as `v0.1.0`.
    """

    def read(name: str) -> str:
        return (repository / name).read_text(encoding="utf-8")

    version: str = tomllib.loads(read("Cargo.toml"))["workspace"]["package"]["version"]
    stated = {
        "Cargo.toml": [version],
        "CITATION.cff": re.findall(r"^version: (\S+)$", read("CITATION.cff"), re.MULTILINE),
        **{
            name: [tomllib.loads(read(name))["project"]["version"]]
            for name in ("atlas/pyproject.toml", "papers/pyproject.toml")
        },
        "CHANGELOG.md": re.findall(r"^## \[(\d\S*)\]", read("CHANGELOG.md"), re.MULTILINE)[:1],
    }
    found = [
        f"{name}: states {', '.join(versions) or 'no version'}, and the tag is {tag}"
        for name, versions in stated.items()
        if [f"v{one}" for one in versions] != [tag]
    ]
    if UNPUBLISHED in read(str(README)):
        found.append(f'{README}: says "{UNPUBLISHED}"')
    return found


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
    """Checks a tag, or writes the README anew."""
    match arguments:
        case ["check", tag]:
            found = faults(REPOSITORY, tag)
            print("\n".join(found), end="\n" if found else "")
            return 1 if found else 0
        case ["readme", address, tag]:
            path = REPOSITORY / README
            path.write_text(
                readme(path.read_text(encoding="utf-8"), address, tag), encoding="utf-8"
            )
            return 0
    print("usage: release.py check TAG | readme ADDRESS TAG", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
