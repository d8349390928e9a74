"""The check of `make lint` that the engine's modules import in one direction."""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

import import_order
from tests.conftest import Finished

HIGH = "pub struct Thing;\npub mod inner { pub struct Part; }\n"


def check(crate: Path) -> Finished:
    output = StringIO()
    with redirect_stdout(output):
        status = import_order.main([str(crate)])
    return Finished(status, output.getvalue(), "")


def write_crate(crate: Path, files: dict[str, str], order: str = "low\nmiddle\nhigh\n") -> Path:
    """A crate with the modules `low`, `middle` and `high`, unless `files` has others."""
    modules = {"lib.rs": "", "low.rs": "", "middle.rs": "", "high.rs": HIGH, **files}
    for name, text in modules.items():
        (crate / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (crate / "src" / name).write_text(text, encoding="utf-8")
    (crate / "import_order.txt").write_text(order, encoding="utf-8")
    return crate


AGAINST_THE_ORDER = {
    "use": "use crate::high::Thing;",
    "pub use": "pub use crate::high::Thing;",
    "restricted pub use": "pub(crate) use crate::high::Thing;",
    "group": "use crate::{high::Thing};",
    "group over several lines": "use crate::{\n    low,\n    high::{inner, Thing},\n};",
    "glob": "use crate::high::*;",
    "renamed": "use crate::high as other;",
    "module of a group": "use crate::high::{self, Thing};",
    "super": "use super::high::Thing;",
    "super in a group": "use super::{high::Thing};",
    "super in an inline module": "mod part {\n    use super::super::high::Thing;\n}",
    "path in a type": "pub fn make(_: crate::high::Thing) {}",
    "path in an expression": "pub fn make() { let _ = crate::high::Thing; }",
    "path with super": "pub fn make() { let _ = super::high::Thing; }",
    "use in a function": "pub fn make() { use crate::high::Thing; let _ = Thing; }",
    "path in a macro": "macro_rules! thing { () => { $crate::high::Thing }; }",
    "behind a string": 'pub const TEXT: &str = "// \\" //"; use crate::high::Thing;',
    "behind a raw string": 'pub const TEXT: &str = r#"a " /* "#; use crate::high::Thing;',
    "behind a nested comment": "/* a /* b */ c */ use crate::high::Thing;",
    "behind a lifetime": "pub fn a<'a>(_: &'a str) {} use crate::high::Thing; const C: char = 'a';",
    "behind a test": "#[cfg(test)]\nmod tests { fn a() {} }\nuse crate::high::Thing;",
    "other condition": '#[cfg(feature = "x")]\nuse crate::high::Thing;',
}


@pytest.mark.parametrize("text", AGAINST_THE_ORDER.values(), ids=AGAINST_THE_ORDER.keys())
def test_an_import_against_the_order_is_told_with_its_line(tmp_path: Path, text: str) -> None:
    ended = check(write_crate(tmp_path, {"middle.rs": f"// a comment\n\n{text}\n"}))
    assert ended.status == 1, ended.output
    line = 2 + text[: text.index("high")].count("\n") + 1
    for fault in ended.output.splitlines():
        assert re.search(r"src/middle\.rs:(\d+): middle imports high", fault), fault
    assert f"src/middle.rs:{line}: " in ended.output


@pytest.mark.parametrize(
    "text",
    [
        "use crate::low;",
        "// use crate::high::Thing;",
        "/// See [`Thing`](crate::high::Thing).\npub fn a() {}",
        "/* use crate::high::Thing; */",
        'pub const TEXT: &str = "use crate::high::Thing;";',
        'pub const TEXT: &str = r#"crate::high::Thing "quoted" crate::high"#;',
        "#[cfg(test)]\nuse crate::high::Thing;",
        "#[cfg(test)]\nmod tests {\n    use crate::high::Thing;\n    fn a() { if true {} }\n}",
        "#[cfg(test)]\n#[allow(unused)]\nmod tests {\n    use crate::high::Thing;\n}",
        "mod part { pub struct A; }\nuse self::part::A;",
        "mod part { pub struct A; pub mod b { use super::A; } }",
        "use std::collections::high;",
        "use other_crate::high::Thing;",
    ],
)
def test_what_is_no_import_or_only_for_tests_is_no_fault(tmp_path: Path, text: str) -> None:
    ended = check(write_crate(tmp_path, {"middle.rs": text}))
    assert (ended.status, ended.output) == (0, "")


def test_a_file_that_only_tests_compile_is_not_read(tmp_path: Path) -> None:
    files = {
        "middle/mod.rs": "#[cfg(test)]\npub(crate) mod script;\n#[cfg(test)]\nmod tests;\n",
        "middle/script.rs": "use crate::high::Thing;",
        "middle/tests/mod.rs": "use crate::high::Thing;",
        "middle/tests/one.rs": "use crate::high::Thing;",
    }
    crate = write_crate(tmp_path, files)
    (crate / "src" / "middle.rs").unlink()
    assert check(crate).status == 0
    (crate / "src" / "middle" / "mod.rs").write_text("mod script;\n", encoding="utf-8")
    assert check(crate).output.count("middle imports high") == 3


def test_a_name_that_the_root_hands_on_is_asked_for_by_its_module(tmp_path: Path) -> None:
    files = {"lib.rs": "pub use high::Thing;", "middle.rs": "use crate::Thing;"}
    ended = check(write_crate(tmp_path, files))
    assert ended.status == 1
    assert "src/middle.rs:1: crate::Thing is no module" in ended.output


FOLDER = {"high.rs": "", "high/one.rs": "", "high/two.rs": "", "high/three.rs": ""}


def test_files_of_a_folder_form_no_circle(tmp_path: Path) -> None:
    one_way = {"high/one.rs": "use super::two::B;", "high/two.rs": "use super::three::C;"}
    assert check(write_crate(tmp_path, {**FOLDER, **one_way})).status == 0
    back = {"high/three.rs": "\nfn a(_: crate::high::one::A) {}"}
    ended = check(write_crate(tmp_path, {**FOLDER, **one_way, **back}))
    assert ended.status == 1
    assert "src/high/three.rs:2: high::three imports high::one" in ended.output
    assert len(ended.output.splitlines()) == 3


def test_a_name_that_the_folder_hands_on_belongs_to_its_file(tmp_path: Path) -> None:
    files = {
        "high.rs": "mod one;\nmod two;\npub use two::B;\npub struct Own;",
        "high/one.rs": "use super::{Own, B};\npub struct A;",
        "high/two.rs": "use super::Own;\npub struct B;",
    }
    assert check(write_crate(tmp_path, {**FOLDER, **files})).status == 0
    back = {**files, "high/two.rs": "use super::one::A;"}
    ended = check(write_crate(tmp_path, {**FOLDER, **back}))
    assert "src/high/one.rs:1: high::one imports high::two" in ended.output


def test_the_list_names_every_module_once_and_nothing_else(tmp_path: Path) -> None:
    ended = check(write_crate(tmp_path, {}, order="low\nhigh\nold\n"))
    assert ended.status == 1
    assert "import_order.txt lacks the module middle" in ended.output
    assert "import_order.txt names old, which is no module" in ended.output
