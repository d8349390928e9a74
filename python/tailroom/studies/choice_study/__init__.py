"""A comparison of values of a key, or of scenarios."""
