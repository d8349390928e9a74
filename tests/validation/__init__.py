"""Comparisons with published numbers that take too long for every test run: `make validate`."""
