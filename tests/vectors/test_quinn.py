"""quinn's CUBIC by the vectors: the expectation that it misses, and why."""

import subprocess
from pathlib import Path

import pytest

from tests.conftest import Tailroom
from tests.validation.frame import ROOT

MANIFEST = ROOT / "examples" / "quinn-link" / "Cargo.toml"
CARGO = ("cargo", "run", "--quiet", "--locked", f"--manifest-path={MANIFEST}", "--bin", "vectors")


# quinn and its crates compile for two minutes.
@pytest.mark.slow
def test_quinn_takes_k_from_the_maximum_that_fast_convergence_has_lowered(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    fetch = ["cargo", "fetch", "--locked", f"--manifest-path={MANIFEST}"]
    fetched = subprocess.run(fetch, check=False)
    if fetched.returncode:
        pytest.skip("quinn's crates cannot be fetched")
    vectors, results = tmp_path / "vectors", tmp_path / "results.json"
    assert tailroom("vectors", "write", vectors).status == 0
    done = subprocess.run([*CARGO, "--", vectors], stdout=subprocess.PIPE, check=True)
    results.write_bytes(done.stdout)
    ended = tailroom("vectors", "check", vectors, "--against", results)
    assert ended.status == 1
    assert "10 of 11 expectations of 3 vectors are met" in ended.output
    # K = cbrt(W_max (1 - 0.7) / C), Eq. 2 of RFC 8312; RFC 9438 takes the reduced window instead.
    assert ended.output.count("expected") == 1
    assert "cubic.fast-convergence" in ended.output
    assert "K = cbrt" in ended.output
