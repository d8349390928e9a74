"""The frame of the validations: tables, claims, and the pages of the docs with their tables."""

import re
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from tailroom_papers.framework import above, below
from tests.validation import __main__ as program
from tests.validation import frame
from tests.validation.frame import Claim, Item, Table, Validation

PROGRAMS = {
    name: one
    for name in (f"tests.validation.{name}" for name in program.NAMES)
    if isinstance(one := import_module(name).main, Validation)
}


def items(share: float = 0.5) -> list[Item]:
    checks = (above("share", share, 0.2), below("loss", 0.1, 0.2))
    return ["a line", Table("one", ("a", "b"), iter([(1, "x")])), Claim("it fits", checks)]


def test_tables_and_claims_are_printed_in_order() -> None:
    lines: list[str] = []
    assert Validation(items)([], lines.append) == 0
    assert lines == ["a line", "| a | b |", "| --- | --- |", "| 1 | x |", "holds: it fits"]


def test_a_claim_fails_if_one_number_misses_its_bound_and_names_it() -> None:
    lines: list[str] = []
    main = Validation(items, options={"--share": {"type": float}})
    assert main(["--share", "0.1"], lines.append) == 1
    assert lines[-2:] == ["FAILS: it fits", "    missed: share: 0.1, not above 0.2"]


def test_a_table_is_written_below_its_marker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text("above\n\n<!-- table one -->\n\n| old |\n| --- |\n| 2 |\n\nbelow | after\n")
    monkeypatch.setattr(frame, "ROOT", tmp_path)
    assert Validation(items, "page.md")(["--write"], lambda _: None) == 0
    table = "| a | b |\n| --- | --- |\n| 1 | x |"
    assert page.read_text() == f"above\n\n<!-- table one -->\n\n{table}\n\nbelow | after\n"
    page.write_text("no marker\n")
    with pytest.raises(ValueError, match=r"page\.md: has no table below the marker <!-- table one"):
        Validation(items, "page.md")(["--write"], lambda _: None)


def test_a_table_with_the_name_of_a_file_is_written_next_to_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    monkeypatch.setattr(frame, "ROOT", tmp_path)
    table = Table("one.csv", ("a", "b"), iter([(1, 'x, "y"')]))
    assert Validation(lambda: [table], "page.md")(["--write"], lambda _: None) == 0
    assert (tmp_path / "docs" / "one.csv").read_text() == 'a,b\n1,"x, ""y"""\n'


def test_the_marked_tables_of_a_page_are_those_of_its_validations() -> None:
    docs = frame.ROOT / "docs"
    tables: dict[str, set[str]] = defaultdict(set)
    for name, one in PROGRAMS.items():
        module = import_module(name)
        parts = [
            part
            for part in vars(module).values()
            if isinstance(part, ModuleType)
            and part.__package__ == module.__package__ != "tests.validation"
        ]
        for file in (module.__file__, *(part.__file__ for part in parts)):
            text = Path(str(file)).read_text(encoding="utf-8")
            tables[one.page] |= set(re.findall(r'Table\(\s*"([\w-]+)"', text))
    marked = {
        str(page.relative_to(docs)): set(re.findall(r"(?m)^<!-- table (\S+) -->\n\n\|", text))
        for page in docs.rglob("*.md")
        if "<!-- table " in (text := page.read_text(encoding="utf-8"))
    }
    assert marked == {page: names for page, names in tables.items() if page}


def test_validations_are_run_by_name_with_their_options(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[tuple[str, list[str]]] = []

    def module(name: str) -> SimpleNamespace:
        def main(arguments: list[str]) -> int:
            called.append((name, arguments))
            return len(called) % 2

        return SimpleNamespace(main=main)

    monkeypatch.setattr(program, "import_module", module)
    assert program.main(["exact", "kernel", "--only", "cubic"]) == 1
    assert called == [
        ("tests.validation.exact", ["--only", "cubic"]),
        ("tests.validation.kernel", ["--only", "cubic"]),
    ]
    program.main([])
    assert len(called) == 2 + len(program.NAMES)
    with pytest.raises(SystemExit, match=r"^trafic: no such validation; choose from ns2, fhstcp"):
        program.main(["trafic"])
