"""Checks a built site: every link leads to a page and its anchor, nothing loads from elsewhere."""

import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {
    "audio": ("src",),
    "embed": ("src",),
    "iframe": ("src",),
    "image": ("href", "xlink:href"),
    "img": ("src", "srcset"),
    "input": ("src",),
    "link": ("href",),
    "object": ("data",),
    "script": ("src",),
    "source": ("src", "srcset"),
    "track": ("src",),
    "video": ("src", "poster"),
}
"""Elements and the attributes whose addresses the browser loads by itself."""
IN_SET = re.compile(r"\s*(\S+?)(?:\s+[\d.]+[wx])?\s*(?:,|$)")
"""An address of a `srcset`, with its width or density."""
ELSEWHERE = r"(?P<target>(?:https?:)?//[^\"'`)\s]+)"
IN_STYLE = re.compile(rf"(?:url\(\s*[\"']?|@import\s+[\"']){ELSEWHERE}", re.I)
IN_SCRIPT = re.compile(rf"\bimport\b[^\"'`;]*[\"'`]{ELSEWHERE}")


class _Page(HTMLParser):
    """What a page names: its anchors, its links, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[tuple[int, str, bool]] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Takes an element in."""
        self._inside = tag
        given = {name: value for name, value in attributes if value}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        line = self.getpos()[0]
        if tag == "a" and "href" in given:
            self.links.append((line, given["href"], False))
        self._search(IN_STYLE, given.get("style", ""))
        if given.get("rel") in ("canonical", "prev", "next", "edit"):
            return
        for key in LOADED.get(tag, ()):
            value = given.get(key, "")
            found = IN_SET.findall(value) if key == "srcset" else [value] if value else []
            self.links += [(line, target, True) for target in found]

    def handle_endtag(self, _: str) -> None:
        """Notes the end of an element."""
        self._inside = ""

    def handle_data(self, data: str) -> None:
        """Searches the text of styles and scripts."""
        if self._inside == "style":
            self._search(IN_STYLE, data)
        elif self._inside == "script":
            self._search(IN_SCRIPT, data)

    def _search(self, pattern: re.Pattern[str], text: str) -> None:
        for match in pattern.finditer(text):
            line = self.getpos()[0] + text.count("\n", 0, match.start("target"))
            self.links.append((line, match["target"], True))


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
        for match in IN_STYLE.finditer(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site)}: {match['target']}: is loaded from elsewhere"
