"""Links and anchors of Markdown files, as GitHub reads them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote

from markdown_it import MarkdownIt

PARSER = MarkdownIt("commonmark").enable("table")
NAMED = re.compile(r"<\w+[^>]*\s(?:id|name)=\"(?P<name>[^\"]+)\"")
EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.I)


@dataclass(frozen=True)
class Link:
    """A link or a picture of a Markdown file.

    Attributes:
        target: Where it points to.
        is_image: Whether it is a picture.
        line: Its line, from 1.
    """

    target: str
    is_image: bool
    line: int

    @property
    def is_external(self) -> bool:
        """Whether the target is an address of the web or of mail."""
        return EXTERNAL.match(self.target) is not None

    @property
    def path(self) -> str:
        """The target without its anchor."""
        return self.target.partition("#")[0]

    @property
    def anchor(self) -> str:
        """What follows the `#`, or nothing."""
        return self.target.partition("#")[2]


def links(text: str) -> Iterator[Link]:
    """Yields the links and pictures of a Markdown file, in their order.

    Args:
        text: The file's text.
    """
    for token in PARSER.parse(text):
        line = token.map[0] + 1 if token.map else 1
        for part in token.children or ():
            line += part.type in ("softbreak", "hardbreak")
            if part.type == "image":
                yield Link(str(part.attrs["src"]), True, line)
            elif part.type == "link_open":
                yield Link(str(part.attrs["href"]), False, line)


def anchors(text: str) -> set[str]:
    """Returns the anchors that GitHub gives a Markdown file: its headings, and named elements.

    Args:
        text: The file's text.
    """
    tokens = PARSER.parse(text)
    found: set[str] = set()
    taken: dict[str, int] = {}
    for before, token in zip([None, *tokens], tokens, strict=False):
        parts = token.children or ()
        html = [part.content for part in (token, *parts) if part.type.startswith("html_")]
        found |= {match["name"] for match in NAMED.finditer(" ".join(html))}
        if before is not None and before.type == "heading_open":
            title = "".join(part.content for part in parts)
            name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            count = taken.get(name, 0)
            taken[name] = count + 1
            found.add(f"{name}-{count}" if count else name)
    return found


def resolve(page: PurePosixPath, path: str) -> PurePosixPath:
    """Returns what a relative link means, as a path from the root of the repository.

    Args:
        page: The file with the link, from the root.
        path: The link's path, in which `%20` is a space; if it is empty, the file itself.

    Raises:
        ValueError: The path leads out of the repository.
    """
    if not path:
        return page
    parts: list[str] = []
    for part in (*page.parent.parts, *PurePosixPath(unquote(path)).parts):
        if part != "..":
            parts.append(part)
        elif not parts:
            raise ValueError(f"{path} leads out of the repository")
        else:
            parts.pop()
    return PurePosixPath(*parts)
