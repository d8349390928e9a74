"""The atlas: the buffers that links of today need, computed in advance by tailroom-atlas.

`data.py` has the results that ship with the package, `kinds.py` and `terms.py` the words for their
links, and `lookup.py` what they say about a link that is not among them.
"""
