"""Who performs the runs of a study: threads, processes, a cluster."""
