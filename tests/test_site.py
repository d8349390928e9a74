"""The site of the documentation: its pages, its navigation, and the check of what is built."""

import tomllib
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

import site_build
from site_check import faults
from site_pages import (
    BrokenLinkError,
    Pages,
    adapted,
    with_captions,
    with_deep_lists,
    with_formulas,
)
from site_text import fault

REPOSITORY = Path(__file__).parents[1]
ADDRESS = "https://example.org/tailroom"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with the five pages of its root, two of docs/ and a source file."""
    root = tmp_path / "repository"
    files = {
        "README.md": (
            "# Start\n\n![Curve](docs/images/curve.png)\n\n[src/lib.rs](src/lib.rs), "
            '[lines](src/lib.rs#L10), [![d](b/d.png)](src/lib.rs "src/lib.rs"), '
            "[two words](b/two%20words.md)\n"
        ),
        "ARCHITECTURE.md": "# How\n",
        "CONTRIBUTING.md": "# Add\n",
        "SECURITY.md": "# Safe\n\n## Files\n",
        "CHANGELOG.md": "# Changes\n",
        "docs/index.md": "# I\n\n[A file](../SECURITY.md#files) and [the guide](guide/a.md).\n",
        "docs/guide/a.md": (
            "# A\n\n[code](../../src/lib.rs), [all](../../src), [more](../../b/README.md)\n"
        ),
        "docs/images/curve.png": "",
        "docs/images/unused.png": "",
        "b/README.md": "# B\n\n[back](../docs/guide/a.md#a), [![c](c.png)](../README.md)\n",
        "b/c.png": "",
        "b/d.png": "",
        "b/two words.md": "# Two words\n",
        "src/lib.rs": "",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def test_links_lead_from_page_to_page_and_else_to_the_repository(
    repository: Path, tmp_path: Path
) -> None:
    pages = Pages(repository, ADDRESS)
    written = pages.write(tmp_path / "out")
    assert PurePosixPath("project/b/README.md") in written
    index = (tmp_path / "out/index.md").read_text(encoding="utf-8")
    assert "[A file](project/SECURITY.md#files) and [the guide](guide/a.md)" in index
    guide = (tmp_path / "out/guide/a.md").read_text(encoding="utf-8")
    assert f"[code]({ADDRESS}/blob/HEAD/src/lib.rs), [all]({ADDRESS}/tree/HEAD/src)" in guide
    assert "[more](../project/b/README.md)" in guide
    other = (tmp_path / "out/project/b/README.md").read_text(encoding="utf-8")
    assert "[back](../../guide/a.md#a), [![c](c.png)](../README.md)" in other
    start = (tmp_path / "out/project/README.md").read_text(encoding="utf-8")
    assert "](../images/curve.png)" in start
    source = f"{ADDRESS}/blob/HEAD/src/lib.rs"
    assert f"\n[src/lib.rs]({source}), [lines]({source}#L10), " in start
    assert f'[![d](b/d.png)]({source} "src/lib.rs"), [two words](b/two%20words.md)' in start
    assert (tmp_path / "out/project/b/d.png").exists()
    assert (tmp_path / "out/project/b/two words.md").exists()
    assert (tmp_path / "out/images/curve.png").exists()
    assert not (tmp_path / "out/images/unused.png").exists()


def test_without_an_address_files_come_along_and_links_to_folders_are_text(
    repository: Path, tmp_path: Path
) -> None:
    pages = Pages(repository, None)
    pages.write(tmp_path / "out")
    guide = (tmp_path / "out/guide/a.md").read_text(encoding="utf-8")
    assert "\n[code](../project/src/lib.rs), all, [more]" in guide
    assert (tmp_path / "out/project/src/lib.rs").exists()
    start = (tmp_path / "out/project/README.md").read_text(encoding="utf-8")
    assert "\n[src/lib.rs](src/lib.rs), [lines](src/lib.rs#L10), " in start
    assert '[![d](b/d.png)](src/lib.rs "src/lib.rs"), [two' in start
    assert pages.text_links == 1


def test_a_link_to_nothing_is_named_with_page_and_line(repository: Path, tmp_path: Path) -> None:
    (repository / "docs/index.md").write_text("# I\n\nSee [it](absent.md).\n", encoding="utf-8")
    with pytest.raises(BrokenLinkError, match=r"^docs/index\.md:3: there is no docs/absent\.md$"):
        Pages(repository, None).write(tmp_path / "out")


LISTS = """\
1. one
   more
2. two:

   ```sh
   run
   ```
   * inner
     text
   * [ ] second

     | a | b |
     | - | - |
     | c | d |
10. three
lazy

* after
"""


def test_lists_are_indented_by_four_spaces() -> None:
    assert with_deep_lists(LISTS) == (
        "1.  one\n    more\n2.  two:\n\n    ```sh\n    run\n    ```\n\n"
        "    *   inner\n        text\n"
        "    *   [ ] second\n\n        | a | b |\n        | - | - |\n        | c | d |\n\n"
        "10. three\n    lazy\n\n*   after\n"
    )


def test_lists_keep_their_meaning_in_every_page(tmp_path: Path) -> None:
    parser = MarkdownIt("commonmark").enable("table")

    def said(text: str) -> list[tuple[str, str]]:
        kinds = ("inline", "fence", "code_block", "bullet_list_open", "ordered_list_open")
        return [(token.type, token.content) for token in parser.parse(text) if token.type in kinds]

    pages = Pages(REPOSITORY, None)
    pages.write(tmp_path / "out")
    number = 0
    for name in pages.known:
        text = (REPOSITORY / name).read_text(encoding="utf-8")
        assert said(with_deep_lists(text)) == said(text), name
        number += text.count("\n* ")
    assert number > 200


def test_a_bar_in_the_code_of_a_table_divides_no_cell() -> None:
    row = "| `a` | `b<c> \\| None` | or `None` \\| 1 |\n"
    shown = "| `a` | <code>b&lt;c&gt; &#124; None</code> | or `None` \\| 1 |\n"
    assert adapted(row) == shown
    block = f"```text\n{row}```\n"
    assert adapted(block) == block


def test_formulas_become_mathml_and_code_stays() -> None:
    text = "With $B = C_0 / \\sqrt{n}$, `$x$` costs 5 $ or 6 $.\n\n$$\nw^*\n$$\n"
    shown = with_formulas(text)
    fenced = with_formulas(text.replace("$$\nw^*\n$$", "```math\nw^*\n```"))
    assert fenced.replace('<div class="formula">', "").replace("</div>", "") == shown
    assert "`$x$` costs 5 $ or 6 $." in shown
    first, second = (part.split("</math>")[0] + "</math>" for part in shown.split("<math")[1:])
    inline, block = (ElementTree.fromstring("<math" + part) for part in (first, second))
    assert (inline.get("display"), block.get("display")) == ("inline", "block")
    namespace = "{http://www.w3.org/1998/Math/MathML}"
    assert len(list(inline.iter(f"{namespace}msqrt"))) == 1
    assert [part.tag.removeprefix(namespace) for part in block.iter()].count("msup") == 1
    # Markdown would read these marks as its own.
    assert not set("*_") & set(first + second)


@pytest.mark.parametrize(
    ("below", "caption"),
    [
        ("\nText.\n", "What is\nseen".replace("\n", " ")),
        ("\n*Ten flows.*\n\nText.\n", "Ten flows."),
    ],
)
def test_a_picture_has_its_caption_below(below: str, caption: str) -> None:
    shown = with_captions(f"Before.\n\n![What is\nseen](a.png)\n{below}")
    assert f'<figcaption markdown="1">\n\n{caption}\n\n</figcaption>' in shown
    assert shown.count(caption) == (2 if caption == "What is seen" else 1)
    assert shown.endswith("Text.\n")
    assert "![What is seen](a.png)" in shown


def test_a_picture_in_a_sentence_stays_there() -> None:
    text = "See ![this](a.png) here.\n\n```md\n![this](a.png)\n```\n"
    assert adapted(text) == text


def test_the_navigation_names_every_page_of_the_documentation(tmp_path: Path) -> None:
    site_build.stage(tmp_path / "source", None)
    document = tomllib.loads((tmp_path / "source/zensical.toml").read_text(encoding="utf-8"))
    names = site_build.named(document["project"]["nav"])
    pages = {path.relative_to(REPOSITORY / "docs") for path in (REPOSITORY / "docs").rglob("*.md")}
    assert {str(page) for page in pages} <= names
    assert all((tmp_path / "source/pages" / name).is_file() for name in names)


PAGES = [PurePosixPath(name) for name in ("a.md", "t/2-b.md", "t/1-a.md", "t/index.md")]


def test_a_folder_in_the_navigation_stands_for_its_pages() -> None:
    assert site_build.navigation(["a.md", {"T": "t/"}, {"U": "u/"}], PAGES) == [
        "a.md",
        {"T": ["t/index.md", "t/1-a.md", "t/2-b.md"]},
    ]


def test_an_entry_of_the_navigation_without_a_page_is_named() -> None:
    with pytest.raises(SystemExit, match=r"zensical\.toml: nav names t/3\.md, and there is no"):
        site_build.navigation([{"T": ["t/3.md"]}], PAGES)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        (
            {"GITHUB_SERVER_URL": "https://example.org", "GITHUB_REPOSITORY": "tailroom"},
            ADDRESS,
        ),
    ],
)
def test_the_address_is_that_of_the_workflow_if_the_package_names_none(
    environment: dict[str, str], expected: str | None
) -> None:
    document = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    named = document["project"].get("urls", {}).get("Repository")
    assert site_build.address(environment) == (named or expected)


@pytest.fixture
def unbuilt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails if a page is staged."""

    def stage(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(site_build, "stage", stage)


@pytest.mark.usefixtures("unbuilt")
def test_what_is_not_a_site_is_not_replaced(tmp_path: Path) -> None:
    work = tmp_path / "work.md"
    work.write_text("years\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="holds something else than a site; choose a new"):
        site_build.main(["--out", str(tmp_path)])
    with pytest.raises(SystemExit, match="is a file; choose a new directory"):
        site_build.main(["--out", str(work)])
    assert work.read_text(encoding="utf-8") == "years\n"
    assert [*tmp_path.iterdir()] == [work]


@pytest.mark.usefixtures("unbuilt")
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit, match=r"--out .*/file/site: cannot be written: .*; choose an"):
        site_build.main(["--out", str(tmp_path / "file" / "site")])


@pytest.mark.slow
def test_the_site_is_built_with_an_address_and_replaces_a_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("zensical", reason="make site installs it")
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://example.org")
    monkeypatch.setenv("GITHUB_REPOSITORY", "tailroom")
    site, beside = tmp_path / "site", tmp_path / "site-source"
    beside.mkdir()
    for name in (*site_build.OF_A_SITE, "old.html"):
        site.mkdir(exist_ok=True)
        (site / name).touch()
    assert site_build.main(["--out", str(site)]) == 0
    assert (site / "index.html").is_file()
    assert not (site / "old.html").exists()
    assert sorted(tmp_path.iterdir()) == [site, beside]


GOOD = '<h1 id="top">A</h1><a href="b.html#there">b</a><a href="https://example.org/">out</a>' + (
    '<img srcset="b.html, b.html 2x"><p style="background: url(data:image/png;base64,AA)">'
    '<script>import("./b.js"); a = "https://example.org/"</script>url(https://example.org/)'
)


@pytest.mark.parametrize(
    ("element", "words"),
    [
        ('<a href="absent.html">x</a>', "there is no such file"),
        ('<a href="b.html#absent">x</a>', "the page has no such anchor"),
        ('<a href="#absent">x</a>', "the page has no such anchor"),
        ('<img src="absent.png">', "there is no such file"),
        ('<script src="https://example.org/a.js"></script>', "is loaded from elsewhere"),
        ('<link rel="stylesheet" href="//example.org/a.css">', "is loaded from elsewhere"),
        ("<style>@import url(https://example.org/a.css);</style>", "is loaded from elsewhere"),
        ('<style>@import "//example.org/a.css";</style>', "is loaded from elsewhere"),
        ('<p style="background: URL(https://example.org/a.png)">', "is loaded from elsewhere"),
        ('<img srcset="b.html 1x,https://example.org/a.png 2x">', "is loaded from elsewhere"),
        ('<source srcset="absent.png 640w, b.html">', "there is no such file"),
        ('<video poster="https://example.org/a.png"></video>', "is loaded from elsewhere"),
        ('<video src="https://example.org/a.mp4"></video>', "is loaded from elsewhere"),
        ('<object data="https://example.org/a.svg"></object>', "is loaded from elsewhere"),
        ('<input type="image" src="https://example.org/a.png">', "is loaded from elsewhere"),
        ('<svg><image href="https://example.org/a.png"/></svg>', "is loaded from elsewhere"),
        ('<svg><image xlink:href="//example.org/a.png"/></svg>', "is loaded from elsewhere"),
        ('<script>import("https://example.org/a.js")</script>', "is loaded from elsewhere"),
        ('<script>import a from "//example.org/a.js"</script>', "is loaded from elsewhere"),
    ],
)
def test_a_built_page_with_a_wrong_link_is_named(tmp_path: Path, element: str, words: str) -> None:
    (tmp_path / "b.html").write_text('<h2 id="there">B</h2>', encoding="utf-8")
    (tmp_path / "a.html").write_text(GOOD, encoding="utf-8")
    assert faults(tmp_path) == []
    (tmp_path / "a.html").write_text(f"{GOOD}\n{element}", encoding="utf-8")
    (fault,) = faults(tmp_path)
    assert fault.startswith("a.html:2: ")
    assert words in fault


def test_a_style_that_loads_a_font_from_elsewhere_is_named(tmp_path: Path) -> None:
    style = (
        '@import "site.css";\na { background: url(data:image/png;base64,AA) }\n'
        "@font-face { src: url('//a.org/b') }"
    )
    (tmp_path / "a.css").write_text(style, encoding="utf-8")
    (fault,) = faults(tmp_path)
    assert fault == "a.css: //a.org/b: is loaded from elsewhere"


BUILT = """<nav>No</nav><article><h1>A <code>b</code><a class="headerlink" href="#a">¶</a></h1>
<ul><li>one</li><li>two</li></ul><figure><img src="c.png"><figcaption>Seen</figcaption></figure>
<p>end <math><mi>x</mi></math></p></article>"""


@pytest.mark.parametrize(
    ("markdown", "lost"),
    [
        ("# A `b`\n\n* one\n* two\n\n![Seen](c.png)\n\nend $x$\n", None),
        ("# A `b`\n\n* one\n* two\n\nthe end\n", "lacks the words: A b one two the end"),
        ("# A `b`\n\none\n\n* two\n\nend\n", "has 2 items of lists instead of 1"),
    ],
)
def test_a_page_of_the_site_has_the_text_of_its_markdown(markdown: str, lost: str | None) -> None:
    assert fault(markdown, BUILT) == lost
