"""Bursts of one window-limited flow over a Poisson background: the parts of that model."""
