"""Papers whose figures, tables and claims tailroom reproduces, and two studies, a package each.

`pyproject.toml` names the `PAPER` of each package as an entry point of the group
`tailroom.papers`, where `tailroom papers` and `tailroom_papers.framework.load` find it.
"""
