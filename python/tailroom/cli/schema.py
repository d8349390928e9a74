"""`tailroom schema`: the JSON Schema of the scenario format, for editors and other programs."""

import json

from tailroom import _engine
from tailroom.cli import failures


def schema() -> None:
    """Print the JSON Schema of the scenario file."""
    with failures.reported():
        print(json.dumps(json.loads(_engine.schema()), indent=2, ensure_ascii=False))
