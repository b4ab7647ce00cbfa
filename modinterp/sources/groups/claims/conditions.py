"""Preconditions of claims: the network has learned its task, and the claim is about the network's group."""

from __future__ import annotations

from dataclasses import replace

from modinterp.analyses.groups.characters import conjugacy_classes
from modinterp.claims.band import at_least
from modinterp.claims.checking import Claim
from modinterp.measurements import GroupMeasurements
from modinterp.sources.groups.runs import RUNS
from modinterp.tasks import Group, Task

LEARNED = {"final_test_accuracy": at_least(0.99, "the statement is about networks that have learned the task")}


def has_learned(m: GroupMeasurements) -> bool:
    """Return True for each network that answers the pairs correctly on which it was not trained."""
    return LEARNED["final_test_accuracy"].holds(m["final_test_accuracy"])


def of_its_group(claim: Claim) -> Claim:
    """If all runs of a claim compose one group, restrict the claim to that group; return any other claim unchanged."""
    tasks = {task.group: task for name in claim.needs if isinstance(task := RUNS[name].task, Group)}
    if len(tasks) != 1:
        return claim
    (own,) = tasks.values()

    def is_own(task: Task) -> bool:
        return isinstance(task, Group) and _class_sizes(task) == _class_sizes(own)

    return replace(claim, said_of=is_own)


def _class_sizes(task: Group) -> list[int]:
    """Return the sizes of a group's conjugacy classes, which tell the groups of the source's networks apart."""
    return [len(members) for members in conjugacy_classes(task)]
