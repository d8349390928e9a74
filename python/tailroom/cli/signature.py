"""Options of a command from the parameters of the public function that it calls.

The function's source is read, and the function is not imported: its module may load NumPy or Arrow,
which take longer to load than a short run takes.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Collection, Iterator
from copy import copy
from dataclasses import dataclass
from pkgutil import get_data
from typing import Annotated, Any, get_args

import typer

from tailroom import _MODULE_OF
from tailroom.arguments import option
from tailroom.cli import failures
from tailroom.cli.options import FORMS, Form

_ENTRY = re.compile(r"^    (\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function, as its source has it."""

    name: str
    annotation: str
    default: Any
    """The default value; `None` if there is none, or if it is not a literal."""
    meaning: str
    """The entry in the section Args of the docstring, as the help of a command has it."""

    @property
    def takes_several(self) -> bool:
        """Whether the option may be repeated."""
        return self.annotation.startswith("Mapping") or bool(
            re.search(r"\b(Sequence|Iterable)\[", self.annotation)
        )

    @property
    def type(self) -> Any:
        """The type of the option."""
        if self.takes_several:
            return list[str]
        plain = {"bool": bool, "int": int, "float": float}
        return plain.get(self.annotation.removesuffix(" | None"), str)


def parameters_of(function: str) -> dict[str, Parameter]:
    """Returns the parameters of a public function by name.

    Args:
        function: Name in `tailroom`; a method follows its class, as in `SweepResult.plot`.
    """
    owner, _, method = function.partition(".")
    path = f"{_MODULE_OF[owner].removeprefix('tailroom.').replace('.', '/')}.py"
    source = (get_data("tailroom", path) or b"").decode()
    head = re.search(rf"^ *def {method or owner}\(", source, re.MULTILINE)
    assert head, f"{path}: has no function {function}"
    start = head.start()
    # The body is its docstring; the statements after it are not parsed.
    end = source.index('"""', source.index('"""', start) + 3) + 3
    [defined] = ast.parse(textwrap.dedent(source[start:end])).body
    assert isinstance(defined, ast.FunctionDef)
    section = (ast.get_docstring(defined) or "").partition("\nArgs:\n")[2].partition("\n\n")[0]
    meanings = {name: " ".join(text.split()) for name, text in _ENTRY.findall(section)}
    return {
        argument.arg: Parameter(
            argument.arg,
            ast.unparse(argument.annotation).strip("'") if argument.annotation else "",
            _literal(default, source),
            _for_commands(meanings[argument.arg], meanings),
        )
        for argument, default in _with_defaults(defined.args)
        if argument.arg in meanings
    }


def _with_defaults(given: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    required = len(given.args) - len(given.defaults)
    yield from zip(given.args, [None] * required + list(given.defaults), strict=True)
    yield from zip(given.kwonlyargs, given.kw_defaults, strict=True)


def _literal(default: ast.expr | None, source: str) -> Any:
    """The value of a literal, or of a constant of the same module."""
    text = ast.unparse(default) if default else "None"
    constant = re.search(rf"^{re.escape(text)} = (.+)$", source, re.MULTILINE)
    try:
        return ast.literal_eval(constant[1] if constant else text)
    except ValueError:
        return None


def _for_commands(meaning: str, arguments: Collection[str]) -> str:
    """A text of a docstring with the names that commands have, and without what Python adds."""

    def renamed(found: re.Match[str]) -> str:
        return option(found[1]) if found[1] in arguments else found[0]

    text = meaning.partition(" In Python")[0]
    text = re.sub(r"`(\"[^`]+\")`", r"\1", text)
    text = re.sub(r"`tailroom\.(\w+)`", r"`tailroom \1`", text)
    return re.sub(r"`(\w+)`", renamed, text)


def options_of(
    *functions: str,
    only: Collection[str] = (),
    without: Collection[str] = (),
    on_interrupt: Callable[[Any], str] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorates a command: `**arguments` becomes the options of the functions that it calls.

    The command gets the arguments that were given, as the functions take them. A parameter that the
    command declares itself is one of its own, and needs no help if a function has it too. Errors
    end the command (`failures.reported`).

    Args:
        functions: Names of public functions; a parameter that several have is that of the first.
        only: Parameters that are options; if left out, all except `without`, what reports progress,
            and the scenario, which each command declares itself.
        without: Parameters that are no options.
        on_interrupt: `show_known` of `failures.reported`.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        known: dict[str, Parameter] = {}
        for function in functions:
            known = parameters_of(function) | known
        own = inspect.signature(command, eval_str=True).parameters
        hidden = {"progress", "scenario", "scenarios", *without}
        names = [name for name in only or known if name not in hidden and name not in own]
        derived = [_option(known[name], FORMS.get(name, Form())) for name in names]
        declared = [
            _with_help(parameter, known.get(name))
            for name, parameter in own.items()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]

        def call(**given: Any) -> None:
            with failures.reported(on_interrupt):
                arguments = {name: value for name, value in given.items() if name in own}
                for name, value in given.items():
                    if name not in own and value is not None and value != []:
                        read = FORMS.get(name, Form()).read
                        arguments[name] = read(name, value) if read else value
                command(**arguments)

        call.__doc__ = command.__doc__
        is_first = [one.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for one in declared]
        count = is_first.index(False) if False in is_first else len(declared)
        ordered = [*declared[:count], *derived, *declared[count:]]
        call.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
        return call

    return decorate


def _option(parameter: Parameter, form: Form) -> inspect.Parameter:
    """The option that gives a parameter; it is `None` if it is not given."""
    name = option(parameter.name)
    if parameter.default is True:
        name = f"{name}/--no-{name.removeprefix('--')}"
    settings = {"help": _help(parameter, form), **form.settings}
    kind = str if form.read and not parameter.takes_several else parameter.type
    return inspect.Parameter(
        parameter.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, typer.Option(name, **settings)],
    )


def _help(parameter: Parameter, form: Form) -> str:
    parts = [parameter.meaning, form.note, "May be repeated." if parameter.takes_several else ""]
    if type(parameter.default) in (int, float):
        parts.append(f"[default: {parameter.default}]")
    return " ".join(filter(None, parts))


def _with_help(declared: inspect.Parameter, of_function: Parameter | None) -> inspect.Parameter:
    """A command's own parameter; its help is that of the function's if it has none."""
    kind, *settings = get_args(declared.annotation)
    if of_function is None or not settings or settings[0].help:
        return declared
    setting = copy(settings[0])
    setting.help = of_function.meaning
    return declared.replace(annotation=Annotated[kind, setting])
