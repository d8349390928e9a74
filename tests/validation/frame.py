"""The frame of the validations: runs, tables for the terminal and the docs, claims with bounds.

A validation yields lines of text, tables and claims. They are printed as they come, and
`--write` renews the tables in a page of the docs. The status is 0 if all claims hold.
"""

import argparse
import csv
import io
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import tailroom as tr
from tailroom.models import MODELS, Bottleneck, Prediction, Requirement, read_bottleneck
from tailroom.scenario.scenario import Scenario
from tailroom.statistics.outcome import Outcome
from tailroom_papers.framework import Check, shown

ROOT = Path(__file__).parents[2]
SCENARIOS = ROOT / "scenarios"

Show = Callable[[str], object]
Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """A table, in Markdown or CSV."""

    name: str
    """Name in the marker above the table in the docs, or that of a CSV file next to the page;
    empty if it is only printed."""
    headings: Sequence[str]
    rows: Iterable[Sequence[object]]
    """Rows of cells, which may be computed while they are printed."""

    def lines(self) -> Iterator[str]:
        """The lines of Markdown or CSV."""
        if self.is_file:
            yield from map(_line_of_csv, chain((self.headings,), self.rows))
            return
        for row in chain((self.headings, ["---"] * len(self.headings)), self.rows):
            yield f"| {' | '.join(map(str, row))} |"

    @property
    def is_file(self) -> bool:
        """Whether the table is a file of its own."""
        return self.name.endswith(".csv")


def _line_of_csv(row: Sequence[object]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(row)
    return line.getvalue()


@dataclass(frozen=True)
class Claim:
    """A statement that holds if each measured number lies within its bound."""

    text: str
    checks: Sequence[Check]

    @property
    def holds(self) -> bool:
        """Whether all checks are decided in favour of the statement."""
        return Outcome.of_all(check.holds for check in self.checks) is Outcome.YES

    def lines(self) -> Iterator[str]:
        """The verdict, and the checks that miss their bounds."""
        yield f"{'holds' if self.holds else 'FAILS'}: {self.text}"
        for check in self.checks:
            if check.holds is not Outcome.YES:
                number = shown(check.measured, check.percent)
                yield f"    missed: {check.what}: {number}, not {check.stated}"


Item = str | Table | Claim


@dataclass(frozen=True)
class Validation:
    """A program of this package, called with the arguments of its command line."""

    items: Callable[..., Iterable[Item]]
    """Yields what is printed; the options are its keyword arguments."""
    page: str = ""
    """The page in `docs` with its tables; empty if there is none."""
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Arguments of `ArgumentParser.add_argument` by option."""

    def __call__(self, arguments: Sequence[str] = (), show: Show = print) -> int:
        """Prints everything; returns 0 if all claims hold."""
        parser = argparse.ArgumentParser()
        if self.page:
            parser.add_argument("--write", action="store_true", help="renew the tables in the docs")
        for option, described in self.options.items():
            parser.add_argument(option, **described)
        given = vars(parser.parse_args(arguments))
        page = ROOT / "docs" / self.page if given.pop("write", False) else None
        failed = False
        for item in self.items(**given):
            lines = []
            for line in [item] if isinstance(item, str) else item.lines():
                show(line)
                lines.append(line)
            if page and isinstance(item, Table) and item.is_file:
                text = "".join(f"{line}\n" for line in lines)
                page.with_name(item.name).write_text(text, encoding="utf-8")
            elif page and isinstance(item, Table) and item.name:
                write_table(page, item.name, lines)
            failed |= isinstance(item, Claim) and not item.holds
        return int(failed)


def write_table(page: Path, name: str, lines: Sequence[str]) -> None:
    """Replaces the table below the marker `<!-- table NAME -->` of a page.

    Raises:
        ValueError: The page has no such marker with a table below.
    """
    text = page.read_text(encoding="utf-8")
    above, found, below = text.partition(f"<!-- table {name} -->\n\n|")
    if not found:
        raise ValueError(f"{page}: has no table below the marker <!-- table {name} -->; add both")
    rest = re.sub(r"\A.*\n(?:\|.*\n)*", "", below)
    table = "\n".join(lines)
    page.write_text(f"{above}{found[:-1]}{table}\n{rest}", encoding="utf-8")


def simulate(
    scenario: str | Path, seeds: Iterable[int] = (1,), settings: Settings | None = None
) -> list[tr.Result]:
    """Runs a scenario, a file or its text, with each seed, two at a time."""
    given = scenario if isinstance(scenario, Path) else tr.Scenario.from_toml(scenario)
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda seed: tr.run(given, seed=seed, set=settings), seeds))


def link_of(scenario: str | Path, settings: Settings | None = None) -> Bottleneck:
    """The link of a scenario as the models read it."""
    given = scenario if isinstance(scenario, Path) else tr.Scenario.from_toml(scenario)
    return read_bottleneck(Scenario.of(given, settings))


def predict(model: str, scenario: str | Path, settings: Settings | None = None) -> Prediction:
    """Returns the prediction of a model, given its name."""
    return MODELS[model].predict(link_of(scenario, settings), Requirement())


def mean(results: Iterable[tr.Result], of: Callable[[tr.Result], float]) -> float:
    """Returns the mean of a number over runs."""
    return statistics.fmean(map(of, results))


def jain_index(rates: Sequence[float]) -> float:
    """Returns Jain's index of fairness (1 if all rates are equal)."""
    return sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates))


def scientific(value: float) -> str:
    """Formats a small number with two digits: 7.6e-3, or 0."""
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}" if value else "0"
