"""Statistics of repeated runs: confidence intervals and the jackknife."""
