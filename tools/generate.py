"""Writes the files that follow from the engine, or checks that they are up to date.

python tools/generate.py schema site [--check]
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import api_reference
import command_reference
import reference_tables
import result_reference
import result_types
import scenario_classes
from scenario_format import Reader
from tailroom import _engine

REPOSITORY = Path(__file__).parents[1]
CLASSES = "python/tailroom/scenario/types.py"

TABLES = "python/tailroom/simulation/result_tables.py"
SUMMARY = "python/tailroom/simulation/result_types.py"


def schema_files() -> dict[str, str]:
    """The JSON Schema, the classes of a scenario, and those of a result."""
    schema = json.loads(_engine.schema())
    classes = scenario_classes.python_source(Reader(schema).read())
    summary = result_types.types_module(json.loads(_engine.summary_schema()))
    tables = result_reference.tables_module(json.loads(_engine.tables()))
    return {
        "schema/scenario.schema.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n",
        CLASSES: _formatted(classes, CLASSES),
        TABLES: _formatted(tables, TABLES),
        SUMMARY: _formatted(summary, SUMMARY),
    }


def site_files() -> dict[str, str]:
    """The reference pages that only the site has."""
    items = Reader(json.loads(_engine.schema())).read()
    hosts = json.loads(_engine.components())["host"]
    results = json.loads(_engine.tables()), json.loads(_engine.summary_schema())
    return {
        "docs/reference/commands.md": command_reference.commands_page(),
        "docs/reference/python.md": api_reference.python_page(),
        "docs/reference/results.md": result_reference.results_page(*results),
        "docs/reference/scenario.md": reference_tables.scenario_page(items, hosts),
    }


TARGETS = {"schema": schema_files, "site": site_files}


def _formatted(source: str, name: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", name, "-"]
    done = subprocess.run(
        command, input=source, cwd=REPOSITORY, capture_output=True, encoding="utf-8", check=True
    )
    return done.stdout


def main() -> int:
    """Writes or checks; the exit status says whether a file was out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="+", choices=list(TARGETS))
    parser.add_argument("--check", action="store_true", help="change nothing, fail if stale")
    arguments = parser.parse_args()
    stale = False
    for target in arguments.targets:
        for name, text in TARGETS[target]().items():
            path = REPOSITORY / name
            if path.exists() and path.read_text(encoding="utf-8") == text:
                continue
            if arguments.check:
                stale = True
                print(f"{name} is out of date; run `make {target}`", file=sys.stderr)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
                print(f"wrote {name}")
    return int(stale)


if __name__ == "__main__":
    sys.exit(main())
