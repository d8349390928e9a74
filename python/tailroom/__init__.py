"""How much buffer a link needs, and what each choice costs.

    import tailroom as tr

    result = tr.run("scenario.toml")
    result.links["bottleneck"]["utilization"]

A scenario is a TOML file or a `Scenario`; `tailroom.scenario.types` describes its tables: the keys
of the file, their documentation and their types.
"""

from importlib import import_module

from tailroom._engine import build

__version__ = build().partition("+")[0]


def _modules() -> dict[str, str]:
    """The modules of the public names, as `__init__.pyi` has them for type checkers and editors.

    It is read without `ast` and `pathlib`, which would take a third of the time of the import.
    """
    modules: dict[str, str] = {}
    module = ""
    with open(f"{__file__}i", encoding="utf-8") as stub:
        for line in stub:
            words = line.replace(",", "").split()
            if words[:1] == ["from"]:
                module = words[1]
            modules |= {words[at + 1]: module for at, word in enumerate(words) if word == "as"}
    return modules


# A name is imported when it is first used: NumPy and Arrow take longer to load than a short
# run takes.
_MODULE_OF = _modules()

__all__ = sorted([*_MODULE_OF, "__version__"])  # noqa: PLE0605


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tailroom.libraries import named_if_missing  # noqa: PLC0415 - it loads `threading`

    with named_if_missing():
        value: object = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
