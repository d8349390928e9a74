"""What tailroom does with a script, in the form in which any implementation reports it."""

from pathlib import Path

from tailroom.vectors.judge import Results
from tailroom.vectors.runs import ack_script, headroom, memory, queue, sender
from tailroom.vectors.scripts import AckScript, HeadroomScript, MemoryScript, QueueScript
from tailroom.vectors.vector import Vector


def results_of(vector: Vector, seed: int = 1, *, qlog: Path | None = None) -> Results:
    """Runs tailroom.

    Args:
        vector: The vector whose script is run.
        seed: Seed of the random streams.
        qlog: File for the trace of the run in qlog, if the vector is of a sender.

    Returns:
        Samples, events and values.
    """
    script = vector.script
    if isinstance(script, HeadroomScript):
        return headroom.results(script)
    if isinstance(script, AckScript):
        return ack_script.results(script)
    events = {expectation.event for expectation in vector.expect}
    if isinstance(script, QueueScript):
        return queue.results(script, seed, has_drops="drop" in events)
    if isinstance(script, MemoryScript):
        return memory.results(script, seed)
    return sender.results(script, seed, has_packets="sent" in events, qlog=qlog)
