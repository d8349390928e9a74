"""The local server of `tailroom explore`: the page, with the native engine behind it.

`opened` is the scenario file of the command line, `questions` what the page asks, `runs` performs
it, `stored_runs` keeps runs in a store, `guard` refuses requests that are not the page's, `app` has
the addresses, `serve` listens.
"""
