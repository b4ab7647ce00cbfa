"""The files of a training, written beside it where it computes on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

from modinterp.runs.ongoing import Ongoing
from modinterp.training import TrainingState

MOST_AT_ONCE = 8  # runs whose files are written at the same time


class Writer:
    """Writes the states of a group: on a GPU, which goes on meanwhile, those of several runs at once.

    The files of one run are written one after the other; spectra are measured on the GPU, and are not written aside.
    """

    def __init__(self, group: Sequence[Ongoing], device: str):
        """Nothing is written yet.

        Args:
            group: the trainings, by the number that their states come with.
            device: where they train.
        """
        self.group, self.device = group, device
        waits = device == "cpu" or any(training.spec.recipe.spectra_every for training in group)
        self.pool = None if waits else ThreadPoolExecutor(min(len(group), MOST_AT_ONCE))
        self.under_way: dict[int, Future[None]] = {}

    def write(self, run: int, state: TrainingState, is_due: bool) -> None:
        """Write what is due of a state of a run, or begin to.

        Args:
            is_due: whether the state to go on from is due, too.
        Raises:
            OSError: this or an earlier state of the run cannot be written.
        """
        task = partial(self.group[run].take, state, is_due, self.device)
        if self.pool is None:
            task()
            return
        if run in self.under_way:
            self.under_way[run].result()
        self.under_way[run] = self.pool.submit(task)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *error: object) -> None:
        """Wait for what is under way, and raise its first error."""
        if self.pool is not None:
            self.pool.shutdown()
        for one in self.under_way.values():
            one.result()
