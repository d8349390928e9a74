"""Durations as a scenario writes them."""

_SECONDS = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


def seconds(text: str) -> float:
    """Returns a duration of a checked scenario, such as "750 us", in seconds."""
    number, _, unit = text.strip().partition(" ")
    return float(number.replace("_", "")) * _SECONDS[unit.strip()]
