"""What `tailroom explore` serves: the page, which brings its own engine, and a scenario for it.

`page_start` is the scenario file of the command line as the page reads it, `serve` the server.
"""
