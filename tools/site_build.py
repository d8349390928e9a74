"""Builds the site of the documentation: `make site`.

python tools/site_build.py [--out out/site]

The pages are the Markdown files of the repository (site_pages.py says which, and where they lie),
Zensical builds them, and the page of `tailroom explore` becomes `explore/` if it is built. In the
end every link of the site is checked (site_check.py), and that every page has the text of its
Markdown (site_text.py). No network is needed. A directory that holds anything but a site is not
replaced.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import tomli_w

from site_check import faults
from site_pages import BrokenLinkError, Pages, place
from site_text import fault

REPOSITORY = Path(__file__).parents[1]
CONFIGURATION = REPOSITORY / "zensical.toml"
EXPLORER = REPOSITORY / "python" / "tailroom" / "explore" / "page"
OF_A_SITE = ("sitemap.xml", "search.json")
"""Files that Zensical writes into every site."""


def address(environment: Mapping[str, str]) -> str | None:
    """Returns the address of the repository on the web.

    It is `project.urls.Repository` of pyproject.toml, or what a workflow of GitHub runs for.

    Args:
        environment: Variables of the environment.
    """
    document = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    urls: dict[str, str] = document["project"].get("urls", {})
    if "Repository" in urls:
        return urls["Repository"].rstrip("/")
    server, name = environment.get("GITHUB_SERVER_URL"), environment.get("GITHUB_REPOSITORY")
    return f"{server}/{name}" if server and name else None


def navigation(entries: Sequence[Any], pages: Sequence[PurePosixPath]) -> list[Any]:
    """Returns the navigation with the pages of a folder in place of `folder/`.

    Args:
        entries: The navigation of zensical.toml.
        pages: All pages, by their place in the site. A folder without pages is left out.

    Raises:
        SystemExit: An entry names a page that does not exist.
    """
    shown: list[Any] = []
    for entry in entries:
        title, target = next(iter(entry.items())) if isinstance(entry, dict) else (None, entry)
        if isinstance(target, list):
            shown.append({title: navigation(target, pages)})
        elif target.endswith("/"):
            inside = sorted(str(page) for page in pages if page.is_relative_to(target))
            # The page of the folder itself comes first.
            inside.sort(key=lambda page: not page.endswith("/index.md"))
            shown += [{title: inside}] if inside else []
        elif PurePosixPath(target) in pages:
            shown.append(entry)
        else:
            raise SystemExit(f"zensical.toml: nav names {target}, and there is no such page")
    return shown


def named(entries: Sequence[Any]) -> set[str]:
    """Returns the pages that a navigation names.

    Args:
        entries: A navigation without folders.
    """
    found: set[str] = set()
    for entry in entries:
        target = next(iter(entry.values())) if isinstance(entry, dict) else entry
        found |= named(target) if isinstance(target, list) else {target}
    return found


def stage(source: Path, repository_address: str | None) -> Pages:
    """Writes the pages and the configuration for Zensical.

    Args:
        source: An empty or absent directory.
        repository_address: Address of the repository, if it has one.

    Raises:
        SystemExit: A link or the navigation names a page that does not exist, or a page of `docs/`
            is not in the navigation.
    """
    pages = Pages(REPOSITORY, repository_address)
    try:
        written = pages.write(source / "pages")
    except BrokenLinkError as error:
        raise SystemExit(str(error)) from error
    shutil.copyfile(REPOSITORY / "tools" / "site.css", source / "pages" / "site.css")
    document = tomllib.loads(CONFIGURATION.read_text(encoding="utf-8"))
    project = document["project"]
    project["nav"] = navigation(project["nav"], written)
    absent = sorted(
        {str(page) for page in written if page.parts[0] != "project"} - named(project["nav"])
    )
    if absent:
        raise SystemExit(f"zensical.toml: nav does not name {', '.join(absent)}")
    project["docs_dir"] = "pages"
    project["site_dir"] = "site"
    (source / "zensical.toml").write_text(tomli_w.dumps(document), encoding="utf-8")
    return pages


def texts(pages: Pages, site: Path) -> list[str]:
    """Returns which pages do not say what their Markdown says.

    Args:
        pages: The pages.
        site: Directory of the site.
    """
    found = []
    for name in sorted(pages.known):
        built = site / place(name).with_suffix(".html")
        if name.name == "README.md":
            built = built.with_name("index.html")
        markdown = (REPOSITORY / name).read_text(encoding="utf-8")
        lost = fault(markdown, built.read_text(encoding="utf-8"))
        found += [] if lost is None else [f"{name}: the page of the site {lost}"]
    return found


def checked(out: Path) -> None:
    """Checks that a directory may be replaced by a site.

    Args:
        out: The directory.

    Raises:
        SystemExit: It is a file, or holds anything but a site.
        OSError: It cannot be read.
    """
    if not out.exists():
        return
    if not out.is_dir():
        raise SystemExit(f"--out {out}: is a file; choose a new directory")
    if any(out.iterdir()) and not all((out / name).is_file() for name in OF_A_SITE):
        raise SystemExit(f"--out {out}: holds something else than a site; choose a new directory")


def build(out: Path) -> int:
    """Builds the site and checks its links.

    Args:
        out: Directory of the site. A site that is there is replaced.

    Returns:
        The exit status.

    Raises:
        SystemExit: The directory holds anything but a site.
        OSError: It cannot be written.
    """
    checked(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    # Beside the site, so that a place that cannot be written is found before the work.
    with tempfile.TemporaryDirectory(prefix=f"{out.name}-", dir=out.parent) as made:
        source = Path(made)
        pages = stage(source, address(os.environ))
        command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
        if subprocess.run(command, cwd=source, check=False).returncode:
            print(
                "The site is not built: Zensical failed. `make site` installs the version that "
                "works"
            )
            return 1
        if EXPLORER.is_dir():
            shutil.copytree(EXPLORER, source / "site" / "explore", dirs_exist_ok=True)
        else:
            print("The site has no explorer: `make page` builds it")
        if out.exists():
            shutil.rmtree(out)
        (source / "site").rename(out)
    if pages.text_links:
        print(
            f"{pages.text_links} links to folders of the repository are text, as its address is "
            "not known: set `Repository` in [project.urls] of pyproject.toml"
        )
    found = [*faults(out), *texts(pages, out)]
    print("\n".join([*found, f"{out}: {len(list(out.rglob('*.html')))} pages"]))
    return 1 if found else 0


def main(arguments: Sequence[str]) -> int:
    """Builds the site.

    Raises:
        SystemExit: The place of the site cannot be used.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--out", type=Path, default=REPOSITORY / "out" / "site", help="directory of the site"
    )
    out = parser.parse_args(arguments).out.resolve()
    try:
        return build(out)
    except OSError as error:
        raise SystemExit(
            f"--out {out}: cannot be written: {error.strerror}: {error.filename}; choose another "
            "directory"
        ) from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
