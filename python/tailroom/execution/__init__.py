"""Performs the runs of a study in threads, in processes, on any executor, or on a Dask cluster."""
