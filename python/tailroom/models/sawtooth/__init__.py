"""The sawtooth of synchronised windows."""
