"""Find the task of a network on sequences, by its given name and its sizes; open modules and functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from modinterp.explain.said import Said
from modinterp.measurements.answering import answers_of
from modinterp.models import ForwardPass, Network, Outside, Weights, from_state_dict
from modinterp.models.convert import sizes_of
from modinterp.tasks import Task
from modinterp.tasks.by_name import tasks_by_name

_COMPARED, _SAME = 32, 1e-3  # inputs, and largest difference of log-probabilities, by which two networks are one
_TRIED = 512  # inputs by which one of several tasks is chosen


def sequence_of_weights(weights: Weights, said: Said) -> Task:
    """Return the given task, or the task of a given short name that fits the sizes of the weights.

    Several tasks may fit, such as a maximum with a token after the list or before the list. If several tasks fit, the
    task with the highest accuracy is chosen.

    Raises:
        ValueError: no task of this name fits the sizes of the weights.
    """
    if said.task is not None:
        return said.task
    tasks = tasks_by_name(str(said.op), *sizes_of(weights))
    return tasks[0] if len(tasks) == 1 else max(tasks, key=lambda task: _accuracy(weights, task, said))


def _accuracy(weights: Weights, task: Task, said: Said) -> float:
    """Return the share of a few inputs that a network with these weights answers correctly."""
    answers, is_asked = answers_of(from_state_dict(weights, task, said.forward_pass), task, task.fresh(_TRIED, 0))
    return float((answers.correct & is_asked).double().mean())


def sequence_of_callable(network: Callable[..., Any], name: str, said: Said) -> tuple[Task, Network]:
    """Open a module or function as a network with its task on sequences.

    A HookedTransformer is rebuilt from its weights if the rebuilt network gives the same answers. All networks other
    than a HookedTransformer are treated as black boxes.

    Raises:
        ValueError: the sizes of the task are missing, or the network returns no logits for its inputs.
    """
    weights = dict(network.state_dict()) if isinstance(network, nn.Module) else {}
    task = said.task
    if task is None:
        try:
            task = sequence_of_weights(weights, said)
        except ValueError as error:
            raise ValueError(
                f"the number of tokens that {name} reads is not known ({error}); give its task, such as "
                "task=mi.tasks.Ordering('max', n=5, limit=64)"
            ) from error
    if isinstance(network, Network):
        network.cfg.check(task)
        return task, network
    outside = Outside(network, task)
    return task, _opened(network, weights, task, said, outside) or outside


def _opened(network: Any, weights: Weights, task: Task, said: Said, outside: Outside) -> Network | None:
    """Return a network rebuilt from a module's weights; None if its answers differ from the module's answers."""
    config = getattr(network, "cfg", None)
    kind = getattr(config, "normalization_type", None)
    act_fn = said.act_fn or getattr(config, "act_fn", None) or "relu"
    is_causal = getattr(config, "attention_dir", "causal") == "causal" if said.causal is None else said.causal
    try:
        assumed = ForwardPass(
            act_fn, causal=is_causal, normalization_type=kind if kind in ("LNPre", "RMSPre") else None
        )
        opened = from_state_dict(weights, task, assumed)
        examples = task.fresh(_COMPARED, 0)
        own, theirs = (answers_of(network, task, examples)[0].log_probs for network in (opened, outside))
    except (ValueError, RuntimeError, KeyError):
        return None
    return opened if float((own - theirs).abs().max()) <= _SAME else None
