"""How much buffer a link needs, and what each choice costs.

    import tailroom as tr

    result = tr.run("scenario.toml")
    result.links["bottleneck"]["utilization"]

A scenario is a TOML file or a `Scenario`; `tailroom.scenario.types` describes its tables: the keys
of the file, their documentation and their types.
"""

import ast
from importlib import import_module
from pathlib import Path

from tailroom._engine import build
from tailroom.libraries import named_if_missing

__version__ = build().partition("+")[0]

# A name is imported when it is first used: NumPy and Arrow take longer to load than a short
# run takes. The names stand in `__init__.pyi`, where type checkers and editors look for them.
_MODULE_OF = {
    name.name: statement.module or ""
    for statement in ast.parse(Path(__file__).with_suffix(".pyi").read_bytes()).body
    if isinstance(statement, ast.ImportFrom)
    for name in statement.names
}

__all__ = sorted([*_MODULE_OF, "__version__"])  # noqa: PLE0605


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with named_if_missing():
        value: object = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
