"""Work handed to a cluster: pieces that any machine may carry out, and one live table of how far they are."""
