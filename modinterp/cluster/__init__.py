"""Work for a cluster: pieces that any machine can carry out, and one live table of their progress."""
