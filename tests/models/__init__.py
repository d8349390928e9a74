"""Tests of the analytic models."""
