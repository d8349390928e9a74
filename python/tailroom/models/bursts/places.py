"""Places between the entries of a table."""

import numpy as np
from numpy.typing import NDArray

from tailroom.models.window_laws.window_law import Floats


def between(places: Floats, entries: int) -> tuple[NDArray[np.intp], Floats]:
    """Index of the entry before each place in [0, entries - 1], and the fraction to the next."""
    low = np.minimum(places.astype(np.intp), entries - 2)
    return low, places - low
