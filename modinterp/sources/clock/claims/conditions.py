"""Preconditions of claims: the network has learned its task."""

from modinterp.claims.band import at_least

LEARNED = at_least(0.99, "the claim is about networks that have learned the task")
ACCURATE = {"accuracy": LEARNED}
