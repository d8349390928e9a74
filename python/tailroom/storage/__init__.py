"""Results on disk: the store of runs, and directories with a single result."""
