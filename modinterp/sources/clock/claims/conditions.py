"""Preconditions: the network has learned its task."""

from modinterp.claims.band import at_least

LEARNED = at_least(0.99, "for a network that has learned the task")
ACCURATE = {"accuracy": LEARNED}
