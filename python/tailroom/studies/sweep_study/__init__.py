"""A sweep: every point of a grid, with replications."""
