"""CONTRIBUTING's steps for a packet source and a flow source, followed in a copy of the engine.

The code is that of `examples/sources`. The test takes half a minute on idle cores: the engine is
built once more, without optimisation.
"""

import os
import re
import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent
ENGINE = Path("crates/tailroom-engine")
DERIVE = Path("crates/tailroom-derive")
REGISTRY = ENGINE / "src" / "traffic" / "mod.rs"
EXAMPLES = REPOSITORY / "examples" / "sources"
FLAGS = re.DOTALL | re.MULTILINE

CONTRACT = """
mod support {
    pub(crate) mod refusals;
    pub(crate) mod scenario_text;
}

mod source_contract;

#[test]
fn the_new_sources_are_listed_with_their_parameters() {
    let listed = support::scenario_text::components();
    for kind in [KINDS] {
        let sources = listed["source"].as_array().expect("a list");
        let found = sources.iter().find(|source| source["kind"] == kind).expect(kind);
        assert!(found["doc"].is_string() && found["parameters"][0]["doc"].is_string(), "{found}");
    }
}
"""


def add_source(root: Path, example: Path) -> str:
    """Follow the steps for an example in the tree at `root`; the kind that is new."""
    shutil.copy(example, (root / REGISTRY).parent)
    text = example.read_text(encoding="utf-8")
    stated = re.search(r"in `(\w+)` of the `registry!`.*?^//! ```text\n(.*?)^//! ```$", text, FLAGS)
    assert stated is not None, text
    line = re.sub("^//! ", "", stated[2], flags=re.MULTILINE)
    registry = (root / REGISTRY).read_text(encoding="utf-8")
    start = f"\n    {stated[1]} {{\n"
    assert registry.count(start) == 1
    registry = registry.replace(start, start + textwrap.indent(line, "        "))
    (root / REGISTRY).write_text(registry, encoding="utf-8")
    (kind,) = re.findall(r'= "(\w+)",$', line, re.MULTILINE)
    assert isinstance(kind, str)
    return kind


def scratch_engine(root: Path) -> None:
    """Copy what the engine's contract test of sources needs, as a workspace of its own."""
    shutil.copytree(REPOSITORY / ENGINE / "src", root / ENGINE / "src")
    shutil.copytree(REPOSITORY / DERIVE, root / DERIVE)
    workspace = (REPOSITORY / "Cargo.toml").read_text(encoding="utf-8")
    members = f'members = ["{ENGINE.as_posix()}", "{DERIVE.as_posix()}"]'
    workspace = re.sub(r"members = \[.*?\]", members, workspace, count=1, flags=re.DOTALL)
    # The crates below the engine stay as they are built already.
    workspace += "\n[profile.test.package.tailroom-engine]\nopt-level = 0\n"
    (root / "Cargo.toml").write_text(workspace, encoding="utf-8")
    shutil.copy(REPOSITORY / "Cargo.lock", root)
    manifest = (REPOSITORY / ENGINE / "Cargo.toml").read_text(encoding="utf-8")
    manifest = manifest.split("\n[[bench]]")[0].replace('proptest = "1.12.0"\n', "")
    (root / ENGINE / "Cargo.toml").write_text(manifest, encoding="utf-8")
    tests = Path("tests", "engine")
    (root / ENGINE / tests / "support").mkdir(parents=True)
    supports = ("refusals", "scenario_text")
    for name in ("source_contract", *(f"support/{support}" for support in supports)):
        path = ENGINE / tests / f"{name}.rs"
        shutil.copy(REPOSITORY / path, root / path)


@pytest.mark.slow
def test_a_packet_source_and_a_flow_source_are_a_file_and_a_line_each(tmp_path: Path) -> None:
    scratch_engine(tmp_path)
    kinds = [add_source(tmp_path, example) for example in sorted(EXAMPLES.glob("*.rs"))]
    assert kinds == ["batches", "updates"]
    names = ", ".join(f'"{kind}"' for kind in kinds)
    main = tmp_path / ENGINE / "tests" / "engine" / "main.rs"
    main.write_text(CONTRACT.replace("KINDS", names), encoding="utf-8")
    target = os.environ.get("CARGO_TARGET_DIR", str(REPOSITORY / "target"))
    done = subprocess.run(
        ["cargo", "test", "--quiet", "--test", "engine"],
        cwd=tmp_path,
        env={**os.environ, "CARGO_TARGET_DIR": target},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"test result: ok\. 1[0-9] passed", done.stdout), done.stdout
