"""Traffic from packet captures and from lists of flows."""
