"""`tailroom atlas`: the buffers that links of today need, computed in advance."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

import typer
from rich.console import Console

from tailroom import written_numbers
from tailroom.buffer_atlas.data import FRACTIONS, MOST_LOSS, UTILIZATIONS, ages, atlas
from tailroom.buffer_atlas.kinds import KINDS
from tailroom.buffer_atlas.lookup import FAR, SAME, Estimate, Link, Neighbour, estimate, nearest
from tailroom.buffer_atlas.terms import CONTROLS, QUEUES, rate_words
from tailroom.cli import completion, failures
from tailroom.cli.answer_box import print_answer
from tailroom.cli.lazy_commands import LazyGroup, Subcommand, ending
from tailroom.cli.sentences import say
from tailroom.cli.table import NumberTable
from tailroom.cli.terminal_text import escape
from tailroom.errors import ScenarioError
from tailroom.quoting import shown
from tailroom.scenario import named_values
from tailroom.scenario.dumbbell import read_flows, read_rate, read_rtts


class AtlasGroup(LazyGroup):
    """The group of the commands that show the atlas, and of those of tailroom-atlas."""

    def __init__(self, **settings: Any) -> None:
        """Adds the commands that compute cells; `settings` are those of a group."""
        super().__init__(
            {
                "scenario": Subcommand(
                    "tailroom_atlas.command:print_scenario",
                    "Print the scenario of a cell as TOML, for `run`, `size` and `explore`.",
                    "atlas scenario dsl-10Mbit-20-60ms-1-cubic-drop_tail > cell.toml",
                ),
                "plan": Subcommand(
                    "tailroom_atlas.command:print_plan",
                    "List the cells by kind of link, how they are obtained, and what they cost.",
                    "atlas plan",
                ),
                "run": Subcommand(
                    "tailroom_atlas.command:run_cells",
                    "Compute cells: all of them in four hours on two cores, and nothing that the "
                    "store holds.",
                    "atlas run dsl-10Mbit-20-60ms-1-cubic-drop_tail --out out",
                ),
            },
            **settings,
        )


app = typer.Typer(
    cls=AtlasGroup,
    help="Show the buffers that links of today need; `run` computes them.",
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
)


@app.callback()
def overview(context: typer.Context) -> None:
    """Show the buffers that links of today need; `run` computes them."""
    if context.invoked_subcommand:
        return
    with failures.reported():
        words = {kind.name: kind.words for kind in KINDS}
        target = UTILIZATIONS[1]
        answers = atlas().answers.to_pylist()
        rows = [
            row
            for row in answers
            if (row["queue"], row["traffic"], row["control"]) == ("drop_tail", "long", "cubic")
            and row["target_utilization"] == target
            and not row["is_rung"]
        ]
        order = [*words]
        rows.sort(key=lambda row: (order.index(row["kind"]), row["rate_bps"], row["flows"]))
        table = NumberTable(
            f"Smallest DropTail buffers for {target:.1%} utilization, long flows under CUBIC",
            "kind of link",
            "rate",
            "RTT",
            "flows",
            "packets",
            "ms",
            "bdp",
            "loss",
            f"loss\n<= {MOST_LOSS:.0%}",
        )
        for row in rows:
            table.add_row(
                words[row["kind"]],
                f"{rate_words(row['rate_bps'])}/s",
                _rtt_words(row),
                f"{row['flows']:,}",
                *_value_words(row),
                _number(row["loss_fraction"], "{:.2%}"),
                _low_loss_words(row),
            )
        console = Console(highlight=False)
        console.print(table)
        is_rung = {row["cell"]: row["is_rung"] for row in answers}
        rungs = sum(is_rung.values())
        print(
            f"The last column has the packets that also keep to a loss of at most {MOST_LOSS:.0%}: "
            "~ between simulated buffers, none among them."
        )
        print(
            f"{len(is_rung) - rungs} cells with other controls, queues and traffic, and {rungs} "
            "smaller links that some are scaled from. `tailroom atlas near --rate 1Gbps --rtt "
            '"10ms to 100ms" --flows 100` finds the cells near a link, `tailroom atlas show CELL` '
            "shows all of a cell."
        )
        _print_ages(rows)


@app.command("near", epilog=ending("atlas near --rate 100Mbit/s --rtt 40ms"))
def near(  # noqa: PLR0913 - one argument an option
    *,
    rate: Annotated[str, typer.Option(help="Rate of the link, e.g. 1Gbit/s or 1G.")],
    rtt: Annotated[str, typer.Option(help='RTT without queues, e.g. 40ms or "5ms to 200ms".')],
    flows: Annotated[
        str,
        typer.Option(
            help="Number of long flows, or a number per congestion control, as in "
            '"20 cubic, 20 bbr3".'
        ),
    ] = "1",
    access_rate: Annotated[
        str | None,
        typer.Option(
            help="Rate of the access link of each flow, e.g. 300Mbit/s (default: at least that of "
            "the link)."
        ),
    ] = None,
    congestion: Annotated[
        str | None,
        typer.Option(
            help=f"Congestion control of the long flows: {', '.join(CONTROLS)} (default: cubic)."
        ),
    ] = None,
    queue: Annotated[
        str, typer.Option(help=f"Queue discipline: {', '.join(QUEUES)}.")
    ] = "drop_tail",
    short_flows: Annotated[
        bool,
        typer.Option(
            "--short-flows",
            help="Also offer 30 % of the link in short flows of hosts with 10 Gbit/s.",
        ),
    ] = False,
    any_loss: Annotated[
        bool,
        typer.Option(
            "--any-loss",
            help=f"Ask for utilization alone, not for a loss of at most {MOST_LOSS:.0%} too.",
        ),
    ] = False,
) -> None:
    """Show the cells nearest to a link, and what they say about it.

    Where the nearest cell loses more than 1 %, what keeps to that comes first.
    """
    with failures.reported():
        count, congestion, shares = _read_flows(flows, congestion)
        link = _read_link(rate, rtt, count, congestion, queue, short_flows=short_flows)
        behind = _behind_access(link, access_rate)
        rows = atlas().answers.to_pylist()
        neighbours = nearest(rows, link)
        if not neighbours:
            raise failures.InputError(
                f"the atlas has no cell with --queue {queue}, --congestion {congestion}"
                f"{' and --short-flows' if short_flows else ''}; give others, or ask `tailroom "
                "size` for this link"
            )
        table = NumberTable(
            f"Nearest cells, with the {_sought_words(queue, congestion)} for "
            f"{' / '.join(f'{u:.1%}' for u in UTILIZATIONS)}",
            "",
            "away",
            _unit(neighbours[0].answers[0]["unit"]),
            "bdp",
            f"loss at\n{UTILIZATIONS[1]:.1%}",
            "how",
        )
        for number, neighbour in enumerate(neighbours, 1):
            values = [_value_words(row) for row in neighbour.answers]
            table.add_row(
                str(number),
                f"x {neighbour.factor:.3g}",
                " / ".join(value[0] for value in values),
                " / ".join(value[2] for value in values),
                _loss(neighbour.answer(UTILIZATIONS[1])["loss_fraction"]),
                neighbour.answers[0]["how"],
            )
        Console(highlight=False).print(table)
        for number, neighbour in enumerate(neighbours, 1):
            print(f"{number}  {shown(neighbour.cell)}")
        print()
        console = Console(highlight=False)
        say(
            console,
            "Distance: x 2 means that the rate, the mean RTT or the number of flows differs by a "
            "factor of 2. The spread of the RTTs counts half.",
            is_one_line=False,
        )
        if shares:
            print(shares)
        _print_ages(row for neighbour in neighbours for row in neighbour.answers)
        words = [*behind, *_answers(rows, link, neighbours[0], any_loss=any_loss)]
        is_far = neighbours[0].distance > FAR
        loses = not any_loss and any(map(_loses_more, neighbours[0].answers))
        if is_far:
            words.append(
                "Every cell is far from this link; `tailroom size` simulates the link itself."
            )
        print_answer(console, map(escape, words), "yellow" if is_far or loses else "green")


def _answers(
    rows: list[dict[str, Any]], link: Link, nearest_cell: Neighbour, *, any_loss: bool
) -> Iterator[str]:
    """An estimate per utilization, and what keeps to a loss where the nearest cell does not."""
    for target in UTILIZATIONS:
        words = _estimate_words(target, estimate(rows, link, target), nearest_cell)
        answer = nearest_cell.answer(target)
        if any_loss or not _loses_more(answer):
            yield words
            continue
        low_loss = estimate(rows, link, target, answer_column="low_loss_value")
        yield f"{target:.1%} and a loss of at most {MOST_LOSS:.0%}: {_low_loss_about(low_loss)}"
        lost = _loss(answer["loss_fraction"])
        yield f"  whatever is lost, {words}, where {lost} of the packets are lost"


def _loses_more(answer: Mapping[str, Any]) -> bool:
    """Whether the buffer of a cell loses more packets than an answer may."""
    return (answer["loss_fraction"] or 0.0) > MOST_LOSS


@app.command("show", epilog=ending("atlas show home-100Mbit-10-50ms-4-cubic-drop_tail"))
def show_cell(
    name: Annotated[
        str,
        typer.Argument(
            metavar="CELL",
            help="Name of a cell, as `tailroom atlas near` lists it.",
            autocompletion=completion.cell_names,
        ),
    ],
) -> None:
    """Show the buffers of a cell, what they bring, and the command that repeats it."""
    with failures.reported():
        answers = atlas().answers
        rows = [row for row in answers.to_pylist() if row["cell"] == name]
        if not rows:
            meant = " or ".join(named_values.near(name, {*answers["cell"].to_pylist()})[:2])
            raise failures.InputError(
                f"{shown(name)}: the atlas has no such cell; "
                f"{f'did you mean {meant}? ' if meant else ''}`tailroom atlas near` finds the "
                "cells near a link"
            )
        for row in rows:
            Console(highlight=False).print(answer_table(row))
            if words := _sureness_words(row):
                print(words)
            if words := _low_loss_sentence(row):
                print(words)
        print()
        for row in rows:
            if row["scaling_exponent"] is not None:
                print(_scaling_words(row))
        _print_ages(rows)
        print(f"Repeat it: tailroom atlas run {name}")
        print(f"Its scenario: tailroom atlas scenario {name}")


def _print_ages(rows: Iterable[Mapping[str, Any]]) -> None:
    for age in ages(rows):
        print(f"{age} `tailroom size` simulates today's.")


def _read_flows(text: str, congestion: str | None) -> tuple[int, str, str]:
    """Reads the number of flows and their congestion controls.

    Args:
        text: A number, or a number per congestion control.
        congestion: The control of `--congestion`, if it is given.

    Returns:
        The number of flows, the name of the controls in the atlas, and a sentence if their shares
        differ from those of the atlas, else an empty text.

    Raises:
        InputError: The atlas has no such flows.
    """
    try:
        flows = read_flows(text)
    except ScenarioError as error:
        raise failures.InputError(f"--{error}") from None
    mix = {congestion or "cubic": flows} if isinstance(flows, int) else flows
    if congestion and not isinstance(flows, int):
        raise failures.InputError(
            "--congestion: --flows names the congestion controls already; leave one of them out"
        )
    if min(mix.values()) < 1:
        raise failures.InputError(f"--flows {shown(text)}: give at least 1 flow of each")
    total = sum(mix.values())
    if len(mix) == 1:
        return total, next(iter(mix)), ""
    for name, control in CONTROLS.items():
        if set(control.groups) == set(mix):
            is_like = len(set(mix.values())) == 1
            return total, name, "" if is_like else f"The cells have {control.words}."
    raise failures.InputError(
        f"--flows {shown(text)}: the atlas has no cells with these controls together; choose "
        '"N cubic, N bbr3" or "N cubic, N prague", or ask `tailroom size` for this link'
    )


def _behind_access(link: Link, access_rate: str | None) -> list[str]:
    """What access links change of the answers of the cells, whose hosts have faster interfaces.

    Raises:
        InputError: The rate is wrong, or the flows cannot fill the link.
    """
    if access_rate is None:
        if link.flows == 1:
            return []
        return [
            f"{link.flows:,} long flows at once, each of which may send at the rate of the link; "
            "--access-rate gives the rate of access links"
        ]
    try:
        _, access_bps = read_rate(access_rate, "access-rate")
    except ScenarioError as error:
        raise failures.InputError(f"--{error}") from None
    able = link.flows * access_bps / link.rate_bps
    if able < 1:
        raise failures.InputError(
            f"--access-rate {shown(access_rate)}: {link.flows:,} flows behind such links send at "
            f"most {able:.0%} of the rate, so that no buffer fills the link; give more --flows, or "
            "ask `tailroom size` for a delay or a loss"
        )
    return [
        f"behind access links of {rate_words(round(access_bps))}/s packets arrive less in bursts "
        "than in the cells, so that less may do; `tailroom size --access-rate` simulates them"
    ]


def _read_link(  # noqa: PLR0913 - one argument an option
    rate: str, rtt: str, flows: int, control: str, queue: str, *, short_flows: bool
) -> Link:
    for option, value, known in (
        ("congestion", control, CONTROLS),
        ("queue", queue, QUEUES),
    ):
        if value not in known:
            raise failures.InputError(
                f"--{option} {shown(value)}: the atlas has none (`tailroom size` simulates "
                f"others); {named_values.nearest(value, known)}"
            )
    try:
        _, rate_bps = read_rate(rate)
        shortest_s, longest_s = read_rtts(rtt)
    except ScenarioError as error:
        raise failures.InputError(f"--{error}") from None
    traffic = "long_and_short" if short_flows else "long"
    mean_s, ratio = (shortest_s + longest_s) / 2, longest_s / shortest_s
    return Link(rate_bps, mean_s, flows, control, queue, traffic, ratio)


def _rtt_words(row: Mapping[str, Any]) -> str:
    return f"{1e3 * row['shortest_rtt_s']:g} to {1e3 * row['longest_rtt_s']:g} ms"


def _value_words(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """The value of an answer in its unit, in milliseconds and in bdp."""
    if row["value"] is None:
        return (row["status"], "", row["status"])
    sign = "<= " if row["status"] == "smallest" else ""
    return (
        f"{sign}{_in_unit(row['value'], row['unit'])}",
        f"{1e3 * row['buffer_s']:.3g}",
        f"{row['buffer_bdp']:.2g}",
    )


def _low_loss_words(row: Mapping[str, Any]) -> str:
    """The value that also keeps to the bound on the loss; ~ marks one without confidence."""
    if row["low_loss_value"] is None:
        return row["low_loss_status"] or ""
    sign = "~ " if row["low_loss_status"] == "interpolated" else ""
    return f"{sign}{_in_unit(row['low_loss_value'], row['unit'])}"


def _low_loss_about(found: Estimate | None) -> str:
    """What keeps to the bound on the loss too."""
    if found is None:
        return "no value that was tried nearby gives both"
    return f"about {_in_unit(found.value, found.unit)} {_unit(found.unit)}"


def _sought_words(queue: str, control: str) -> str:
    """What the atlas varies."""
    if queue == "drop_tail":
        return "buffer"
    return "marking threshold" if control == "prague" else "target delay"


def _unit(unit: str) -> str:
    """The unit in which values are shown: times in milliseconds."""
    return "ms" if unit == "us" else unit


def _in_unit(value: float, unit: str) -> str:
    if unit != "us":
        return f"{value:,.0f}"
    return written_numbers.number(float(f"{value / 1e3:.3g}"))


def _estimate_words(target: float, found: Estimate | None, nearest_cell: Neighbour) -> str:
    answer = nearest_cell.answer(target)
    if found is None and nearest_cell.distance < SAME:
        return f"{target:.1%}: {_without_answer(answer)}"
    if found is None:
        return f"{target:.1%}: no cell nearby has an answer"
    about = f"about {_in_unit(found.value, found.unit)} {_unit(found.unit)}"
    if found.is_at_most:
        about = f"any that was tried is enough, from {about}"
    words = f"{target:.1%}: {about}"
    if len(found.used) > 1 and found.low < found.high:
        low, high = (_in_unit(value, found.unit) for value in (found.low, found.high))
        words += f"; {low} to {high} by {len(found.used)} cells"
    return f"{words}, the nearest x {found.used[0].factor:.3g} away"


def _without_answer(row: Mapping[str, Any]) -> str:
    best = f"the best mean is {row['best_utilization']:.2%}"
    if row["status"] == "open" and row["how"] == "scaled":
        return "scaling to it does not hold; `tailroom size` simulates it"
    if row["status"] == "open":
        return f"the runs do not decide; {best}"
    return f"no tried value gives it; {best}"


def _sureness_words(row: Mapping[str, Any]) -> str:
    """What the runs say of values around the answer."""
    unit = _unit(row["unit"])
    parts = []
    if row["too_small"]:
        parts.append(f"{_in_unit(row['too_small'], row['unit'])} {unit} miss with 95 % confidence")
    if row["crossing"]:
        parts.append(f"the mean reaches it at about {_in_unit(row['crossing'], row['unit'])}")
    if row["larger_that_misses"]:
        parts.append(f"{_in_unit(row['larger_that_misses'], row['unit'])} {unit} miss it again")
    return "; ".join(parts)


def _low_loss_sentence(row: Mapping[str, Any]) -> str:
    """The second answer, if the first one loses more than the bound."""
    if row["value"] is None or row["low_loss_value"] == row["value"]:
        return ""
    bound = f"with a loss of at most {MOST_LOSS:.0%} as well"
    if row["low_loss_value"] is None:
        return f"{bound}: no simulated value"
    how = ", by interpolation" if row["low_loss_status"] == "interpolated" else ""
    value = f"{_in_unit(row['low_loss_value'], row['unit'])} {_unit(row['unit'])}"
    p99 = _number(row["low_loss_queue_delay_s_p99"], "; 99 % wait at most {:.3g} ms", 1e3)
    return f"{bound}: {value}{how}{p99}"


def answer_table(row: Mapping[str, Any]) -> NumberTable:
    """A row per fraction of the answer: what it brings."""
    title = f"{row['cell']}, {row['target_utilization']:.1%} utilization"
    table = NumberTable(
        shown(title), "value", _unit(row["unit"]), "utilization", "loss", "mean delay", "99 %"
    )
    if row["value"] is None:
        table.add_row(_without_answer(row), *[""] * 5)
        return table
    columns = {"": ("the answer", 1.0)} | {
        f"{word}_": (f"{factor:g} times", factor) for word, factor in FRACTIONS.items()
    }
    for prefix, (words, factor) in sorted(columns.items(), key=lambda item: item[1][1]):
        table.add_row(
            words,
            _in_unit(factor * row["value"], row["unit"]),
            _number(row[f"{prefix}utilization"], "{:.2%}"),
            _loss(row[f"{prefix}loss_fraction"]),
            _number(row[f"{prefix}queue_delay_s_mean"], "{:.3g} ms", 1e3),
            _number(row[f"{prefix}queue_delay_s_p99"], "{:.3g} ms", 1e3),
        )
    return table


def _scaling_words(row: Mapping[str, Any]) -> str:
    """What the scaling of an answer rests on, and how far it is off where that is known."""
    text = (
        f"{row['target_utilization']:.1%}: from {row['scaled_from']}, by the number of flows to "
        f"the power of {row['scaling_exponent']:.2f}"
    )
    if row["scaling_check"] is None:
        return text
    checked = "the largest of these" if row["how"] == "scaled" else "this cell"
    return f"{text}; scaled over computed value of {checked}: {row['scaling_check']:.2f}"


def _loss(value: float | None) -> str:
    return "" if value is None else written_numbers.fraction(value)


def _number(value: float | None, form: str, factor: float = 1.0) -> str:
    return "" if value is None else form.format(factor * value)
