"""Linux's own tests of its TCP sender (packetdrill scripts) on tailroom's sender.

A script says when packets come and which leave. `script` reads it, `settings` turns its sysctls
into keys of a flow, `assertions` evaluates what it says of `tcp_info`, and `run` drives the
engine's sender. The scripts are not part of this repository.
"""
