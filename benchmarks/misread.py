"""Trained networks, read as they were trained and otherwise: which warnings are false, and what is told and missed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from modinterp.explain.subject import Said, subject
from modinterp.explain.warning import MOSTLY_RIGHT, warning
from modinterp.measurements import measure
from modinterp.models import Network
from modinterp.tasks import Task

QUIET, FALSE, TOLD, MISSED = "no warning", "FALSE WARNING", "told", "remarked alone"
READ_OTHERWISE: tuple[tuple[str, Any], ...] = (
    *(("act_fn", name) for name in ("relu", "gelu", "square")),
    *(("attention_rate", rate) for rate in (0.0, 0.5, 0.8, 1.0)),
)


def doubts(name: str, file: Path, said: dict[str, Any], task: Task) -> Iterator[tuple[str, str, str]]:
    """Network, what was said of it, and what came of it, where it is right with that."""

    def heard(told: dict[str, Any]) -> bool | None:
        found = subject(file, Said(task=task, **told))
        m = measure(found.run)
        return None if m.accuracy < MOSTLY_RIGHT else warning(found, m).warning is not None

    if (is_warned := heard(said)) is None:
        return
    yield name, "as it was trained", FALSE if is_warned else QUIET
    known = {"act_fn": "relu", "attention_rate": 1.0} | said
    for what, other in READ_OTHERWISE:
        is_same = known[what] == other or (isinstance(other, float) and abs(known[what] - other) < 0.01)
        if is_same or (what == "attention_rate" and not from_file(file, task).cfg.n_heads):
            continue
        if (is_warned := heard(said | {what: other})) is not None:
            yield name, f"{what}={other}", TOLD if is_warned else MISSED


def from_file(file: Path, task: Task) -> Network:
    """The network of a file, as it is usually read."""
    return subject(file, Said(task=task)).run.network


def print_doubts(networks: Iterable[tuple[str, Path, dict[str, Any], Task]]) -> int:
    """Print what is doubted of trained networks, and return how many warnings are false."""
    heard = []
    for network in networks:
        for name, said, what in doubts(*network):
            print(f"{name:<40} {said:<24} {what}", flush=True)
            heard.append(what)
    read_well, read_otherwise = heard.count(QUIET) + heard.count(FALSE), heard.count(TOLD) + heard.count(MISSED)
    print(f"false warnings: {heard.count(FALSE)} of {read_well} networks that are read as they were trained")
    print(f"read otherwise and right all the same: {heard.count(TOLD)} of {read_otherwise} found by a warning")
    return heard.count(FALSE)
