"""Questions that take many runs or models to answer."""
