"""Checks the words of documentation and of file names, as `make lint` does.

python tools/prose.py

Each rule is a pattern and what to write instead. Markdown is checked outside code and quotations,
and so are the comments and docstrings of Python and Rust.
"""

import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from markdown_links import without_code

REPOSITORY = Path(__file__).parents[1]
HYPE = "leave it out, or give the number"
WORDS = {
    r"(?:come|comes|coming) and (?:go|goes|going)|came and went": "arrive and depart",
    r"does not hold if none": "fails if",
    r"in order to": "to",
    r"utili[sz](?:e|es|ed|ing)": "use",
    r"leverag(?:e|es|ed|ing)": "use",
    r"(?:available|measured|mean|average|achieved|used|total|more|less) bandwidth(?!-delay)":
        "capacity, throughput, goodput or delivery rate",
    r"(?:blazing|seamless|effortless)(?:ly)?|powerful|cutting-edge": HYPE,
    r"state.of.the.art|world-class|best-in-class|game-chang(?:er|ing)": HYPE,
    r"simply|easily|obviously|of course|basically|needless to say": "leave it out",
}  # fmt: skip
"""Patterns in running text, and what to write instead."""
NAMES = r"(?:.*_)?(?:utils?|common|misc|managers?|helpers?)"
"""Names of files that say nothing about what is inside."""
RULES = [
    (re.compile(rf"\b(?:{pattern})\b".replace(" ", r"\s+"), re.I), remedy)
    for pattern, remedy in WORDS.items()
]
QUOTATION = re.compile(r"\"(?:[^\"\n]|\n(?!\s*\n))*\"|^>.*$", re.M)
RUST_COMMENT = re.compile(r"//[/!]?.*$", re.M)
CHECKED = (".md", ".py", ".rs")
NOT_OURS = ("docs/papers/", "fuzz/corpus/", "tools/prose.py", "tests/test_prose.py")
"""Reports quote the papers' claims, and this file its own rules."""


def prose(path: PurePosixPath, text: str) -> str:
    """Returns the running text of a file, everything else blanked.

    Args:
        path: The file's name, which says what it is.
        text: Its text.
    """
    if path.suffix == ".md":
        kept = without_code(text)
    elif path.suffix == ".rs":
        kept = _only(text, (match.span() for match in RUST_COMMENT.finditer(text)))
    else:
        kept = _only(text, _python_spans(text))
    return QUOTATION.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), kept)


def _only(text: str, spans: Iterator[tuple[int, int]]) -> str:
    kept = [character if character == "\n" else " " for character in text]
    for start, end in spans:
        kept[start:end] = text[start:end]
    return "".join(kept)


def _python_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yields where comments and docstrings stand."""
    begins = [0]
    for line in text.splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_docstring = token.type == tokenize.STRING and token.string.startswith('"""')
        if token.type == tokenize.COMMENT or is_docstring:
            quotes = 3 if is_docstring else 0
            (first, column), (last, end) = token.start, token.end
            yield begins[first - 1] + column + quotes, begins[last - 1] + end - quotes


def faults(path: PurePosixPath, text: str) -> Iterator[str]:
    """Yields what is to be worded otherwise, with place and remedy.

    Args:
        path: The file's name, from the root of the repository.
        text: Its text.
    """
    if path.suffix != ".md" and re.fullmatch(NAMES, path.stem):
        yield f"{path}: a name says what is inside; this one does not"
    plain = prose(path, text)
    for pattern, remedy in RULES:
        for match in pattern.finditer(plain):
            line = text.count("\n", 0, match.start()) + 1
            yield f'{path}:{line}: "{" ".join(match[0].split())}": {remedy}'


def main() -> int:
    """Checks all files that git knows; 1 if any is at fault."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    found: list[str] = []
    for name in listed.stdout.splitlines():
        path = PurePosixPath(name)
        is_checked = path.suffix in CHECKED and not name.startswith(NOT_OURS)
        if is_checked and (REPOSITORY / path).is_file():
            found += faults(path, (REPOSITORY / path).read_text(encoding="utf-8"))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
