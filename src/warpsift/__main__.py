"""`python -m warpsift`: the command line."""

from warpsift.cli import main

main()
