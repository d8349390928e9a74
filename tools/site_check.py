"""Checks a built site: every link leads to a page and its anchor, nothing loads from elsewhere."""

import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}
"""Elements whose address the browser loads by itself."""
STYLE_ADDRESS = re.compile(
    r"url\(\s*[\"']?(?P<target>(?:https?:)?//[^\"')]+)|@import\s+[\"'](?P<imported>[^\"']+)"
)


class _Page(HTMLParser):
    """What a page names: its anchors, its links, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[tuple[int, str, bool]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Takes an element in."""
        given = {name: value for name, value in attributes if value}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append((self.getpos()[0], given["href"], False))
        key = LOADED.get(tag)
        if key in given and given.get("rel") not in ("canonical", "prev", "next", "edit"):
            self.links.append((self.getpos()[0], given[key], True))


def faults(site: Path) -> list[str]:
    """Returns what is wrong with the links of a site, with page and line.

    Args:
        site: Directory of the site.
    """
    return [*_faults_of_pages(site), *_faults_of_styles(site)]


def _faults_of_pages(site: Path) -> Iterator[str]:
    @cache
    def read(path: Path) -> _Page:
        return _Page(path.read_text(encoding="utf-8"))

    for path in sorted(site.rglob("*.html")):
        name = path.relative_to(site)
        # The page for an unknown address knows where it lies only on a server.
        if name.name == "404.html":
            continue
        for line, target, is_loaded in read(path).links:
            place = f"{name}:{line}: {target}"
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if is_loaded and parts.scheme != "data":
                    yield f"{place}: is loaded from elsewhere"
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if file.is_dir():
                file /= "index.html"
            if not file.is_file():
                yield f"{place}: there is no such file"
            elif parts.fragment and file.suffix == ".html":
                anchors = read(file).anchors
                if unquote(parts.fragment) not in anchors and not parts.fragment.startswith("__"):
                    yield f"{place}: the page has no such anchor"


def _faults_of_styles(site: Path) -> Iterator[str]:
    for path in sorted(site.rglob("*.css")):
        for match in STYLE_ADDRESS.finditer(path.read_text(encoding="utf-8")):
            target = match["target"] or match["imported"]
            yield f"{path.relative_to(site)}: {target}: is loaded from elsewhere"
