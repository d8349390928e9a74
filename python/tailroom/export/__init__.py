"""Configuration of other tools for the same buffer."""
