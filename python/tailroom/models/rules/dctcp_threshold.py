"""DCTCP: the marking threshold that keeps the link busy, and the amplitude of the queue."""

from tailroom import _engine
from tailroom.models.rules.rule import rule

THRESHOLD_BDP = _engine.DCTCP_THRESHOLD_BDP
"""Alizadeh et al. 2010, Eq. 13."""

amplitude = _engine.dctcp_amplitude
utilization = _engine.dctcp_utilization
queue_mean = _engine.dctcp_queue_mean

MODEL = rule(name="dctcp_threshold")
