"""Holm's adjustment of p-values for their number."""

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float]) -> list[float]:
    """Returns p-values adjusted for their number by Holm's step-down procedure.

    If the hypotheses with an adjusted value of at most 5 % are rejected, the probability of one or
    more false rejections among all of them is at most 5 %, whatever their dependence (Holm 1979,
    "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6, 65-70).

    Args:
        p_values: The p-values of m hypotheses, each in [0, 1].

    Returns:
        The adjusted p-values in the order of the arguments: with p(1) <= ... <= p(m), the largest
        of (m - j + 1) p(j) over all j up to i, at most 1.
    """
    values = np.asarray(p_values, dtype=float)
    order = np.argsort(values, kind="stable")
    steps = values[order] * np.arange(len(values), 0, -1)
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return [float(value) for value in adjusted]
