"""Runs every validation; the exit status says whether all goals were met."""

import sys

from tests.validation import ns2

if __name__ == "__main__":
    sys.exit(ns2.main(sys.argv[1:]))
