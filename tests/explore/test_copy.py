"""`tailroom explore --out`: the page as files, which begins with the scenario of the command."""

import json
import shlex
from pathlib import Path

import pytest

from tailroom.explore import page_files
from tests.conftest import SMALL, Tailroom
from tests.explore.test_serve import TRACE, TRACED

BUILT = {"index.html": b"<!doctype html>", "opened.json": b"null", "assets/e.wasm": b"\0asm"}


@pytest.fixture(autouse=True)
def _built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "built"
    for path, content in BUILT.items():
        (page / path).parent.mkdir(parents=True, exist_ok=True)
        (page / path).write_bytes(content)
    monkeypatch.setattr(page_files, "PAGE", page)


def files_of(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


def test_the_page_is_written_with_the_scenario_and_its_files(
    small: Path, tmp_path: Path, tailroom: Tailroom
) -> None:
    small.write_text(TRACED, encoding="utf-8")
    (small.parent / "link.trace").write_text(TRACE, encoding="utf-8")
    out = tmp_path / "new" / "my page"
    answer = tailroom("explore", small, "--workers", 2, "--out", out)
    assert answer.status == 0
    written = files_of(out)
    # The directories of this machine are not in it.
    assert json.loads(written.pop("opened.json")) == {
        "workers": 2,
        "copy": True,
        "scenario": {"name": small.name, "text": TRACED, "files": {"link.trace": TRACE}},
    }
    assert written == {path: BUILT[path] for path in BUILT if path != "opened.json"}
    assert f"python -m http.server -d {shlex.quote(str(out))}\n" in answer.output
    assert '/index.html#embed=slider,verdict,queue" width="720" height="840"' in answer.output


def test_without_a_file_the_page_begins_as_it_was_built(tmp_path: Path, tailroom: Tailroom) -> None:
    assert tailroom("explore", "--out", tmp_path / "page").status == 0
    opened = json.loads((tmp_path / "page" / "opened.json").read_bytes())
    assert opened == {"workers": None, "copy": True, "scenario": None}


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        (SMALL.replace("10 Mbit/s", "10 parsec"), "parsec"),
        (SMALL.replace('{ kind = "reno" }', '"mine:Control"'), "the page does not run controls"),
        (TRACED.replace("link.trace", "../link.trace"), "not below the directory"),
    ],
)
def test_what_the_served_page_refuses_is_not_written(
    text: str, refusal: str, small: Path, tmp_path: Path, tailroom: Tailroom
) -> None:
    small.write_text(text, encoding="utf-8")
    answer = tailroom("explore", small, "--out", tmp_path / "page")
    assert answer.status == 2
    assert refusal in answer.errors
    assert answer.errors == tailroom("explore", small, "--port", 0).errors
    assert not (tmp_path / "page").exists()
    assert not list(tmp_path.glob(".*"))


def test_a_directory_with_files_is_left_alone(tmp_path: Path, tailroom: Tailroom) -> None:
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "mine").write_text("mine", encoding="utf-8")
    answer = tailroom("explore", "first", "--out", tmp_path / "page")
    assert answer.status == 2
    assert "holds files already" in answer.errors
    assert files_of(tmp_path / "page") == {"mine": b"mine"}


@pytest.mark.parametrize("option", [["--port", 0], ["--open"]])
def test_options_of_the_server_are_refused(
    option: list[object], tmp_path: Path, tailroom: Tailroom
) -> None:
    answer = tailroom("explore", "first", "--out", tmp_path / "page", *option)
    assert answer.status == 2
    assert f"{option[0]}: --out writes the page" in answer.errors
    assert not (tmp_path / "page").exists()
