"""One file for each figure of the paper: its runs, its numbers, its drawing."""
