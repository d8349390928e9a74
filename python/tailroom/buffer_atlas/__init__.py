"""The atlas: the buffers that links of today need, computed in advance.

`cells.py` has the rule that chooses the links, `scenarios.py` the scenario of each, `plan.py` what
they cost, `data.py` the results that ship with the package, and `lookup.py` what they say about a
link that is not among them. The runs themselves are in `tailroom.studies.atlas_study`.
"""
