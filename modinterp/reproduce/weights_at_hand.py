"""Decide which runs are measured from their weights, and which from recorded numbers."""

from __future__ import annotations

from modinterp.runs import store
from modinterp.sources import Source, of_each


def ships_weights(name: str) -> bool:
    """Return True if the weights of a run are among the checkpoints."""
    try:
        return (store.checkpoints() / name / store.FINAL).is_file()
    except store.NoCheckpoints:
        return False


def named_first() -> set[str]:
    """Return the runs that a source or a claim names first, and all runs that a claim about several networks names.

    The first-named run is the run that figures of a single network show. Claims about several networks may need
    measurements that cannot be recorded.
    """

    def named(about: Source) -> set[str]:
        asked = (claim.needs[: None if claim.of_one is None else 1] for claim in about.claims.values())
        return {about.main_run}.union(*asked)

    return set[str]().union(*of_each(named).values())
