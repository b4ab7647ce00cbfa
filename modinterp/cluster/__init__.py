"""Distribute work over a cluster: pieces of work that any machine can run, and one live table of their progress."""
