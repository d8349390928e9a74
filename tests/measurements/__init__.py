"""Measurements of flent, iperf3 and ss."""
