"""What `tailroom explore` serves or writes: the page with its own engine, and a scenario for it.

`page_start` is the scenario file of the command line as the page reads it, `serve` the server,
`write_page` the copy for other web servers.
"""
