"""What tailroom does with a script, in the form in which any implementation reports it."""

from dataclasses import replace

from tailroom.vectors.judge import Results
from tailroom.vectors.runs import headroom, memory, queue, sender
from tailroom.vectors.scripts import HeadroomScript, MemoryScript, Parameters, QueueScript
from tailroom.vectors.vector import Vector


def results_of(vector: Vector, *, seed: int = 1, parameters: Parameters | None = None) -> Results:
    """Runs tailroom.

    Args:
        vector: The vector whose script is run.
        seed: Seed of the random streams.
        parameters: Parameters that replace those of the script's control, discipline or policy.

    Returns:
        Samples, events and values.
    """
    script = vector.script
    if isinstance(script, HeadroomScript):
        return headroom.results(script)
    script = replace(script, parameters={**script.parameters, **(parameters or {})})
    events = {expectation.event for expectation in vector.expect}
    if isinstance(script, QueueScript):
        return queue.results(script, seed, has_drops="drop" in events)
    if isinstance(script, MemoryScript):
        return memory.results(script, seed)
    return sender.results(script, seed, has_packets="sent" in events)
