"""The Markdown of the repository as the pages of a site.

A page of `docs/` keeps its place without that folder; every other Markdown file to which a page
links lies below `project/`. A link to a page stays a link to a page. A link to any other file of
the repository leads to the repository's address; without an address, the site has a copy of the
file, and of a link to a folder or a hidden file the text stays alone.

The site's Markdown is not GitHub's in four points, which are adapted: lists are indented by four
spaces, a picture that is a paragraph gets a caption, formulas become MathML, and code with a bar in
a table becomes HTML.
"""

import re
import shutil
from dataclasses import dataclass, field
from html import escape
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from latex2mathml.converter import convert
from markdown_it import MarkdownIt

from markdown_links import Link, links, resolve, without_code

DOCS = PurePosixPath("docs")
PROJECT = PurePosixPath("project")
ROOT_PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
EXPLORER = PurePosixPath("explore/index.md")
EXPLORER_TEXT = """\
---
search:
  exclude: true
---

# Explorer

This copy of the site was built without the explorer. `make page` builds it, and `make site` then
puts it here. `tailroom explore` serves the same page on your own computer;
[Exploring in the browser](../guide/explore.md) shows what it does.
"""

TABLE_ROW = re.compile(r"^\|.*$", re.M)
BAR = "\\|"
SHORT_CODE = re.compile(r"`([^`\n]+)`")
MATH_FENCE = re.compile(r"^```math\n(?P<formula>.*?)^```$", re.M | re.S)
FORMULA = re.compile(
    r"\$\$(?P<block>.+?)\$\$|(?<![\w$])\$(?P<inline>[^\s$](?:[^\n$]*[^\s$])?)\$(?!\w)", re.S
)
FIGURE = re.compile(
    r"^!\[(?P<alt>[^\[\]]+)\]\((?P<target>[^()\s]+)\)\n(?:\n+\*(?P<caption>[^*]+)\*\n)?(?=\n|\Z)",
    re.M,
)
MARKUP = re.compile(r"[*_`\[\]!\\]")


class BrokenLinkError(Exception):
    """A link of a page leads to nothing."""


@dataclass
class Pages:
    """The pages of the site.

    Attributes:
        repository: Root of the repository.
        address: Where files of the repository can be read, up to their path; `None` if unknown.
        text_links: How many links to folders and hidden files became text, as there is no address.
        known: The Markdown files that are pages.
    """

    repository: Path
    address: str | None
    text_links: int = 0
    known: set[PurePosixPath] = field(default_factory=set)
    _left: list[PurePosixPath] = field(default_factory=list)
    _files: set[PurePosixPath] = field(default_factory=set)

    def write(self, out: Path) -> list[PurePosixPath]:
        """Writes the pages, and the files to which they link.

        Args:
            out: An empty or absent directory.

        Returns:
            The pages, by their place in the site.

        Raises:
            BrokenLinkError: A link leads to nothing.
        """
        docs = sorted((self.repository / DOCS).rglob("*.md"))
        for path in docs:
            self._need(PurePosixPath(path.relative_to(self.repository).as_posix()))
        for name in ROOT_PAGES:
            self._need(PurePosixPath(name))
        written = [EXPLORER]
        _write(out / EXPLORER, EXPLORER_TEXT)
        while self._left:
            page = self._left.pop(0)
            text = (self.repository / page).read_text(encoding="utf-8")
            _write(out / place(page), adapted(self._with_links(page, text)))
            written.append(place(page))
        for file in self._files:
            target = out / place(file)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.repository / file, target)
        return written

    def _need(self, page: PurePosixPath) -> None:
        if page not in self.known:
            self.known.add(page)
            self._left.append(page)

    def _with_links(self, page: PurePosixPath, text: str) -> str:
        """Returns the text of a page with the links of the site."""
        edits: list[tuple[int, int, str]] = []
        for link in links(text):
            if link.is_external or not link.path:
                continue
            new = self._address_in_site(page, link)
            if new is not None:
                edits.append((link.target_start, link.target_start + len(link.target), new))
                continue
            self.text_links += 1
            text_end = link.text_start + len(link.text)
            edits += [(link.start, link.text_start, ""), (text_end, link.end, "")]
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def _address_in_site(self, page: PurePosixPath, link: Link) -> str | None:
        """Returns where a link leads from the page's place in the site; `None` if nowhere."""
        name = self._linked(page, link)
        target = self.repository / name
        anchor = f"#{link.anchor}" if link.anchor else ""
        if name.suffix == ".md":
            self._need(name)
        elif target.is_file() and (
            link.is_image or name.is_relative_to(DOCS) or (self.address is None and _shows(name))
        ):
            self._files.add(name)
        elif self.address is None:
            return None
        else:
            kind = "tree" if target.is_dir() else "blob"
            return f"{self.address}/{kind}/HEAD/{quote(str(name))}{anchor}"
        return quote(_relative(place(page).parent, place(name))) + anchor

    def _linked(self, page: PurePosixPath, link: Link) -> PurePosixPath:
        """Returns the file or folder of the repository to which a link leads.

        Raises:
            BrokenLinkError: There is none.
        """
        try:
            name = resolve(page, link.path)
        except ValueError as error:
            raise BrokenLinkError(f"{page}:{link.line}: {error}") from error
        if not (self.repository / name).exists():
            raise BrokenLinkError(f"{page}:{link.line}: there is no {name}")
        return DOCS / "index.md" if name == DOCS else name


def place(name: PurePosixPath) -> PurePosixPath:
    """Returns where a file of the repository lies in the site.

    Args:
        name: Its path from the root of the repository.
    """
    return name.relative_to(DOCS) if name.is_relative_to(DOCS) else PROJECT / name


def _shows(name: PurePosixPath) -> bool:
    """Whether Zensical takes a file along: not in folders such as `.github`."""
    return not any(part.startswith(".") for part in name.parts)


def _relative(folder: PurePosixPath, target: PurePosixPath) -> str:
    common = 0
    for one, other in zip(folder.parts, target.parts[:-1], strict=False):
        if one != other:
            break
        common += 1
    ups = len(folder.parts) - common
    return "/".join([*[".."] * ups, *target.parts[common:]])


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def adapted(text: str) -> str:
    """Returns Markdown of GitHub as Python-Markdown reads it.

    Args:
        text: A page.
    """
    return with_captions(with_formulas(with_deep_lists(with_bars_in_tables(text))))


def with_bars_in_tables(text: str) -> str:
    """Returns a page whose code with a `|` in a table is HTML: Python-Markdown splits cells there.

    Args:
        text: A page.
    """
    plain = without_code(text, spans=False)

    def in_row(row: re.Match[str]) -> str:
        is_code = plain[row.start()] != "|"
        return row[0] if is_code else SHORT_CODE.sub(in_code, row[0])

    def in_code(code: re.Match[str]) -> str:
        if BAR not in code[1]:
            return code[0]
        return f"<code>{escape(code[1], quote=False).replace(BAR, '&#124;')}</code>"

    return TABLE_ROW.sub(in_row, text)


def with_deep_lists(text: str) -> str:
    """Returns a page in which a list's content is indented by four spaces, behind an empty line.

    Args:
        text: A page.
    """
    lines = text.splitlines()
    depth = [0] * len(lines)
    first: dict[int, int] = {}
    begins: set[int] = set()  # lines that need an empty line before them
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.map is None:
            continue
        start, end = token.map
        if token.type == "list_item_open":
            for number in range(start, end):
                depth[number] += 1
            first[start] = first.get(start, 0) + 1
            if not all(line.strip() for line in lines[start:end]):
                begins.add(end)
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            begins.add(start)
        elif token.type in ("table_open", "fence"):
            begins.add(end)
    offsets: list[int] = []
    result: list[str] = []
    for number, line in enumerate(lines):
        inside = depth[number]
        del offsets[inside - first.get(number, 0) :]
        if number in begins and result and result[-1].strip() and line.strip():
            result.append("")
        if number not in first:
            known = offsets[-1] if offsets else 0
            indented = len(line) - len(line.lstrip())
            body = line[min(known, indented) :]
            result.append((" " * 4 * inside + body).rstrip() if inside else line)
            continue
        rest, start = line, 0
        new = " " * 4 * len(offsets)
        for _ in range(first[number]):
            marker = re.match(r"\s*(?P<mark>[*+-]|\d+[.)])\s+", rest)
            if marker is None:
                break
            start += marker.end()
            offsets.append(start)
            rest = rest[marker.end() :]
            new += f"{marker['mark']:<3} "
        result.append(new + rest)
    return "\n".join(result) + "\n"


def with_formulas(text: str) -> str:
    """Returns a page with MathML in place of the formulas that GitHub shows.

    They are `$...$`, `$$...$$` and fences of the language `math`.

    Args:
        text: A page.
    """
    # On a narrow screen a wide formula scrolls in its frame.
    text = MATH_FENCE.sub(
        lambda fence: f'<div class="formula">{_mathml(fence["formula"], "block")}</div>', text
    )
    plain = without_code(text)
    parts, done = [], 0
    for match in FORMULA.finditer(plain):
        kind = "block" if match["block"] else "inline"
        formula = text[slice(*match.span(kind))]
        parts += [text[done : match.start()], _mathml(formula, kind)]
        done = match.end()
    return "".join([*parts, text[done:]])


def _mathml(formula: str, display: str) -> str:
    shown: str = convert(" ".join(formula.split()), display=display)
    # Markdown must not read the marks of a formula as its own.
    return re.sub(r"(?<=>)[^<]+(?=<)", _escaped, shown)


def _escaped(match: re.Match[str]) -> str:
    return MARKUP.sub(lambda one: f"&#{ord(one[0])};", match[0])


def with_captions(text: str) -> str:
    """Returns a page in which a picture that is a paragraph has a caption.

    The caption is the paragraph in italics below the picture, or else the picture's description.

    Args:
        text: A page.
    """
    plain = without_code(text, spans=False)
    parts, done = [], 0
    for match in FIGURE.finditer(plain):
        whole = FIGURE.match(text, match.start())
        if whole is None:
            continue
        alt = " ".join(whole["alt"].split())
        caption = whole["caption"] or alt
        parts += [
            text[done : match.start()],
            f'<figure markdown="1">\n\n![{alt}]({whole["target"]})\n\n'
            f'<figcaption markdown="1">\n\n{caption.strip()}\n\n</figcaption>\n\n</figure>\n',
        ]
        done = whole.end()
    return "".join([*parts, text[done:]])
