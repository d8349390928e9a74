"""Window laws against M/D/1/K: packets of one size in place of exponential ones."""

from functools import partial

from tailroom.models import drop_tail_fixed_point
from tailroom.models.model import Model

MODEL = Model(
    name="drop_tail_fixed_point_md1k",
    title="Window laws against M/D/1/K",
    source="Barman, Smaragdakis and Matta 2004, with packets of one size",
    assumptions=partial(drop_tail_fixed_point.assumptions, chain="md1k"),
    predict=partial(drop_tail_fixed_point.predict, chain="md1k"),
)
