"""Options of a command from the parameters of the public function that it calls.

The function's source is read, and the function is not imported: its module may load NumPy or Arrow,
which take longer to load than a short run takes.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pkgutil import get_data
from typing import Annotated, Any

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
    if isinstance(default, ast.Name):
        constant = re.search(rf"^{default.id} = (.+)$", source, re.MULTILINE)
        default = ast.parse(constant[1], mode="eval").body if constant else None
    try:
        return ast.literal_eval(default or ast.Constant(None))
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
    command declares itself replaces that of the functions. Errors end the command
    (`failures.reported`).

    Args:
        functions: Names of public functions; a parameter that several have is that of the last.
        only: Parameters that are options; if left out, all except `without`, what reports progress,
            and the scenario, which each command declares itself.
        without: Parameters that are no options.
        on_interrupt: `show_known` of `failures.reported`.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        known: dict[str, Parameter] = {}
        for function in functions:
            known |= parameters_of(function)
        own = inspect.signature(command, eval_str=True).parameters
        hidden = {"progress", "scenario", "scenarios", *without, *own}
        derived = [_option(known[name]) for name in only or known if name not in hidden]
        declared = [one for one in own.values() if one.kind is not one.VAR_KEYWORD]

        def call(**given: Any) -> None:
            with failures.reported(on_interrupt):
                for name in [name for name in given if name not in own]:
                    if (value := given.pop(name)) not in (None, []):
                        read = FORMS.get(name, Form()).read
                        given[name] = read(name, value) if read else value
                command(**given)

        call.__doc__ = command.__doc__
        # The command's arguments come first, then the options of the functions, then its own.
        ordered = sorted([*derived, *declared], key=lambda one: one.kind)
        call.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
        return call

    return decorate


def _option(parameter: Parameter) -> inspect.Parameter:
    """The option that gives a parameter; it is `None` if it is not given."""
    form = FORMS.get(parameter.name, Form())
    name = option(parameter.name)
    if parameter.default is True:
        name = f"{name}/--no-{name.removeprefix('--')}"
    kind: Any = {"bool": bool, "int": int, "float": float}.get(
        parameter.annotation.removesuffix(" | None"), str
    )
    if form.read:
        kind = str
    if parameter.takes_several:
        kind = list[str]
    settings = {"help": _help(parameter, form), **form.settings}
    return inspect.Parameter(
        parameter.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, typer.Option(name, **settings)],
    )


def _help(parameter: Parameter, form: Form) -> str:
    parts = [parameter.meaning, form.note, "Repeatable." if parameter.takes_several else ""]
    if type(parameter.default) in (int, float):
        parts.append(f"[default: {parameter.default}]")
    return " ".join(filter(None, parts))
