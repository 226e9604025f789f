"""`python -m modgrok` is the command `modgrok`."""

from modgrok.cli import main

main()
