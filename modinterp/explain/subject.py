"""Which network is to be explained, what it was trained on, and what was assumed of it that nobody said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from modinterp.activations import logits_on_grid
from modinterp.measurements.memory import check_memory
from modinterp.models import ForwardPass, Network, Weights, Wrapped, from_state_dict, modular_task, with_tokens_of
from modinterp.runs import TrainedRun
from modinterp.runs.own_run import Rows, own_split
from modinterp.runs.weights import READ, read_weights
from modinterp.sources import load
from modinterp.tasks import Group, ModularArithmetic, ModularSum, Task
from modinterp.tasks.modular import OPERATIONS
from modinterp.terminal.errors import printable
from modinterp.training import resolved_device

SUM_OF_THREE, GROUP = "add3", "group"
OPS = (*OPERATIONS, SUM_OF_THREE, GROUP)
OWN_ANSWERS = "answers"  # in place of the name of a group: the table of what the network answers


@dataclass(frozen=True)
class Said:
    """What is said of a network by whoever wants it explained; None for what is not.

    Attributes:
        op: a key of `OPERATIONS`, `add3` for a + b + c, or `group` for the product of two elements of a group.
        p: the modulus, or the number of elements of a group.
        task: in place of op and p, any task with one answer whose inputs form a grid.
        equals, vocabularies: as in `ModularArithmetic`.
        act_fn, attention_rate, causal, joined: for a file, how its network computes; see `ForwardPass`.
        inputs: for a module or function, how it is called, a key of `modinterp.models.FORMS`.
        hooks: for a module, our hook name to the name of the place, such as `{"hook_embed": "tok"}`.
        group: name of a group, a CSV file with its table, or `answers` for the table of the network's own answers.
        elements: the elements of a named group in the order of their tokens; see `Group`.
        train: which of the task's inputs it was trained on, their numbers or a mask.
    """

    op: str | None = None
    p: int | None = None
    task: Task | None = None
    equals: bool | None = None
    vocabularies: int | None = None
    act_fn: str | None = None
    attention_rate: float | None = None
    causal: bool | None = None
    joined: str | None = None
    inputs: str | None = None
    hooks: Mapping[str, str] = field(default_factory=dict)
    group: str | None = None
    elements: tuple[str, ...] = ()
    train: Rows | None = field(default=None, compare=False)

    @property
    def is_group(self) -> bool:
        """Whether the task is said to be that of a group."""
        return self.op == GROUP or self.group is not None

    @property
    def is_own(self) -> bool:
        """Whether the group is the one whose table the network's own answers are."""
        return self.is_group and self.group in (None, OWN_ANSWERS)

    @property
    def forward_pass(self) -> ForwardPass:
        """How the network of a file computes, as usual where nothing is said."""
        names = ("act_fn", "attention_rate", "causal", "joined")
        return ForwardPass(**{name: value for name in names if (value := getattr(self, name)) is not None})


@dataclass(frozen=True)
class Subject:
    """A network to be explained.

    Attributes:
        run: the network with its task.
        said: what was said of it.
        reopened: the same network as one of another task, for what nobody said; None for a run, of which all is known.
        is_file: whether its weights alone are known, and not how it computes.
    """

    run: TrainedRun
    said: Said
    reopened: Callable[[Task], Network] | None = None
    is_file: bool = False

    @property
    def assumed(self) -> str:
        """The forward pass and the inputs that the numbers are of, in a sentence."""
        cfg, task = self.run.network.cfg, self.run.task
        parts = [f"forward pass: {cfg.forward_pass}"]
        if getattr(task, "vocabularies", 1) > 1:
            parts.append("a vocabulary for each number")
        if hasattr(task, "equals"):
            parts.append("with = at the end" if task.equals else "without =")
        guessed = self.guessed
        parts.append(f"not said but assumed: {', '.join(guessed)}" if guessed else "as it was said or is known")
        return "; ".join(parts)

    @property
    def guessed(self) -> tuple[str, ...]:
        """Names of the arguments that nobody gave and no shape decides."""
        if self.reopened is None:
            return ()
        names = ["op"] if self.said.task is None and self.said.op is None and not self.said.is_group else []
        names += ["elements"] if isinstance(task := self.run.task, Group) and not task.elements else []
        cfg = self.run.network.cfg
        if isinstance(self.run.network, Wrapped):
            return tuple(names + [name for name in ("inputs",) if self.said.inputs is None])
        if not self.is_file:
            return tuple(names)
        if cfg.n_heads:
            names += ["attention_rate"] + ["causal"] * (cfg.n_layers > 1)
        elif cfg.mlp_biases and cfg.joined != "concatenated":
            names += ["joined"]
        names += ["act_fn"] * (not cfg.attn_only)
        return tuple(name for name in names if getattr(self.said, name) is None)


def subject(
    network: TrainedRun | str | Path | Callable[..., Any],
    said: Said | None = None,
    device: str = "cpu",
    root: str | Path | None = None,
) -> Subject:
    """The network to be explained, as a run whose task is known.

    Args:
        network: a run, a run's name, a file of weights, or anybody's module or function.
        said: what is said of it; a run knows its task, and the shapes of a file often decide p.
        device: where the network of a file or a named run is to live.
        root: folder to look for a named run in.
    Raises:
        FileNotFoundError: there is no such run or file.
        ValueError: as `modinterp.load`; a run that came without its weights; an operation or a modulus other than the
            run's, or one that is missing; more inputs than fit into memory.
    """
    said = said or Said()
    if said.op is not None and said.op not in OPS:
        raise ValueError(f"unknown operation {said.op!r}; known are {', '.join(OPS)}")
    if said.is_group and said.op not in (None, GROUP):
        raise ValueError(f"a group is composed by op=group, not by {said.op}")
    if said.elements and not said.is_group:
        raise ValueError("elements are those of a group, which op=group says that the network composes")
    if isinstance(network, str | Path):
        if Path(network).suffix in READ:
            return _within_memory(_of_file(network, said, device))
        network = load(network, root=root, device=device)
    if isinstance(network, TrainedRun):
        _check(network, said)
        return _within_memory(Subject(network, said))
    if not callable(network):
        raise ValueError(f"expected a run, a file, a module or a function, got {type(network).__name__}")
    return _within_memory(_of_callable(network, said))


def _named_task(said: Said) -> Task | None:
    """The task that is said, as far as it needs no shapes."""
    if said.task is not None or said.op != SUM_OF_THREE:
        return said.task
    if said.p is None:
        raise ValueError("p must be given for a + b + c")
    return ModularSum(said.p, equals=said.equals is not False)


def _of_file(file: str | Path, said: Said, device: str) -> Subject:
    weights, assumed = read_weights(Path(file)), said.forward_pass
    if said.is_group:
        task = _group_of_weights(weights, said)
        if said.p not in (None, task.n):
            raise ValueError(f"{task.group} has {task.n} elements, which contradicts p {said.p}")
    else:
        task = _named_task(said) or modular_task(weights, said.op or "add", said.p, said.equals, said.vocabularies)
    network = from_state_dict(weights, task, assumed).to(resolved_device(device))
    run = TrainedRun(printable(str(file)), task, network)
    return Subject(run, said, lambda task: from_state_dict(weights, task, assumed), is_file=True)


def _of_callable(network: Callable[..., Any], said: Said) -> Subject:
    name = getattr(network, "__name__", type(network).__name__)
    task, with_equals = _named_task(said), (True, False) if said.equals is None else (said.equals,)
    tasks: list[Task]
    if said.is_group and not said.is_own:
        group = Group.of(said.group or "", said.elements)
        tasks = [replace(group, equals=equals, vocabularies=said.vocabularies or 1) for equals in with_equals]
    elif task is None and said.p is None:
        raise ValueError(f"p must be given: {name} does not say how many residues it was trained on")
    elif task is None:
        op = "add" if said.op is None or said.is_own else said.op
        tasks = [ModularArithmetic(said.p or 0, op, equals, said.vocabularies or 1) for equals in with_equals]
    else:
        tasks = [task]
    errors: list[ValueError] = []
    found: list[tuple[Task, Network]] = []
    for task in tasks:
        try:
            found.append((task, _opened(network, task, said)))
        except ValueError as error:
            errors.append(error)
    if not found:
        raise errors[-1]
    task, opened = next((x for x in found if _takes_all_tokens(x[1])), found[-1])
    if said.is_own and isinstance(task, ModularArithmetic):
        task = _group_of_answers(opened, task)
        opened = _opened(network, task, said)
    return Subject(TrainedRun(name, task, opened), said, lambda task: _opened(network, task, said))


def _group_of_weights(weights: Weights, said: Said) -> Group:
    """The group that is said, with tokens as the shapes of the weights have them; or that of the network's answers.

    Raises:
        ValueError: the shapes are those of no network over pairs, or of a group of another order.
    """
    if said.is_own:
        pairs = modular_task(weights, "add", None, said.equals, said.vocabularies)
        return _group_of_answers(from_state_dict(weights, pairs, said.forward_pass), pairs)
    group = Group.of(said.group or "", said.elements)
    try:
        return with_tokens_of(weights, group, said.equals, said.vocabularies)
    except ValueError as error:
        raise ValueError(f"{error}, the order of {group.group}") from error


def _group_of_answers(network: Network, pairs: ModularArithmetic) -> Group:
    """The group whose table are the answers of a network to all pairs.

    Raises:
        ValueError: they are the table of no group.
    """
    check_memory("the network", pairs, network)
    answers = logits_on_grid(network, pairs).argmax(dim=-1).tolist()
    try:
        return Group.of_table(answers, "its answers", equals=pairs.equals, vocabularies=pairs.vocabularies)
    except ValueError as error:
        raise ValueError(
            f"the network's own answers are no group ({error}); name the one it learned with group"
        ) from None


def _takes_all_tokens(network: Network) -> bool:
    """Whether a network is called with all tokens of its task, the last one included."""
    return not isinstance(network, Wrapped) or network.cfg.calling.form == "tokens"


def _opened(network: Callable[..., Any], task: Task, said: Said) -> Network:
    if isinstance(network, Network):
        if said.hooks:
            raise ValueError("hooks are said of a network of another make; this one has hook points of its own")
        network.cfg.check(task)
        return network
    return Wrapped(network, task, said.inputs, said.hooks)


def _check(run: TrainedRun, said: Said) -> None:
    """Raises ValueError where something is said of a run that contradicts what it knows."""
    given = {name: value for name in ("op", "p", "task", "group", "equals", "vocabularies", "act_fn", "attention_rate",
                                      "causal", "joined") if (value := getattr(said, name)) is not None}  # fmt: skip
    if isinstance(run.task, Group) and said.op == GROUP:
        del given["op"]
    for name, value in given.items():
        owner: object = run.network.cfg if name in ForwardPass.__dataclass_fields__ else run.task
        known = owner if name == "task" else getattr(owner, name, None)
        if value != known:
            raise ValueError(f"{run.name} was trained on {run.task.name}, which contradicts {name} {value}")


def _within_memory(found: Subject) -> Subject:
    """The subject itself, if every activation on all its inputs fits into memory.

    Raises:
        ValueError: it does not, the run came without its weights, or its task is none of one answer on a grid.
    """
    network, task = found.run.network, found.run.task
    if task.grid is None or len(task.output_sizes) != 1:
        raise ValueError(f"networks with one answer over a grid of inputs are explained; this one learned {task.name}")
    check_memory(found.run.name, task, network)
    if found.said.train is None:
        return found
    return replace(found, run=replace(found.run, own_split=own_split(task, found.said.train)))
