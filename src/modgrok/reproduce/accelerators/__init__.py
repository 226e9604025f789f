"""Ways to grok sooner: each in its authors' arena, and all of them tuned by the same search."""
