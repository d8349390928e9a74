"""Whether a built page says what its Markdown says on GitHub: the words in order, and the lists.

Zensical reads Markdown with Python-Markdown, and GitHub follows CommonMark. Where they differ, a
page of the site may lose words or join two items of a list.
"""

from html.parser import HTMLParser

from markdown_it import MarkdownIt

from markdown_links import without_code
from site_pages import FORMULA, MATH_FENCE

BLOCKS = ["p", "li", "td", "th", "tr", "pre", "div", "figure", "figcaption", "br", "blockquote"]
BREAKS = frozenset([*BLOCKS, *(f"h{level}" for level in range(1, 7))])
LEFT_OUT = frozenset(["nav", "button", "script", "math"])
PERMALINK = "headerlink"


class _Text(HTMLParser):
    """The words of a page's article, and how many items its lists have."""

    def __init__(self, html: str, *, is_site: bool) -> None:
        super().__init__()
        self.items = 0
        self._parts: list[str] = []
        self._is_inside = not is_site
        self._left_out: list[str] = []
        self.feed(html)
        self.words = "".join(self._parts).split()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Takes the begin of an element in."""
        self._is_inside |= tag == "article"
        if not self._is_inside:
            return
        if self._left_out or tag in LEFT_OUT or (tag == "a" and ("class", PERMALINK) in attributes):
            if tag not in ("br", "img", "input"):
                self._left_out.append(tag)
            return
        self.items += tag == "li"
        if tag in BREAKS:
            self._parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        """Takes the end of an element in."""
        if self._left_out and self._left_out[-1] == tag:
            self._left_out.pop()
        elif tag == "article":
            self._is_inside = False
        elif tag in BREAKS:
            self._parts.append(" ")

    def handle_data(self, data: str) -> None:
        """Takes text in."""
        if self._is_inside and not self._left_out:
            self._parts.append(data)


def fault(markdown: str, html: str) -> str | None:
    """Returns what a page of the site lost, or `None`.

    What the site adds (captions) is no fault; formulas are not compared.

    Args:
        markdown: The page as GitHub shows it.
        html: The page of the site.
    """
    text = MATH_FENCE.sub("", markdown)
    plain = without_code(text)
    for match in reversed(list(FORMULA.finditer(plain))):
        text = text[: match.start()] + text[match.end() :]
    parser = MarkdownIt("commonmark").enable("table")
    expected = _Text(parser.render(text), is_site=False)
    built = _Text(html, is_site=True)
    words = iter(built.words)
    for number, word in enumerate(expected.words):
        if word not in words:
            return f"lacks the words: {' '.join(expected.words[max(0, number - 5) : number + 5])}"
    if built.items != expected.items:
        return f"has {built.items} items of lists instead of {expected.items}"
    return None
