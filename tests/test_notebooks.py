"""The notebooks in examples/notebooks: stored without outputs, and executed in the long suite."""

import ast
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples" / "notebooks").glob("*.ipynb"))
LONGEST_S = 300
"""Of one cell, on a busy machine."""

SHOWS = {
    "buffer-for-your-link": {
        "result": "table and picture",
        "buffers": "table and picture",
        "answer": "table and picture",
        "answer.plot()": "picture",
    },
    "learned-control": {"figure": "picture"},
    "two-controls": {
        "tr.run(link, set={CONTROL: 'backoff:Backoff'}, series_samples=600)": "table and picture",
        "swept": "table and picture",
        "swept.plot('tradeoff')": "picture",
        "sharing": "table and picture",
    },
}
"""What a notebook shows below a cell that ends with an expression."""

CHECKS = {
    "buffer-for-your-link": """
        smallest = buffers.choices[0].metrics["links.access.utilization"].mean
        assert smallest < 0.98 < access["utilization"]
        assert answer.too_small < answer.limit_packets
        assert any(rule.prediction for rule in rules.answers)
    """,
    "learned-control": """
        assert more.mean() > width
    """,
    "two-controls": """
        used = {(row[CONTROL], row[LIMIT]): row["mean"] for row in means}
        assert used["backoff:Backoff", "0.1 bdp"] > used["reno", "0.1 bdp"] + 0.05
        assert used["reno", "1 bdp"] > 0.99
        small, _, large = (choice.metrics for choice in sharing.choices)
        mine, reno = "groups.mine.goodput_bps", "groups.reno.goodput_bps"
        assert small[mine].low > 2 * small[reno].high
        assert large[mine].low < large[reno].high
    """,
}
"""What the text of a notebook says, as statements that are run behind its last cell."""

notebooks = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def _read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def _code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _last_expression(source: str) -> str | None:
    """The expression with which a cell ends, in the form of `ast.unparse`; or None."""
    if source.startswith("%%"):
        return None
    last = ast.parse(source).body[-1]
    is_shown = isinstance(last, ast.Expr)
    return ast.unparse(last) if is_shown and not ast.unparse(last).startswith("print(") else None


def test_there_are_three_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == sorted(SHOWS)


@notebooks
def test_a_notebook_is_stored_without_outputs(path: Path) -> None:
    """Outputs change with the version of matplotlib; the tutorial shows some that are checked."""
    notebook = _read(path)
    nbformat.validate(notebook)
    for cell in _code_cells(notebook):
        assert cell.outputs == []
        assert cell.execution_count is None


@notebooks
def test_the_links_of_a_notebook_lead_to_files(path: Path) -> None:
    text = "\n".join(cell.source for cell in _read(path).cells if cell.cell_type == "markdown")
    links = re.findall(r"\]\(([^)#]+)", text)
    assert links
    for link in links:
        assert (path.parent / link).exists(), link


@notebooks
def test_the_cells_that_end_with_an_expression_are_those_whose_output_is_checked(
    path: Path,
) -> None:
    ends = [_last_expression(cell.source) for cell in _code_cells(_read(path))]
    assert [end for end in ends if end] == list(SHOWS[path.stem])


@pytest.mark.slow
@notebooks
def test_a_notebook_runs_and_shows_what_it_says(path: Path, tmp_path: Path) -> None:
    client = pytest.importorskip("nbclient", reason="needs nbclient and ipykernel: make setup")
    notebook = _read(path)
    checks = "\n".join(line.strip() for line in CHECKS[path.stem].splitlines())
    notebook.cells.append(nbformat.v4.new_code_cell(checks))  # type: ignore[no-untyped-call]
    client.NotebookClient(
        notebook, timeout=LONGEST_S, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    for cell in _code_cells(notebook):
        shows = SHOWS[path.stem].get(_last_expression(cell.source) or "")
        if shows is None:
            continue
        (output,) = [one for one in cell.outputs if one.output_type == "execute_result"]
        if shows == "picture":
            assert "image/png" in output.data, cell.source
        else:
            assert "<table>" in output.data["text/html"], cell.source
            assert "data:image/png;base64," in output.data["text/html"], cell.source
