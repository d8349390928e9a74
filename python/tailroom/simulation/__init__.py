"""One simulation: the call of the engine, its result, and the metrics of the result."""
