"""`tailroom headroom`: the PFC headroom of a port, and tables of headrooms checked."""

import json as json_text
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

import tailroom
from tailroom.arguments import option
from tailroom.cli import failures
from tailroom.cli.headroom_report import (
    known_profiles,
    show,
    show_check,
    show_list,
    show_simulated,
)
from tailroom.cli.options import Json
from tailroom.cli.signature import options_of
from tailroom.pfc_headroom.formats import FORMATS, remarks, too_large

if TYPE_CHECKING:
    from tailroom.pfc_headroom.check import HeadroomCheck
    from tailroom.pfc_headroom.result import Headroom
    from tailroom.studies.headroom_run import SimulatedHeadroom

OF_CHECK = ("asic", "table", "strict")
"""Options that --check takes too."""


def _check_format(name: str | None) -> str | None:
    if name is not None and name not in FORMATS:
        raise typer.BadParameter(f"{name} is not a known format; choose {' or '.join(FORMATS)}")
    return name


@options_of("headroom")
def headroom_command(  # noqa: PLR0913 - each is one option
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            help="With --check: pg_profile_lookup.ini or JSON with a BUFFER_PROFILE of SONiC.",
            readable=False,
        ),
    ] = None,
    *,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Check the tables in the files: exit status 1 if a row is wrong. The chip is that "
            "of --asic, or of the device that the path names.",
        ),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="With --check: show the terms of each row that --strict calls wrong, and what "
            "public tables of the chip have there.",
        ),
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="With --check: a row is also wrong if it differs from its formula by more than a "
            "cell.",
        ),
    ] = False,
    list: Annotated[  # noqa: A002 - the option's name
        bool,
        typer.Option(
            "--list",
            help="List the chips and published tables that --asic and --table know, with their "
            "sources.",
        ),
    ] = False,
    format: Annotated[  # noqa: A002 - the option's name
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="Print configuration instead: sonic (pg_profile_lookup.ini, BUFFER_PROFILE; with "
            "--ports and a shared headroom BUFFER_POOL) or openconfig (no shared headroom).",
            callback=_check_format,
        ),
    ] = None,
    simulate: Annotated[
        bool,
        typer.Option(
            "--simulate",
            help="Simulate the worst case: how much of the headroom is occupied, and what a "
            "headroom that is a frame smaller drops.",
        ),
    ] = False,
    json: Json = False,
    **question: Any,
) -> None:
    """Compute the PFC headroom of a port with every term, or check tables of headrooms.

    The headroom is what arrives between the decision to pause the peer and the last byte that the
    peer has sent. Without --asic or --table, the terms are those of IEEE 802.1Q, Annex O, with the
    largest delays that the standards allow.
    """
    if list:
        others = [*question, *(["check"] if check else [])]
        if others or files:
            name = option(others[0]) if others else f"{files[0]}" if files else ""
            raise failures.InputError(f"{name}: does not apply to --list; leave it out")
        _list(json=json)
        return
    if check:
        if simulate:
            raise failures.InputError("--simulate: does not apply to --check; leave it out")
        if strict:
            question["strict"] = True
        _check(files or [], question, explain=explain, json=json, format_name=format)
        return
    if files or explain or strict:
        given = "--explain" if explain else "--strict" if strict else f"{files[0]}" if files else ""
        raise failures.InputError(f"{given}: applies to tables; add --check")
    for name in ("speed", "cable"):
        if name not in question:
            raise failures.InputError(
                f"{option(name)}: is missing; write for example --speed 400G --cable 300m"
            )
    answer = tailroom.headroom(**question)
    if json and format:
        raise failures.InputError("--json and --format: choose one of them")
    if simulate and format:
        raise failures.InputError("--simulate and --format: choose one of them")
    simulated = tailroom.simulate_headroom(answer) if simulate else None
    _print(answer, simulated, json=json, format_name=format)


def _list(*, json: bool) -> None:
    if json:
        print(json_text.dumps(known_profiles(), indent=2))
    else:
        show_list(Console(highlight=False))


def _print(
    answer: "Headroom",
    simulated: "SimulatedHeadroom | None",
    *,
    json: bool,
    format_name: str | None,
) -> None:
    if json:
        parts = {} if simulated is None else {"simulated": simulated.as_dict()}
        print(json_text.dumps({**answer.as_dict(), **parts}, indent=2))
    elif format_name:
        if reason := too_large(answer, format_name):
            raise failures.InputError(
                f"--format {format_name}: {reason}; no configuration is written: leave out some of "
                "--ports or --priorities, or share the headroom (--shared, --oversubscription)"
            )
        print(FORMATS[format_name](answer), end="")
        # SONiC's have a place for comments; a file of OpenConfig is JSON alone.
        for remark in remarks(answer, format_name) if format_name == "openconfig" else ():
            print(f"note: {remark}", file=sys.stderr)
    else:
        show(answer, Console(highlight=False))
        if simulated is not None:
            show_simulated(simulated, Console(highlight=False))


def _check(
    files: list[Path],
    question: dict[str, Any],
    *,
    explain: bool,
    json: bool,
    format_name: str | None,
) -> None:
    if not files:
        raise failures.InputError(
            "--check: there is no file; write for example "
            "tailroom headroom --check pg_profile_lookup.ini"
        )
    others = [name for name in question if name not in OF_CHECK]
    if others or format_name:
        name = option(others[0]) if others else "--format"
        raise failures.InputError(f"{name}: does not apply to --check; leave it out")
    answer: HeadroomCheck = tailroom.check_headroom(files, **question)
    if json:
        print(json_text.dumps(answer.as_dict(), indent=2))
    else:
        show_check(answer, Console(highlight=False), explain=explain)
    if not any(table.rows for table in answer.tables):
        raise failures.InputError(
            "--check: nothing was checked, as no file has a row with a speed and a cable"
        )
    if answer.faults:
        raise typer.Exit(failures.TABLE_WRONG)
