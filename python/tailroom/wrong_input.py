"""What all errors of the user's input have in common, for those who catch them together."""


class WrongInputError(Exception):
    """What the user gave is wrong; the message names the place and the remedy."""
