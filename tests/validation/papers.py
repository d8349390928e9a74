"""The papers reproduced in their quick form, whose verdicts must be those that are recorded.

`docs/papers/NAME/quick.json` holds the verdicts of the quick form. The same seeds give the same
bytes on any machine, so that every verdict must be the recorded one. `--write` records them anew.
The verdicts of the full form must follow from the data next to its report.

    python -m tests.validation.papers [--write] [NAME ...]
"""

import json
import sys
import tempfile
from pathlib import Path

from tailroom_papers import framework
from tailroom_papers.framework import Form

DOCS = Path(__file__).parents[2] / "docs" / "papers"
Verdicts = dict[str, dict[str, str]]
"""Verdicts by part and claim."""


def quick_verdicts(name: str) -> Verdicts:
    """Reproduces a paper in its quick form, and returns the verdicts on claims and conditions."""
    with tempfile.TemporaryDirectory() as out:
        done = framework.reproduce(framework.load(name), Path(out) / name, form=Form.QUICK)
    return {
        part.part.name: {
            claim.name: str(judgement.verdict)
            for claim, judgement in (*part.judged, *part.conditions)
        }
        for part in done.parts
    }


def differences(found: Verdicts, recorded: Verdicts) -> list[str]:
    """Returns a line for each claim whose verdict is not the recorded one."""
    places = [
        (part, claim)
        for part in {**recorded, **found}
        for claim in {**recorded.get(part, {}), **found.get(part, {})}
    ]
    return [
        f"{part} {claim}: {then}, now {now}"
        for part, claim in places
        if (then := recorded.get(part, {}).get(claim, "not recorded"))
        != (now := found.get(part, {}).get(claim, "absent"))
    ]


def main(arguments: list[str] | None = None) -> int:
    """Compares the verdicts of the quick form with the recorded ones, or records them.

    Also judges the full form from its data.

    Returns:
        1 if a verdict differs, else 0.
    """
    arguments = arguments or []
    write = "--write" in arguments
    names = [name for name in arguments if name != "--write"] or framework.names()
    failed = 0
    for name in names:
        found, file = quick_verdicts(name), DOCS / name / "quick.json"
        if write:
            file.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
        changed = differences(found, json.loads(file.read_text(encoding="utf-8")))
        for line in changed:
            print(f"{name}, quick form: {line}")
        checked = framework.recheck(framework.load(name), DOCS / name)
        for line in checked.differences:
            print(f"{name}, full form: {line}")
        failed += len(changed) + len(checked.differences)
    print(f"papers: {failed} verdicts differ from docs/papers")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
