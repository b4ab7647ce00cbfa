"""Prepare the network to be explained: its task, and the assumptions that the user did not state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch import Tensor

from modinterp.explain.opening import opened_callable, renamed
from modinterp.explain.said import GROUP, Said, named_task
from modinterp.explain.said_groups import group_of_weights
from modinterp.explain.said_sequences import sequence_of_callable, sequence_of_weights
from modinterp.measurements.memory import check_memory
from modinterp.models import ForwardPass, Network, Weights, Wrapped, from_state_dict, modular_task
from modinterp.runs import TrainedRun
from modinterp.runs.own_run import own_split
from modinterp.runs.weights import READ, read_weights
from modinterp.sources import load
from modinterp.tasks import Group, RenamedAddition, Task
from modinterp.tasks.by_name import is_named
from modinterp.terminal.errors import printable
from modinterp.training import resolved_device

__all__ = ["Said", "Subject", "subject"]


@dataclass(frozen=True)
class Subject:
    """A network to be explained, with its task and the assumptions about its forward pass.

    Attributes:
        run: the network with its task.
        said: the arguments with which the user described the network.
        reopened: function that opens the network with another task; None for a run, whose task is known.
        is_file: True if only the weights of the network are known, and not its forward pass.
        found: text that says how the form of the inputs was found by trying; empty if it was given.
    """

    run: TrainedRun
    said: Said
    reopened: Callable[[Task], Network] | None = None
    is_file: bool = False
    found: str = ""

    @property
    def assumed(self) -> str:
        """A sentence about the forward pass and the inputs with which the numbers were measured."""
        cfg, task = self.run.network.cfg, self.run.task
        parts = [f"forward pass: {cfg.forward_pass}"]
        parts += [self.found] if self.found else []
        if isinstance(self.run.network, Wrapped) and cfg.hooks:
            parts.append(f"inside the network {cfg.found}")
        if isinstance(task, RenamedAddition):
            parts.append(f"its task {task.form} is explained as an addition of relabelled numbers")
        if getattr(task, "vocabularies", 1) > 1:
            parts.append("a separate vocabulary for each number")
        if hasattr(task, "equals") and self._takes_tokens_of_task:
            parts.append("with the token = at the end" if task.equals else "without =")
        guessed = self.guessed
        parts.append(
            f"these settings were not given and are assumed: {', '.join(guessed)}"
            if guessed
            else "no setting of the forward pass is assumed"
        )
        return "; ".join(parts)

    @property
    def _takes_tokens_of_task(self) -> bool:
        """True if the network reads the task's own tokens, and no other input format."""
        network = self.run.network
        return not isinstance(network, Wrapped) or network.cfg.calling.takes_tokens_of_task

    @property
    def guessed(self) -> tuple[str, ...]:
        """Names of the assumed arguments, which the user did not give and no weight shape decides."""
        if self.reopened is None:
            return ()
        names = ["op"] if self.said.task is None and self.said.op is None and not self.said.is_group else []
        names += ["elements"] if isinstance(task := self.run.task, Group) and not task.elements else []
        cfg = self.run.network.cfg
        if isinstance(self.run.network, Wrapped):
            is_said = self.said.inputs is not None or self.said.tokens is not None or self.found
            return tuple(names if is_said else [*names, "inputs"])
        if not self.is_file:
            return tuple(names)
        if cfg.n_heads:
            names += ["attention_rate"] + ["causal"] * (cfg.n_layers > 1)
        elif cfg.mlp_biases and cfg.joined != "concatenated":
            names += ["joined"]
        names += ["act_fn"] * (not cfg.attn_only)
        return tuple(name for name in names if getattr(self.said, name) is None)


def subject(
    network: TrainedRun | str | Path | Mapping[str, Tensor] | Callable[..., Any],
    said: Said | None = None,
    device: str = "cpu",
    root: str | Path | None = None,
) -> Subject:
    """Open the network to be explained as a run with a known task.

    Args:
        network: a run, a run's name, a file of weights, or a user's module or function.
        said: the arguments that describe the network. For a run the task is known, and the shapes in a file of weights
            often decide p.
        device: device for the network of a file or a named run.
        root: folder in which to look for a named run.
    Raises:
        FileNotFoundError: the run or file does not exist.
        ValueError: a reason listed in `modinterp.load` applies; the run has no weights; operation or modulus are
            missing, or differ from the run's; the inputs do not fit into memory.
    """
    said = (said or Said()).plain
    if isinstance(network, str | Path):
        if Path(network).suffix in READ:
            return _within_memory(_of_weights(read_weights(Path(network)), printable(str(network)), said, device))
        network = load(network, root=root, device=device)
    if isinstance(network, TrainedRun):
        _check(network, said)
        return _within_memory(Subject(network, said))
    if isinstance(network, Mapping):
        return _within_memory(_of_weights(dict(network), "state dict", said, device))
    if not callable(network):
        raise ValueError(f"expected a run, a file, a module or a function, got {type(network).__name__}")
    name = getattr(network, "__name__", type(network).__name__)
    if said.is_sequence:
        return _with_split(Subject(TrainedRun(name, *sequence_of_callable(network, name, said)), said))
    task, opened, found = opened_callable(network, name, said)
    return _within_memory(Subject(TrainedRun(name, task, opened), said, found.reopened, found=found.words))


def _of_weights(weights: Weights, name: str, said: Said, device: str) -> Subject:
    assumed, where = said.forward_pass, resolved_device(device)
    if said.tokens is not None:
        raise ValueError(
            "tokens= is for a module or function; for a file of weights, the tokens follow from the shapes"
        )
    if said.is_sequence:
        task = sequence_of_weights(weights, said)
        return Subject(
            TrainedRun(name, task, from_state_dict(weights, task, assumed).to(where)),
            said,
            lambda task: from_state_dict(weights, task, assumed),
            True,
        )
    if said.form is not None:
        pairs = modular_task(weights, "add", said.p, said.equals, said.vocabularies)
        task, network = renamed(from_state_dict(weights, pairs, assumed).to(where), pairs, said)
        return Subject(TrainedRun(name, task, network), said)
    if said.is_group:
        task = group_of_weights(weights, said)
        if said.p not in (None, task.n):
            raise ValueError(f"{task.group} has {task.n} elements, which contradicts p {said.p}")
    else:
        task = named_task(said) or modular_task(weights, said.op or "add", said.p, said.equals, said.vocabularies)
    network = from_state_dict(weights, task, assumed).to(where)
    return Subject(TrainedRun(name, task, network), said, lambda task: from_state_dict(weights, task, assumed), True)


def _check(run: TrainedRun, said: Said) -> None:
    """Raise ValueError if an argument contradicts a run's own task or settings."""
    given = {name: value for name in ("op", "p", "task", "group", "equals", "vocabularies", "act_fn", "attention_rate",
                                      "causal", "joined") if (value := getattr(said, name)) is not None}  # fmt: skip
    if (isinstance(run.task, Group) and said.op == GROUP) or (said.op and is_named(said.op, run.task)):
        del given["op"]
    for name, value in given.items():
        owner: object = run.network.cfg if name in ForwardPass.__dataclass_fields__ else run.task
        known = owner if name == "task" else getattr(owner, name, None)
        if value != known:
            raise ValueError(
                f"{run.name} was trained on {run.task.name}, which contradicts {name} {value}; leave {name} out"
            )


def _within_memory(found: Subject) -> Subject:
    """Return the subject unchanged, after checking that all its activations fit into memory.

    Raises:
        ValueError: the activations do not fit into memory, the run has no weights, or its task has several kinds of
            answers.
    """
    network, task = found.run.network, found.run.task
    if len(task.output_sizes) != 1:
        raise ValueError(f"explain takes networks with one kind of answer; this network learned {task.name}")
    if task.grid is not None:
        check_memory(found.run.name, task, network)
    return _with_split(found)


def _with_split(found: Subject) -> Subject:
    """Return the subject with the split into training and held-out inputs, if the user gave the training inputs."""
    task = found.run.task
    if found.said.train is None:
        return found
    split = own_split(task, found.said.train)
    if isinstance(task, RenamedAddition):
        split = task.renamed(split)
    return replace(found, run=replace(found.run, own_split=split))
