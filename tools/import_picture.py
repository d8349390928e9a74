"""Draws which modules of the engine import which, as a matrix; of two versions side by side.

python tools/import_picture.py OLD_ENGINE PICTURE

OLD_ENGINE is the folder of the engine's crate in a checkout of an earlier commit. A row imports the
modules that are marked in it. Where the order goes one way, every mark lies below the diagonal.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from import_order import ENGINE, Module, Names, read_crate, read_order

IN_ORDER = "#4477aa"
IN_CIRCLE = "#cc3311"


def imports(modules: dict[Names, Module]) -> dict[str, set[str]]:
    """The modules below the crate's root by name, each with those that it imports."""
    found: dict[str, set[str]] = {names[0]: set() for names in modules if names}
    for module in modules.values():
        if module.names:
            others = {use.path[0] for use in module.uses if use.path}
            found[module.names[0]] |= others & found.keys() - {module.names[0]}
    return found


def circles(edges: dict[str, set[str]]) -> dict[str, int]:
    """The number of each module's circle: its modules import one another."""
    names = list(edges)
    matrix = csr_matrix([[other in edges[name] for other in names] for name in names])
    _, labels = connected_components(matrix, connection="strong")
    return dict(zip(names, labels.tolist(), strict=True))


def lowest_first(edges: dict[str, set[str]]) -> list[str]:
    """An order in which as few modules as possible import modules behind them."""
    circle = circles(edges)
    order: list[str] = []
    while len(order) < len(edges):
        left = [name for name in edges if name not in order]

        def missing(name: str, left: list[str] = left) -> tuple[int, int, str]:
            behind = edges[name] & set(left)
            of_others = [one for one in behind if circle[one] != circle[name]]
            return len(of_others), len(behind), name

        order.append(min(left, key=missing))
    return order


def draw(axes: Axes, edges: dict[str, set[str]], order: list[str], title: str) -> None:
    """Draws the matrix of one version."""
    circle = circles(edges)
    place = {name: number for number, name in enumerate(order)}
    for name, others in edges.items():
        for other in others:
            color = IN_CIRCLE if circle[name] == circle[other] else IN_ORDER
            axes.plot(place[other], place[name], "s", color=color, markersize=6)
    axes.plot([-0.5, len(order) - 0.5], [-0.5, len(order) - 0.5], color="0.7", linewidth=0.8)
    axes.set_xticks(np.arange(len(order)), order, rotation=90)
    axes.set_yticks(np.arange(len(order)), order)
    axes.tick_params(length=0)
    axes.set(xlim=(-0.5, len(order) - 0.5), ylim=(len(order) - 0.5, -0.5), aspect="equal")
    axes.set_title(title)
    axes.spines[:].set_color("0.7")


def main(old_engine: Path, picture: Path) -> None:
    """Writes the picture."""
    figure = Figure(figsize=(12, 6.4), layout="constrained")
    before, after = figure.subplots(1, 2)
    old = imports(read_crate(old_engine / "src"))
    new = imports(read_crate(ENGINE / "src"))
    sizes = circles(old)
    largest = max(list(sizes.values()).count(label) for label in sizes.values())
    draw(before, old, lowest_first(old), f"Before: a circle of {largest} modules")
    draw(after, new, read_order(ENGINE / "import_order.txt").modules, "Now: in one direction")
    figure.supylabel("module")
    figure.supxlabel("imports")
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
