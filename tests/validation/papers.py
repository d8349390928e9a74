"""The papers reproduced in their quick form, beside the verdicts of the full form.

`docs/papers/NAME/claims.json` holds the claims as the full form decided them. A quick run has fewer
seeds and shorter runs, so that a claim may come out as "holds in part"; one that turns into its
opposite is a failure.

    python -m tests.validation.papers [NAME ...]
"""

import json
import sys
import tempfile
from pathlib import Path

from tailroom import reproduction
from tailroom.reproduction import Form, Verdict

RECORDED = Path(__file__).parents[2] / "docs" / "papers"
OPPOSITE = {Verdict.HOLDS: Verdict.DOES_NOT_HOLD, Verdict.DOES_NOT_HOLD: Verdict.HOLDS}


def recorded(name: str) -> dict[tuple[str, str], Verdict]:
    """The verdicts of the full form, by part and claim."""
    claims = json.loads((RECORDED / name / "claims.json").read_text(encoding="utf-8"))
    return {(one["part"], one["claim"]): Verdict(one["verdict"]) for one in claims}


def main(names: list[str] | None = None) -> int:
    """Reproduces papers and prints what has become of each claim.

    Opposites are failures, and so are claims that `tools/paper_reports.py` has not yet recorded.
    """
    failed = 0
    for name in names or reproduction.names():
        expected = recorded(name)
        with tempfile.TemporaryDirectory() as out:
            done = reproduction.reproduce(
                reproduction.load(name), Path(out) / name, form=Form.QUICK
            )
        for part in done.parts:
            for claim, judgement in part.judged:
                full = expected.get((part.part.name, claim.name))
                is_opposite = full is not None and OPPOSITE.get(full) is judgement.verdict
                failed += is_opposite or full is None
                sign = "OPPOSITE" if is_opposite else ""
                place = f"{name} {part.part.name} {claim.name}"
                words = full or "not recorded"
                print(f"{place:60} full: {words:14} quick: {judgement.verdict:14} {sign}")
    print(f"papers: {failed} claims came out as their opposite, or are not in docs/papers")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
