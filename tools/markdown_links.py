"""Links and anchors of Markdown files, as GitHub reads them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote

FENCE = re.compile(r"^[ ]*(?P<mark>`{3,}|~{3,})[^\n]*\n.*?(?:^[ ]*(?P=mark)[ ]*$|\Z)", re.M | re.S)
COMMENT = re.compile(r"<!--.*?-->", re.S)
CODE = re.compile(r"(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n\s*\n).)+?(?<!`)(?P=ticks)(?!`)", re.S)
LINK = re.compile(
    r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\](?:\([^()]*\))?)*)\]"
    r"\(\s*(?P<target>[^\s()]+)(?P<title>\s+\"[^\"]*\")?\s*\)"
)
DEFINITION = re.compile(r"^[ ]{0,3}\[[^\]\n]+\]:[ ]+(?P<target>\S+)", re.M)
HEADING = re.compile(r"^[ ]{0,3}#{1,6}[ ]+(?P<title>.*?)[ #]*$", re.M)
NAMED = re.compile(r"<\w+[^>]*\s(?:id|name)=\"(?P<name>[^\"]+)\"")
EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*:", re.I)


@dataclass(frozen=True)
class Link:
    """A link or a picture of a Markdown file.

    Attributes:
        start: Where it begins in the text.
        end: Where it ends.
        target: Where it points to, as it is written.
        target_start: Where the target begins.
        text: What stands between the brackets.
        text_start: Where this begins.
        is_image: Whether it is a picture.
        line: Its line, from 1.
    """

    start: int
    end: int
    target: str
    target_start: int
    text: str
    text_start: int
    is_image: bool
    line: int

    @property
    def is_external(self) -> bool:
        """Whether the target is an address of the web or of mail."""
        return EXTERNAL.match(self.target) is not None or self.target.startswith("//")

    @property
    def path(self) -> str:
        """The target without its anchor."""
        return self.target.partition("#")[0]

    @property
    def anchor(self) -> str:
        """What follows the `#`, or nothing."""
        return self.target.partition("#")[2]


def without_code(text: str, *, spans: bool = True) -> str:
    """Returns the text with code and comments blanked, at the same positions.

    Args:
        text: A Markdown file.
        spans: Whether code within a line is blanked too.
    """
    for pattern in (FENCE, COMMENT, CODE) if spans else (FENCE, COMMENT):
        text = pattern.sub(lambda match: re.sub(r"[^\n]", "\0", match[0]), text)
    return text


def links(text: str) -> Iterator[Link]:
    """Yields the links and pictures of a Markdown file, in their order.

    Args:
        text: The file's text.
    """
    yield from _links(text, without_code(text), 0)


def _links(text: str, plain: str, begin: int, end: int | None = None) -> Iterator[Link]:
    end = len(plain) if end is None else end
    for match in LINK.finditer(plain, begin, end):
        inner = match.span("text")
        line = text.count("\n", 0, match.start()) + 1
        target = (match["target"], match.start("target"))
        label = (text[slice(*inner)], inner[0])
        yield Link(*match.span(), *target, *label, bool(match["image"]), line)
        if not match["image"]:
            # A picture may be the text of a link.
            yield from _links(text, plain, *inner)
    if begin == 0:
        for match in DEFINITION.finditer(plain):
            line = text.count("\n", 0, match.start()) + 1
            start, end = match.span("target")
            yield Link(start, end, match["target"], start, "", start, False, line)


def anchors(text: str) -> set[str]:
    """Returns the anchors that GitHub gives a Markdown file: its headings, and named elements.

    Args:
        text: The file's text.
    """
    plain = without_code(text, spans=False)
    found = {match["name"] for match in NAMED.finditer(without_code(text))}
    taken: dict[str, int] = {}
    for match in HEADING.finditer(plain):
        name = slug(match["title"])
        count = taken.get(name, 0)
        taken[name] = count + 1
        found.add(f"{name}-{count}" if count else name)
    return found


def slug(title: str) -> str:
    """Returns the anchor of a heading.

    Args:
        title: The heading as Markdown.
    """
    shown = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", title)
    shown = re.sub(r"(?<!\w)[*_]{1,3}(\S(?:.*?\S)?)[*_]{1,3}(?!\w)", r"\1", shown)
    return re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")


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
