"""The documentation as a site: `make site` runs Sphinx with this file.

Its pages are the Markdown files that GitHub shows, where they lie. Sphinx fails on a link or an
anchor that leads nowhere, and on a page that the navigation lacks. Added are the navigation, the
references that are not in git (`site_files` in tools/generate.py), captions, formulas as MathML,
links to the code, a form and a map on the page of the atlas, and the page of `tailroom explore` if
it is built, to which the scenarios of all pages lead. Pages that are gone (moved.txt) lead on.
"""

import json
import os
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.addnodes import download_reference, pending_xref

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
EXPLORER = "python/tailroom/explore/page"
ATLAS = "docs/atlas/index"

project = "tailroom"
copyright = "the tailroom developers, MIT license"  # noqa: A001 - Sphinx's name
extensions = ["myst_parser", "sphinx_copybutton"]
root_doc = "docs/index"
include_patterns = [
    "*.md",
    "docs/**",
    "atlas/README.md",
    "benchmarks/limit/README.md",
    "page/README.md",
    "papers/README.md",
    "tests/validation/two_way/README.md",
    "validation/kernel/README.md",
]
exclude_patterns = [".*", "target", "out", "page/node_modules", "fuzz", "crates", "scenarios"]

# What GitHub reads, and no more: without these, a line that begins with % would be lost.
myst_disable_syntax = ["myst_line_comment", "myst_block_break", "myst_target", "myst_role"]
myst_enable_extensions = ["dollarmath"]
myst_dmath_allow_space = False
myst_dmath_allow_digits = False
myst_fence_as_directive = ["math"]
myst_heading_anchors = 6
suppress_warnings = ["myst.header"]  # some pages go from the title to a third level

html_theme = "furo"
html_title = "tailroom"
html_static_path = ["site.css", "atlas.js"]
html_css_files = ["site.css"]
smartquotes = False  # they would turn two hyphens into a dash
html_copy_source = False
html_show_sphinx = False
html_use_index = False
html_math_renderer = "mathml"
copybutton_exclude = ".gp, .go"  # the prompt, and what a command prints


def write_references(app: Any) -> None:
    """Writes the references of the scenario file, the commands, the results and the package."""
    if app.srcdir == REPOSITORY:
        sys.path.insert(0, str(REPOSITORY / "tools"))
        from generate import site_files  # noqa: PLC0415 - found on the line above

        (REPOSITORY / "docs" / "reference").mkdir(exist_ok=True)
        for name, text in site_files().items():
            (REPOSITORY / name).write_text(text, encoding="utf-8")


def add_navigation(app: Any, page: str, source: list[str]) -> None:
    """Adds the lists of further pages, where the explorer is, and its slider on the first page."""
    if page == root_doc:
        source[0] += (HERE / "navigation.txt").read_text(encoding="utf-8")
        if (app.srcdir / EXPLORER).is_dir():
            live = (HERE / "live.html").read_text(encoding="utf-8")
            source[0] = source[0].replace("![", f"{live}![", 1)
    elif page.endswith("/index"):
        if page == ATLAS:
            has_explorer = (app.srcdir / EXPLORER).is_dir()
            explorer = "../../explore/index.html" if has_explorer else ""
            form = (HERE / "atlas_form.html").read_text(encoding="utf-8")
            form = form.replace("<form", f'<form data-explorer="{explorer}"', 1)
            source[0] = source[0].replace("\n\n", f"\n\n{form}\n", 1)
        folder = (app.srcdir / page).parent
        if any(file.name != "index.md" for file in folder.glob("*.md")):
            source[0] += "\n```{toctree}\n:hidden:\n:titlesonly:\n:glob:\n\n*\n```\n"
    elif "/" in page and not page.startswith("docs/"):
        source[0] = f"---\norphan: true\n---\n{source[0]}"
    if page == "docs/guide/explore" and (app.srcdir / EXPLORER).is_dir():
        source[0] += '\n<a href="../../explore/index.html">Open the explorer</a>\n'


def address() -> str | None:
    """Returns the address of the repository on the web.

    It is `project.urls.Repository` of pyproject.toml, or what a workflow of GitHub runs for.
    """
    document = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    named: str | None = document["project"].get("urls", {}).get("Repository")
    server, name = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
    return named or (f"{server}/{name}" if server and name else None)


def adapt(app: Any, document: nodes.document) -> None:
    """Gives pictures their captions, and leads links to files that are no pages elsewhere."""
    for paragraph in list(document.findall(nodes.paragraph)):
        if [type(child) for child in paragraph.children] == [nodes.image]:
            _add_caption(document, paragraph)
    here = (app.srcdir / app.env.docname).parent
    if (app.srcdir / EXPLORER).is_dir():
        sys.path.insert(0, str(REPOSITORY / "tools"))
        from explorer_links import add_links  # noqa: PLC0415 - found on the line above

        add_links(document, here, "../" * app.env.docname.count("/") + "explore/index.html")
    for link in [*document.findall(download_reference), *document.findall(pending_xref)]:
        path = (here / link["reftarget"]).resolve()
        if isinstance(link, download_reference) or (not link["refdomain"] and path.is_dir()):
            _link_to_repository(link, path, app.srcdir)


def _add_caption(document: nodes.document, paragraph: nodes.paragraph) -> None:
    """Makes a figure of a picture: its caption is the line in italics below, or its description."""
    image, below = paragraph.children[0], paragraph.next_node(siblings=True, descend=False)
    said: list[nodes.Node] = [nodes.Text(image["alt"])]
    if (
        isinstance(below, nodes.paragraph)
        and isinstance(below[0], nodes.emphasis)
        and not below[1:]
    ):
        said = below[0].children
        below.parent.remove(below)
    figure = nodes.figure("", image, nodes.caption("", "", *said))
    document.set_id(figure)
    paragraph.replace_self(figure)


def _link_to_repository(link: nodes.Element, path: Path, root: Path) -> None:
    """Leads a link to the repository; without its address, a folder is text, a file is copied."""
    base = address()
    if base is not None:
        kind = "tree" if path.is_dir() else "blob"
        target = f"{base}/{kind}/HEAD/{path.relative_to(root).as_posix()}"
        link.replace_self(nodes.reference("", "", *link.children, refuri=target))
    elif path.is_dir():
        link.replace_self(link.children)


def draw_inline(writer: Any, formula: nodes.math) -> None:
    """Writes a formula in the text."""
    writer.body.append(convert(formula.astext()))
    raise nodes.SkipNode


def draw_block(writer: Any, formula: nodes.math_block) -> None:
    """Writes a formula of its own, which scrolls where it is wider than the screen."""
    shown = convert(formula.astext(), display="block")
    writer.body.append(f'<div class="formula">{shown}</div>')
    raise nodes.SkipNode


def finish(app: Any, failure: Exception | None) -> None:
    """Adds the explorer, the data of the atlas, and pages that lead to others."""
    if failure is None:
        lead_to_others(app)
        if (app.srcdir / EXPLORER).is_dir():
            shutil.copytree(app.srcdir / EXPLORER, app.outdir / "explore", dirs_exist_ok=True)
        if (app.srcdir / f"{ATLAS}.md").is_file():
            sys.path.insert(0, str(REPOSITORY / "tools"))
            from atlas_form import form_data  # noqa: PLC0415 - found on the line above

            data = app.outdir / "_static" / "atlas.json"
            data.write_text(json.dumps(form_data(), separators=(",", ":")), encoding="utf-8")


def lead_to_others(app: Any) -> None:
    """Writes a first page, and one at each address that moved.txt names, if its target exists."""
    moved = (HERE / "moved.txt").read_text(encoding="utf-8").splitlines()
    for old, new in (("index", root_doc), *map(str.split, moved)):
        page, hash_sign, anchor = new.partition("#")
        if page not in app.env.found_docs:
            continue
        (app.outdir / f"{old}.html").parent.mkdir(parents=True, exist_ok=True)
        target = f"{'../' * old.count('/')}{page}.html{hash_sign}{anchor}"
        lead = f'<meta http-equiv="refresh" content="0; url={target}">\n'
        (app.outdir / f"{old}.html").write_text(lead, encoding="utf-8")


def setup(app: Any) -> None:
    """Tells Sphinx what to call."""
    app.add_html_math_renderer("mathml", (draw_inline, None), (draw_block, None))
    app.connect("builder-inited", write_references)
    app.connect("source-read", add_navigation)
    app.connect("doctree-read", adapt, priority=100)  # before Sphinx collects files to copy
    app.connect("build-finished", finish)
