"""Check that the modules of the engine import in one direction.

`crates/tailroom-engine/import_order.txt` lists the modules directly below the crate's root, the
lowest first. A module may name itself and the modules above it in that list. Within one folder, the
files may use one another in any direction that does not close a circle.

The check reads `use` and `pub use` with groups, and paths inside code (`crate::link::Link`,
`super::super::link::Link`). It ignores comments, strings and everything under `#[cfg(test)]`: a
test may build its scene from any module. `lib.rs` declares the modules and is not checked.

The files of a folder may use the names of its `mod.rs`, and `mod.rs` may use its files: a trait
stands next to the registry of its implementations.

    python tools/import_order.py            check the engine
    python tools/import_order.py CRATE      check another crate that has an import_order.txt
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ENGINE = Path(__file__).parent.parent / "crates" / "tailroom-engine"

Names = tuple[str, ...]

# Comments, and literals that may hold anything. A lifetime is no literal.
_OPAQUE = re.compile(
    r"""
      //[^\n]*
    | b?r(?P<hashes>\#*)".*?"(?P=hashes)
    | b?"(?:\\.|[^"\\])*"
    | b?'(?:\\(?:u\{[0-9a-fA-F_]*\}|x[0-9a-fA-F]{2}|.)|[^'\\\n])'
    """,
    re.VERBOSE | re.DOTALL,
)
_ATTRIBUTES = r"(?:\s*\#\[[^\]]*\])*\s*"
_TEST_ONLY = re.compile(r"#\[cfg\(test\)\]" + _ATTRIBUTES)
_TEST_FILE = re.compile(
    r"#\[cfg\(test\)\]" + _ATTRIBUTES + r"(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;"
)
_INLINE_MODULE = re.compile(r"\bmod\s+(\w+)\s*\{")
_USE = re.compile(r"(?<![\w$])use\s+([^;]*);")
_PATH = re.compile(r"(?<![\w:])\$?(?:crate|self|super)(?:\s*::\s*\w+)+")
_TOKEN = re.compile(r"::|[{},*]|\w+")


@dataclass(frozen=True)
class Use:
    """A path from the crate's root that a module names, without `crate`, and its line."""

    path: Names
    line: int


@dataclass
class Module:
    """A source file: its path from the crate's root, and what it names."""

    names: Names
    file: Path
    uses: list[Use]
    imports: dict[str, Names] = field(default_factory=dict)
    """The names that `use` brings into the file itself, with their full paths."""


def without_text(source: str) -> str:
    """Replace comments and literals by blanks; lines and columns stay."""
    parts = []
    position = 0
    while position < len(source):
        block = source.find("/*", position)
        opaque = _OPAQUE.search(source, position)
        if block >= 0 and (opaque is None or block < opaque.start()):
            parts.append(source[position:block])
            end = _end_of_block_comment(source, block)
            parts.append(_blank(source[block:end]))
            position = end
        elif opaque is not None:
            parts.append(source[position : opaque.start()])
            parts.append(_blank(opaque.group()))
            position = opaque.end()
        else:
            parts.append(source[position:])
            break
    return "".join(parts)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _end_of_block_comment(source: str, start: int) -> int:
    depth = 0
    for mark in re.finditer(r"/\*|\*/", source[start:]):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return start + mark.end()
    return len(source)


def without_tests(code: str) -> str:
    """Replace every item under `#[cfg(test)]` by blanks."""
    position = 0
    while match := _TEST_ONLY.search(code, position):
        end = _end_of_item(code, match.end())
        code = code[: match.start()] + _blank(code[match.start() : end]) + code[end:]
        position = end
    return code


def _end_of_item(code: str, start: int) -> int:
    """Where the item that starts here ends: behind its block, or its semicolon."""
    for mark in re.finditer(r"[;{]", code[start:]):
        at = start + mark.start()
        return at + 1 if mark.group() == ";" else _end_of_braces(code, at)
    return len(code)


def _end_of_braces(code: str, start: int) -> int:
    depth = 0
    for mark in re.finditer(r"[{}]", code[start:]):
        depth += 1 if mark.group() == "{" else -1
        if depth == 0:
            return start + mark.end()
    return len(code)


def leaves(tree: str) -> list[tuple[Names, str, int]]:
    """The paths of a `use` tree: names, the name in scope, and the offset of the last name."""
    tokens = [(match.group(), match.start()) for match in _TOKEN.finditer(tree)]
    found: list[tuple[Names, str, int]] = []
    prefixes: list[Names] = [()]
    path: list[str] = []
    alias = ""
    offset = 0

    def close() -> None:
        if path:
            names = tuple(path[:-1] if path[-1] == "self" and len(path) > 1 else path)
            found.append((names, alias or names[-1], offset))

    for index, (token, start) in enumerate(tokens):
        if token == "{":
            prefixes.append(tuple(path))
            path = []
        elif token in {",", "}"}:
            close()
            if token == "}":
                prefixes.pop()
            path = []
            alias = ""
        elif token == "as":
            alias = tokens[index + 1][0]
        elif token != "::" and not alias:
            path = path or list(prefixes[-1])
            path.append(token)
            offset = start
    close()
    return found


def absolute(names: Names, module: Names) -> Names | None:
    """The path from the crate's root; `None` for a path of another crate or a name in scope."""
    if names[0] in {"crate", "$crate"}:
        return names[1:]
    if names[0] not in {"self", "super"}:
        return None
    base = list(module)
    rest = list(names)
    while rest and rest[0] in {"self", "super"}:
        if rest.pop(0) == "super" and base:
            base.pop()
    return (*base, *rest)


def _inline_modules(code: str) -> list[tuple[int, int, str]]:
    found = []
    for match in _INLINE_MODULE.finditer(code):
        found.append((match.start(), _end_of_braces(code, match.end() - 1), match[1]))
    return found


def read_module(file: Path, names: Names, children: frozenset[str]) -> Module:
    """Read what a source file names; `children` are the modules below it."""
    code = without_tests(without_text(file.read_text(encoding="utf-8")))
    inline = _inline_modules(code)
    module = Module(names, file, [])

    def scope(offset: int) -> Names:
        return (*names, *(name for start, end, name in inline if start < offset < end))

    def note(path: Names, offset: int, name: str | None = None) -> None:
        here = scope(offset)
        if name is not None and path[0] in children and here == names:
            path = ("self", *path)
        full = absolute(path, here)
        if full is None or (full[: len(here)] == here and len(here) > len(names)):
            return
        module.uses.append(Use(full, code.count("\n", 0, offset) + 1))
        if name is not None and here == names:
            module.imports[name] = full

    for match in _USE.finditer(code):
        for path, name, offset in leaves(match[1]):
            note(path, match.start(1) + offset, name)
    for match in _PATH.finditer(_USE.sub(lambda use: _blank(use.group()), code)):
        note(tuple(re.findall(r"\w+", match.group())), match.start())
    return module


def _test_files(folder: Path) -> Iterator[Path]:
    """The files, and folders of files, that only tests compile."""
    for file in folder.rglob("*.rs"):
        children = file.parent if file.stem in {"mod", "lib"} else file.with_suffix("")
        for name in _TEST_FILE.findall(without_text(file.read_text(encoding="utf-8"))):
            yield children / f"{name}.rs"
            yield children / name


def read_crate(source: Path) -> dict[Names, Module]:
    """Every module of a crate by its path, without those that only tests compile."""
    skipped = set(_test_files(source))
    files: dict[Names, Path] = {}
    for file in sorted(source.rglob("*.rs")):
        if skipped & {file, *file.parents}:
            continue
        relative = file.relative_to(source)
        names = relative.with_suffix("").parts
        files[() if names == ("lib",) else names[:-1] if names[-1] == "mod" else names] = file
    modules = {}
    for names, file in files.items():
        below = {other[len(names)] for other in files if other[:-1] == names and other != names}
        modules[names] = read_module(file, names, frozenset(below))
    return modules


def read_order(file: Path) -> list[str]:
    """Read the list of modules, the lowest first."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [text for line in lines if (text := line.partition("#")[0].strip())]


def against_order(modules: dict[Names, Module], order: list[str]) -> list[str]:
    """One line for each import that the order does not allow."""
    rank = {name: place for place, name in enumerate(order)}
    present = {names[0] for names in modules if names}
    faults = [f"import_order.txt lacks the module {name}" for name in sorted(present - set(rank))]
    faults += [
        f"import_order.txt names {name}, which is no module" for name in rank if name not in present
    ]
    for module in (module for module in modules.values() if module.names):
        own = module.names[0]
        for use in module.uses:
            where = f"{module.file}:{use.line}"
            if not use.path or use.path[0] not in present:
                name = "::".join(("crate", *use.path))
                faults.append(f"{where}: {name} is no module; name the module that declares it")
            elif rank.get(use.path[0], -1) > rank.get(own, len(rank)):
                faults.append(
                    f"{where}: {own} imports {'::'.join(use.path)}, but {use.path[0]} stands below "
                    f"{own} in import_order.txt, so it may import only the other way round"
                )
    return faults


def circles(modules: dict[Names, Module]) -> list[str]:
    """One line for each import inside a folder that is part of a circle of its files."""
    edges: dict[Names, dict[Names, list[str]]] = {}
    for module in modules.values():
        for use in module.uses:
            target = _declared_in(use.path, modules)
            depth = 0
            while depth < min(len(target), len(module.names)) and (
                target[depth] == module.names[depth]
            ):
                depth += 1
            if depth == 0 or depth in {len(target), len(module.names)}:
                continue
            own, other = module.names[: depth + 1], target[: depth + 1]
            where = f"{module.file}:{use.line}"
            edges.setdefault(own, {}).setdefault(other, []).append(where)
    faults = []
    for own, others in edges.items():
        for other, places in others.items():
            if _reaches(other, own, edges):
                faults += [
                    f"{where}: {'::'.join(own)} imports {'::'.join(other)}, which imports "
                    f"{own[-1]}, directly or through other files of the folder"
                    for where in places
                ]
    return faults


def _declared_in(path: Names, modules: dict[Names, Module]) -> Names:
    """The module that declares what a path names, through the imports of the modules on the way."""
    for _ in range(8):
        owner = path
        while owner and owner not in modules:
            owner = owner[:-1]
        rest = path[len(owner) :]
        behind = modules[owner].imports.get(rest[0]) if rest and owner else None
        if behind is None or behind == path:
            return owner
        path = (*behind, *rest[1:])
    return path


def _reaches(start: Names, end: Names, edges: dict[Names, dict[Names, list[str]]]) -> bool:
    seen = {start}
    waiting = [start]
    while waiting:
        module = waiting.pop()
        if module == end:
            return True
        new = edges.get(module, {}).keys() - seen
        seen |= new
        waiting += new
    return False


def main(arguments: list[str]) -> int:
    """Print what is wrong; 1 if anything is."""
    crate = Path(arguments[0]) if arguments else ENGINE
    modules = read_crate(crate / "src")
    faults = against_order(modules, read_order(crate / "import_order.txt")) + circles(modules)
    for fault in sorted(faults):
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
