"""The site of the documentation, as Sphinx builds it with `tools/sphinx_site/conf.py`."""

import json
import os
import re
import subprocess
import sys
import zlib
from base64 import urlsafe_b64decode
from pathlib import Path
from typing import Any

import pytest

import tailroom as tr
from atlas_form import form_data
from generate import site_files
from tailroom.buffer_atlas.data import UTILIZATIONS
from tailroom.buffer_atlas.kinds import KINDS
from tailroom.buffer_atlas.lookup import shipped_rows
from tailroom.scenario.dumbbell import dumbbell

pytest.importorskip("sphinx", reason="make site installs it")
pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[1]
ELSEWHERE = re.compile(
    r"""<(?:script|link|img|iframe|source)\b[^>]*\s(?:src|href)="(?:https?:)?//"""
    r"""|(?:url\(|@import)\s*["']?(?:https?:)?//"""
)
KEYS = {
    "buffer": ("limit", "packets"),
    "target delay": ("target", "us"),
    "threshold": ("l4s_threshold", "us"),
}
WHOLE = """duration = "10 s"

[links.one]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "drop_tail", limit = "10 packets" }

[flows.reno]
path = ["one"]
congestion = "reno"
rtt = "40 ms"
"""
PAGES = {
    "README.md": "# Start\n\n[The guide](docs/guide/a.md#a-b), [code](src/lib.rs), [all](src)\n",
    "docs/index.md": "# I\n\n[Start](../README.md)\n\n![Slider](guide/p.png)\n",
    "docs/guide/a.md": (
        '# A\n\n## A & `b`\n\nWith $B_0$, `$x$` costs 5 $ or 6 $, at most 4\n% -- or "5".\n\n'
        "```math\nw^*\n```\n\n![Seen](p.png)\n\n![Other](p.png)\n\n*Ten flows.*\n\nEnd.\n"
    ),
    "docs/guide/explore.md": "# Explore\n",
    "docs/papers/index.md": "# P\n\n## today\n",
    "docs/models/scenarios.md": (
        f"# S\n\n```toml\n{WHOLE}```\n\n```toml\n[links.part]\nrate = 1\n```\n\n"
        '```console\n$ tailroom size --rate 100Mbps --rtt "20ms to 60ms" --flows 10 \\\n'
        "    --congestion bbr3 --target 'utilization >= 98%' \\\n"
        "    --target 'queue_delay_s_p99 <= 20ms'\n1 packet\n```\n\n"
        '```sh\ntailroom run first --set links.bottleneck.queue.limit="1 bdp" '
        "--set duration='60 s' # c\n```\n\n"
        "```sh\ntailroom run mine.toml\n```\n\n```sh\ntailroom run first --set no.key=1\n```\n\n"
        "```sh\ntailroom run first --set links.bottleneck.queue.limit='1 bpd'\n```\n\n"
        "`tailroom explore peering`, `tailroom run it's`, `tailroom explore`.\n"
    ),
    "python/tailroom/explore/page/index.html": "<h1>Explorer</h1>\n",
    "src/lib.rs": "",
}


def build(source: Path, out: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    configuration = str(REPOSITORY / "tools" / "sphinx_site")
    options = ["-q", "--fail-on-warning", "--keep-going", "-d", f"{out}-doctrees"]
    return subprocess.run(
        [sys.executable, "-m", "sphinx", *options, "-c", configuration, str(source), str(out)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def built(tmp_path: Path, **environment: str) -> dict[str, str]:
    """A site of a few pages, of which the navigation names two."""
    for name, text in PAGES.items():
        path = tmp_path / "source" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "source/docs/guide/p.png").write_bytes(
        (REPOSITORY / "docs/images/explore.png").read_bytes()
    )
    build(tmp_path / "source", tmp_path / "out", **environment)
    pages = (tmp_path / "out").rglob("*.html")
    return {
        str(page.relative_to(tmp_path / "out")): page.read_text(encoding="utf-8") for page in pages
    }


def test_formulas_captions_and_words_are_those_of_github(tmp_path: Path) -> None:
    page = built(tmp_path)["docs/guide/a.html"]
    assert page.count("<math") == 2
    assert page.count('display="block"') == 1
    words = " ".join(re.sub(r"<[^>]+>", " ", page.replace("&quot;", '"')).split())
    assert '$x$ costs 5 $ or 6 $, at most 4 % -- or "5".' in words
    captions = re.findall(r"<figcaption>\s*<p>(.*?)</p>", page.replace("\n", " "))
    assert [re.sub(r"<[^>]+>", "", caption).strip("#¶ ") for caption in captions] == [
        "Seen",
        "Ten flows.",
    ]


def test_links_lead_from_page_to_page_and_else_to_the_repository(tmp_path: Path) -> None:
    address = {"GITHUB_SERVER_URL": "https://example.org", "GITHUB_REPOSITORY": "o/r"}
    start = built(tmp_path, **address)["README.html"]
    assert 'href="docs/guide/a.html#a-b"' in start
    assert 'href="https://example.org/o/r/blob/HEAD/src/lib.rs"' in start
    assert 'href="https://example.org/o/r/tree/HEAD/src"' in start


def test_the_explorer_is_part_of_the_site_and_the_first_page_leads_to_the_documentation(
    tmp_path: Path,
) -> None:
    site = built(tmp_path)
    assert 'href="../../explore/index.html"' in site["docs/guide/explore.html"]
    assert site["explore/index.html"] == PAGES["python/tailroom/explore/page/index.html"]
    assert "url=docs/index.html" in site["index.html"]
    live, picture = (site["docs/index.html"].find(f"<{tag} ") for tag in ("iframe", "figure"))
    assert 0 < live < picture
    assert 'src="../explore/index.html#embed=' in site["docs/index.html"]


def test_an_address_that_moved_leads_to_the_new_place(tmp_path: Path) -> None:
    site = built(tmp_path)
    assert "url=../../../docs/papers/index.html#today" in site["docs/papers/today/report.html"]


def test_without_an_address_files_come_along_and_folders_are_text(tmp_path: Path) -> None:
    address = {"GITHUB_SERVER_URL": "", "GITHUB_REPOSITORY": ""}
    start = built(tmp_path, **address)["README.html"]
    (copied,) = re.findall(r'href="(_downloads/[^"]+/lib\.rs)"', start)
    assert (tmp_path / "out" / copied).is_file()
    assert ", all" in re.sub(r"<[^>]+>", "", start)
    assert 'href="src"' not in start


def test_the_whole_site_has_every_page_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    done = build(REPOSITORY, tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    out = tmp_path / "out"
    documents = [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")]
    assert set(site_files()) <= {str(one.relative_to(REPOSITORY)) for one in documents}
    for document in documents:
        assert (out / document.relative_to(REPOSITORY).with_suffix(".html")).is_file()
    moved = REPOSITORY / "tools" / "sphinx_site" / "moved.txt"
    for old, new in map(str.split, moved.read_text(encoding="utf-8").splitlines()):
        assert not (REPOSITORY / f"{old}.md").exists()
        assert (out / f"{old}.html").is_file()
        page, _, anchor = new.partition("#")
        assert f'id="{anchor}"' in (out / f"{page}.html").read_text(encoding="utf-8")
    for path in [*out.rglob("*.html"), *out.rglob("*.css")]:
        assert not ELSEWHERE.search(path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize("element", ['<script src="https://a.org/b.js">', "@import '//a.org/b'"])
def test_what_is_loaded_from_elsewhere_is_found(element: str) -> None:
    assert ELSEWHERE.search(element)
    assert not ELSEWHERE.search('<a href="https://a.org/"><img src="a.png">')


def state_at(address: str) -> dict[str, Any]:
    """The state of the explorer that an address holds."""
    code = address.partition("1.")[2]
    padded = code + "=" * (-len(code) % 4)
    state: dict[str, Any] = json.loads(
        zlib.decompress(urlsafe_b64decode(padded), wbits=-zlib.MAX_WBITS)
    )
    return state


def test_the_form_and_the_map_of_the_atlas_have_its_answers_and_scenarios() -> None:
    """The answers are those of `tailroom atlas near`, the addresses hold scenarios with them."""
    cells = form_data()
    places = ("kind", "rate", "flows", "choice")
    assert len({tuple(cell[place] for place in places) for cell in cells}) == len(cells)
    plain = [cell for cell in cells if cell["choice"] == "DropTail: CUBIC"]
    assert len(plain) == sum(len(kind.sites) for kind in KINDS)
    rows = {(row["cell"], row["target_utilization"]): row["value"] for row in shipped_rows()}
    for cell in cells:
        values = [rows[cell["cell"], utilization] for utilization in UTILIZATIONS]
        assert [answer["value"] for answer in cell["answers"]] == values
        if cell["how"] == "scaled":
            assert cell["address"] is None
            continue
        state = state_at(cell["address"])
        assert state["link"] in tr.Scenario.from_toml(state["text"]).resolved["links"]
        assert cell["cell"] in state["text"]
        if values[1] is not None:
            key, unit = KEYS[cell["sought"]]
            assert f'\n{key} = "{values[1]:.0f} {unit}"' in state["text"]


def test_scenarios_and_commands_of_a_page_open_in_the_explorer(tmp_path: Path) -> None:
    site = built(tmp_path)
    states = [
        state_at(address)
        for address in re.findall(
            r'href="\.\./\.\./explore/index\.html#([^"]+)"', site["docs/models/scenarios.html"]
        )
    ]
    opened = [tr.Scenario.from_toml(state["text"]).hash for state in states]
    limit = {"links.bottleneck.queue.limit": "1 bdp", "duration": "60 s"}
    expected = [
        tr.Scenario.from_toml(WHOLE),
        dumbbell("100Mbps", "20ms to 60ms", "10", "bbr3"),
        tr.Scenario.read("first", set=limit),
        tr.Scenario.read("peering"),
    ]
    assert opened == [one.hash for one in expected]
    assert [state["targets"] for state in states] == [
        {},
        {"utilization": 0.98, "delayS": 0.02},
        {},
        {},
    ]
