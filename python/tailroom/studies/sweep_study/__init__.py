"""A sweep: a scenario at every point of a grid, with several runs per point."""
