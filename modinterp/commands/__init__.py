"""The commands, one in each file; no other package imports them."""
