"""The scenarios that come with the package."""

from pathlib import Path

SCENARIOS = Path(__file__).resolve().parent / "scenarios"
"""A TOML file for each, in directories named after where they are from."""
