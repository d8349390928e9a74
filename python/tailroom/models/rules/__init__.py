"""Closed-form rules: a buffer, or a bound, from a formula."""
