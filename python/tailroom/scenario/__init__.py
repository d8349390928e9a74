"""The scenario: its text, its types, and what a study changes in it."""
