"""The load at which a queue and the window laws of its flows agree."""
