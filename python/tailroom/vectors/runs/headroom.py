"""Headrooms by the formula of the chip."""

from tailroom.pfc_headroom.calculate import headroom
from tailroom.vectors.judge import Results
from tailroom.vectors.scripts import HeadroomScript


def results(script: HeadroomScript) -> Results:
    """Computes the headrooms of the script."""
    return Results(
        values={
            name_of(speed, cable): headroom(1e6 * speed, cable, table=script.table).xoff_bytes
            for speed, cable in script.links
        }
    )


def name_of(speed_mbps: int, cable: str) -> str:
    """The name of a headroom among the values."""
    return f"xoff_bytes_{speed_mbps // 1000}G_{cable}"
