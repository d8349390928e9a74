"""Shipped scenarios and examples in less time, for `compare_results.py`."""

import copy
import tomllib
from collections.abc import Iterator
from pathlib import Path

from small_scenario import Document
from tailroom import _engine
from tailroom.scenario.shipped_scenarios import shipped_scenarios

EXAMPLES = Path(__file__).parents[1] / "examples"
"""A directory for each example; where it has controls in Python, its scenarios are recorded."""

MOST_PACKETS = 4_000_000
"""What links of a shipped scenario send at most, some 0.3 s of work."""

MOST_PACKETS_OF_PYTHON = 40_000
"""Where a control is in Python, which takes a microsecond or more per ACK."""


def shipped_scenarios_in_less_time() -> Iterator[tuple[str, Document]]:
    """Every shipped scenario, by its name."""
    for name, path in shipped_scenarios().items():
        yield f"shipped/{name}", shortened(_read(path), MOST_PACKETS)


def example_scenarios() -> Iterator[tuple[str, Document]]:
    """Every example with code in Python, by the names of its directory and file."""
    for path in sorted(EXAMPLES.glob("*/*.toml")):
        document = _read(path)
        if "flows" in document and any(path.parent.glob("*.py")):
            name = f"example/{path.parent.name}/{path.stem}"
            yield name, shortened(document, MOST_PACKETS_OF_PYTHON)


def shortened(document: Document, most_packets: int) -> Document:
    """The scenario with all its times scaled so that its links send at most `most_packets`.

    Duration, starts, changes and what is recorded keep their order, so that a valid scenario stays
    valid.
    """
    document = copy.deepcopy({key: value for key, value in document.items() if key != "sweep"})
    seconds = _engine.quantity("duration", document["duration"])
    factor = min(1.0, most_packets / (_packets_per_second(document) * seconds))
    for key in ("duration", "measure_from"):
        document[key] = _scaled(document.get(key, "0 s"), factor)
    groups = [document.get("defaults", {}), *document["flows"].values()]
    for group in groups:
        for key in ("start", "stop"):
            if key in group:
                group[key] = _scaled(group[key], factor)
    links = document.get("links", {}).values()
    for link in links:
        for change in link.get("changes", []):
            change["at"] = _scaled(change["at"], factor)
    logs = [link.get("arrival_log") for link in links]
    logs += [group.get("endpoint_log") for group in groups]
    for log in filter(None, logs):
        log.update({key: _scaled(log[key], factor) for key in ("from", "to")})
    return document


def _packets_per_second(document: Document) -> float:
    sizes = [
        _engine.quantity("size", group["packet_size"])
        for group in document["flows"].values()
        if "packet_size" in group and "congestion" in group
    ]
    packet_bits = 8 * min(sizes, default=1500)
    links = document.get("links", {}).values()
    rate = sum(_engine.quantity("rate", link.get("rate", "100 Mbit/s")) for link in links)
    for table in ("switches", "fabrics"):
        for switch in document.get(table, {}).values():
            hosts = switch["hosts"] * switch.get("leaves", 1)
            rate += 4 * hosts * _engine.quantity("rate", switch["rate"])
    return rate / packet_bits


def _scaled(time: object, factor: float) -> object:
    """A time, a list of times or a table of times, scaled and rounded to a microsecond."""
    if isinstance(time, dict):
        return {key: _scaled(value, factor) for key, value in time.items()}
    if isinstance(time, list):
        return [_scaled(value, factor) for value in time]
    if not isinstance(time, str) or not time[:1].isdigit():
        return time
    return f"{round(1e6 * factor * _engine.quantity('duration', time))} us"


def _read(path: Path) -> Document:
    return tomllib.loads(path.read_text(encoding="utf-8"))
