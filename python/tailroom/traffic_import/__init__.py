"""Traffic from captures and flow lists."""
