"""Measurements of other tools: flent, iperf3 and ss; and the buffer that explains them."""
