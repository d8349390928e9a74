"""Windows of flows of which a share loses in each loss episode."""
