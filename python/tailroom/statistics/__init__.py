"""Statistics of replications."""
