"""Configurations for other tools."""
