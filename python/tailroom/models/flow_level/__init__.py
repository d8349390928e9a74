"""Flows that arrive and depart, and the load that they offer."""
