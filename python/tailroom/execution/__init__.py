"""Performs the runs of a study: in threads, processes, any executor, or on a Dask cluster."""
