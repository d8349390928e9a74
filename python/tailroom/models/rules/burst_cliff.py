"""The burst cliff: utilization of long flows at small buffers, where bursts decide.

An ACK-clocked window crosses the bottleneck as one train at the rate of the link. Trains of several
flows overlap by chance, and a buffer below the overlap drops packets of both. Paced flows have
trains of one packet, BBR has trains of its send quantum. docs/models/burst-cliff.md derives the law
and gives its error.
"""

from tailroom import _engine
from tailroom.models.rules.rule import rule

CONTROLS = dict(_engine.cliff_edges())
"""Factor of the cliff's edge without pacing, per congestion control; 0 for a control that paces."""

edge_packets = _engine.cliff_edge_packets
train_fill = _engine.cliff_train_fill
paced_fill = _engine.cliff_paced_fill
hosts = _engine.cliff_hosts
utilization = _engine.cliff_utilization

MODEL = rule(name="burst_cliff")
