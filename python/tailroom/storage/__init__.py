"""Results on disk: the store of runs, and directories of one result."""
