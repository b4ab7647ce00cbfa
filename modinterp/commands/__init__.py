"""Define the commands of modinterp, one in each file; no other package imports the commands."""
