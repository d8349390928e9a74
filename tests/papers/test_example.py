"""The reproduction in examples/ runs, and its checks decide as its numbers say."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from tailroom.statistics.intervals import Interval
from tailroom_papers.framework import Form, Verdict, reproduce

EXAMPLE = Path(__file__).parents[2] / "examples" / "reproduction" / "appenzeller_2004.py"


def test_the_example_of_the_guide_reproduces_its_paper(tmp_path: Path) -> None:
    spec = spec_from_file_location("appenzeller_2004", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    example = module_from_spec(spec)
    spec.loader.exec_module(example)
    done = reproduce(example.PAPER, tmp_path / "out", form=Form.SMOKE)
    judged = {claim.name: judgement for claim, judgement in done.parts[0].judged}
    # 100 flows with RTT C / sqrt(n) leave 2 to 5 % of the link idle, whatever the seed.
    enough = judged["enough"].checks[0].measured
    assert isinstance(enough, Interval)
    assert 0.9 < enough.mean < 0.98
    assert judged["enough"].verdict is not Verdict.HOLDS
    assert (done.directory / "utilization.png").exists()


def test_the_example_is_short() -> None:
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) <= 150
