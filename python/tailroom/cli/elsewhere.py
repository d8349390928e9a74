"""The answer of `size` as lines for another tool or a device, with what they leave out."""

from textwrap import indent

from rich.console import Console

from tailroom.cli.terminal_text import escape
from tailroom.export.devices import Device
from tailroom.export.other_tools import Equivalent
from tailroom.studies.size_study.answer import Size


def show_elsewhere(
    answer: Size, device: Device | None, console: Console, *, every: bool = False
) -> None:
    """Prints one block of lines: those of a device, else those of the first tool that has some.

    Args:
        answer: The result of the search.
        device: The system; without one, tc, or else ns-3 or Mahimahi.
        console: Where to print the block.
        every: Print a block per tool instead.
    """
    tools = answer.elsewhere()
    chosen = [answer.on_devices()[device]] if device and answer.on_devices() else []
    if not device:
        with_lines = [one for one in tools if one.has_lines]
        chosen = list(tools) if every else with_lines[:1] or list(tools[:1])
    for one in chosen:
        _show(one, console)
    if device and not chosen:
        say = f"--config writes what shapes a port; {answer.varied.key} is of another table"
        console.print(f"\n{escape(say)}", soft_wrap=True)
    elif every and answer.on_devices():
        console.print(f"\nSwitches and routers: --config {', '.join(Device)}", soft_wrap=True)


def _show(one: Equivalent, console: Console) -> None:
    """Prints the lines of a tool, then its notes and what it leaves out."""
    console.print(f"\n{escape(one.heading)}:", soft_wrap=True)
    console.print(indent(escape(one.text), "    "), soft_wrap=True)
    for note in one.notes:
        console.print(f"  {escape(note)}", soft_wrap=True)
    for left in one.left_out_words:
        console.print(f"  [yellow]left out:[/yellow] {escape(left)}", soft_wrap=True)
