"""The computation of the atlas: the cells, their scenarios, the search, the data and the pages.

`cells.py` has the rule that chooses the links, `scenarios.py` the scenario of each, `plan.py` what
they cost, and `study.py` the runs. The package tailroom ships the results and looks links up in
them (`tailroom.buffer_atlas`).
"""
