"""Ctrl-C in the middle of work of which something is known already."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C has ended a long piece of work; `known` is what it has found so far.

    A function that raises this puts there what it would have returned, as far as it goes:
    `tailroom.sweep` a `SweepResult` with the runs that are finished.
    """

    def __init__(self, known: object) -> None:
        """Keeps what is known."""
        super().__init__()
        self.known = known
