"""Open a user's module or function as a network with its task. The form of the network's inputs is given, or found by
trying.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from modinterp.explain.said import Said, named_task
from modinterp.explain.said_groups import group_of_answers, named_group
from modinterp.models import Calling, Network, Wrapped
from modinterp.models.call_search import BETTER, RIGHT, accuracy_of, best_calling, calling_of
from modinterp.models.calling import likeliest_calling
from modinterp.models.with_numbers import with_numbers
from modinterp.tasks import ModularArithmetic, RenamedAddition, Task
from modinterp.tasks.modular import OPERATIONS

_SEARCHED = 200_000  # inputs of a task at most, of which a sample is taken


@dataclass(frozen=True)
class Opened:
    """A user's network that was opened with a task, and the form of its inputs.

    Attributes:
        reopened: function that opens the network with another task.
        words: text that says how the form of the inputs was found; empty if the user gave the form, or if it is the
            usual form.
    """

    reopened: Callable[[Task], Network]
    words: str = ""


def opened_callable(network: Callable[..., Any], name: str, said: Said) -> tuple[Task, Network, Opened]:
    """Open a user's module or function; return the task, the network, and the form of the network's inputs.

    Raises:
        ValueError: p is missing, or the network does not take the inputs.
    """
    network = network if isinstance(network, Network) else with_numbers(network)
    errors: list[ValueError] = []
    found: list[tuple[Task, Network]] = []
    tasks = list(_tasks(name, said))
    for task in tasks:
        try:
            found.append((task, _opened(network, task, said)))
        except ValueError as error:
            errors.append(error)
    task, opened = next((x for x in found if _takes_all_tokens(x[1])), found[-1] if found else (tasks[0], None))
    words = ""
    if not isinstance(network, Network) and said.tokens is None and said.inputs is None:
        better, words = _found(network, task, opened, said)
        opened = better or opened
    if opened is None:
        raise _with_a_way_out(errors[0], said) if said.equals is None else errors[-1]
    if said.is_own and isinstance(task, ModularArithmetic):
        task = group_of_answers(opened, task)
        opened = _opened(network, task, said)
    if said.form is not None and isinstance(task, ModularArithmetic):
        task, opened = renamed(opened, task, said)
    return task, opened, Opened(lambda task: _opened(network, task, said), words)


def renamed(network: Network, pairs: ModularArithmetic, said: Said) -> tuple[RenamedAddition, Network]:
    """Turn a network for an operation such as 2a + 3b into a network that adds relabelled numbers.

    Raises:
        ValueError: a factor has no inverse mod p.
    """
    renaming = said.renaming(pairs.p)
    assert renaming is not None
    task = RenamedAddition(pairs.p, "add", pairs.equals, pairs.vocabularies, str(renaming))
    if isinstance(network, Wrapped):
        calling = replace(network.cfg.calling, renaming=renaming)
        return task, Wrapped(network.__dict__["inner"], task, calling, network.cfg.hooks)
    return task, Wrapped(network, task, Calling(renaming=renaming))


def _tasks(name: str, said: Said) -> Iterator[Task]:
    """Yield the tasks that a network may have, with and without a token "="."""
    with_equals = (True, False) if said.equals is None else (said.equals,)
    vocabularies = said.vocabularies or 1
    if said.is_group and not said.is_own:
        group = named_group(said)
        yield from (replace(group, equals=equals, vocabularies=vocabularies) for equals in with_equals)
    elif (task := named_task(said)) is not None:
        yield task
    elif said.p is None:
        raise ValueError(
            f"give the modulus p: {name} does not contain the number of residues that the network was trained on"
        )
    else:
        op = "add" if said.op is None or said.is_own or said.form is not None else said.op
        yield from (ModularArithmetic(said.p, op, equals, vocabularies) for equals in with_equals)


def _opened(network: Callable[..., Any], task: Task, said: Said) -> Network:
    if isinstance(network, Network):
        if said.hooks:
            raise ValueError(
                "leave out hooks: they are for networks without hook points, and this network has its own hook points"
            )
        if said.tokens is not None:
            raise ValueError(
                "leave out tokens: they are for networks whose inputs are unknown, and this network reads the "
                "tokens of its task"
            )
        network.cfg.check(task)
        return network
    return Wrapped(network, task, calling_of(network, task, said.inputs, said.tokens), said.hooks)


def _takes_all_tokens(network: Network) -> bool:
    """Return True if a network is called with all tokens of its task, including the last token."""
    return not isinstance(network, Wrapped) or network.cfg.calling.form == "tokens"


def _labels(task: Task, said: Said) -> list[Tensor]:
    """Return the right answers by which input formats are judged, for all operations if no operation is given."""
    if isinstance(task, ModularArithmetic) and (renaming := said.renaming(task.p)) is not None:
        return [renaming.own_labels()]
    if isinstance(task, ModularArithmetic) and said.op is None and not said.is_group:
        return [replace(task, op=op).labels()[:, 0] for op in OPERATIONS]
    return [task.labels()[:, 0]]


def _found(network: Callable[..., Any], task: Task, opened: Network | None, said: Said) -> tuple[Network | None, str]:
    """Return the network with the input format that gives right answers, and how it was found; None for the usual
    format.
    """
    inputs, classes = task.inputs(), sum(task.output_sizes)
    if len(inputs) > _SEARCHED or (said.is_own and isinstance(task, ModularArithmetic)):
        return None, ""
    labels = _labels(task, said)
    known = Calling(numbers=len(task.grid or (0, 0)))
    usual = 0.0
    if isinstance(opened, Wrapped):
        known = opened.cfg.calling
        usual = accuracy_of(network, known, inputs, labels, classes)
    if usual >= RIGHT:
        return None, ""
    best = best_calling(network, inputs, labels, classes, known)
    if best is None or best.accuracy < usual + BETTER:
        return None, ""
    try:
        calling = likeliest(network, task, best.calling)
    except ValueError:
        return None, ""
    return Wrapped(network, task, calling, said.hooks), best.words


def likeliest(network: Callable[..., Any], task: Task, calling: Calling) -> Calling:
    """Return the input format that gives right answers, with the largest batch size that the network accepts."""
    return likeliest_calling(network, task.inputs(), sum(task.output_sizes), calling.form, calling)


def _with_a_way_out(error: ValueError, said: Said) -> ValueError:
    """Return the error of a network that accepts no known form of input, with advice on which argument to give."""
    if "none of the known forms" not in str(error):
        return error
    return ValueError(f"{error}; name the tokens of an input, such as tokens='a op b =', or as a function of a and b")
