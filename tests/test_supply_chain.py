"""What tailroom is built from: locked, from known places, without code that installs itself."""

import json
import re
import tomllib
from pathlib import Path

import pytest

import deny
import dependencies
from tests.tracked_files import tracked_files

REPOSITORY = Path(__file__).parents[1]
LOCK = "Cargo.lock"
NPM = "https://registry.npmjs.org/"
CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"


def lock_files() -> list[Path]:
    """The lock files of Cargo that belong to the repository."""
    return [REPOSITORY / name for name in tracked_files(LOCK, f"**/{LOCK}")]


def test_every_workspace_is_checked() -> None:
    assert {REPOSITORY / one / LOCK for one in deny.WORKSPACES} == set(lock_files())


def test_every_crate_comes_from_crates_io() -> None:
    for path in lock_files():
        for package in tomllib.loads(path.read_text(encoding="utf-8"))["package"]:
            is_ours = "source" not in package
            assert is_ours or (package["source"] == CRATES_IO and package["checksum"]), package


def test_no_package_of_npm_runs_code_when_it_is_installed() -> None:
    page = REPOSITORY / "page"
    assert "ignore-scripts=true" in (page / ".npmrc").read_text(encoding="utf-8").splitlines()
    locked = json.loads((page / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    for name, package in locked.items():
        assert not package.get("hasInstallScript"), name
        if name:
            assert package.get("resolved", NPM).startswith(NPM), name
            assert package["integrity"].startswith("sha512-"), name


def test_every_package_of_python_comes_from_pypi() -> None:
    locked = tomllib.loads((REPOSITORY / "uv.lock").read_text(encoding="utf-8"))["package"]
    sources = {next(iter(package["source"].items())) for package in locked}
    ours = {("editable", "."), ("editable", "atlas"), ("editable", "papers")}
    assert sources <= {("registry", "https://pypi.org/simple"), *ours}


def test_workflows_name_actions_by_their_commit_and_the_uv_of_make() -> None:
    workflows = REPOSITORY.glob(".github/workflows/*.yml")
    text = "\n".join(path.read_text(encoding="utf-8") for path in workflows)
    actions = re.findall(r"uses: ([^.\s]\S+)", text)
    assert len(actions) > 20
    assert not [action for action in actions if not re.search(r"@[0-9a-f]{40}$", action)]
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    version = re.search(r"^UV_VERSION := (\S+)$", makefile, re.M)
    assert version
    assert set(re.findall(r"(?:UV_VERSION: |uv==)(\S+)", text)) == {version[1]}


def test_every_licence_is_known() -> None:
    page = dependencies.PAGE.read_text(encoding="utf-8")
    rows = dict(dependencies._rows_of(page))
    assert len(rows) > 80
    assert "unknown" not in rows.values()


@pytest.mark.parametrize(("arguments", "status"), [(["--if-installed"], 0), ([], 1)])
def test_without_cargo_deny_one_line_says_so(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    status: int,
) -> None:
    monkeypatch.setattr(deny, "is_installed", lambda: False)
    assert deny.main(arguments) == status
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert "cargo install cargo-deny --locked" in said


def test_a_fault_in_any_workspace_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []

    def check(workspace: str, _what: tuple[str, ...]) -> bool:
        checked.append(workspace)
        return workspace != "fuzz"

    monkeypatch.setattr(deny, "is_installed", lambda: True)
    monkeypatch.setattr(deny, "checks", lambda: deny.WITHOUT_NETWORK)
    monkeypatch.setattr(deny, "check", check)
    assert deny.main([]) == 1
    assert checked == list(deny.WORKSPACES)
