"""Headroom of lossless Ethernet: what arrives after a port asks its peer to pause.

`calculate.py` adds up the terms, `profiles.py` has the facts of chips and published tables, and
`check.py` compares published tables with both.
"""
