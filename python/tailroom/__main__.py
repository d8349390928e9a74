"""`python -m tailroom` is the command `tailroom`."""

from tailroom.cli import main

main()
