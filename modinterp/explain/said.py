"""Hold the arguments that describe a network to be explained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from modinterp.models import ForwardPass
from modinterp.runs.own_run import Rows
from modinterp.tasks import ModularSum, Task
from modinterp.tasks.by_name import BY_NAME
from modinterp.tasks.modular import OPERATIONS, OTHER_NAMES, named_operation
from modinterp.tasks.polynomials import Polynomial
from modinterp.tasks.renaming import Renaming, linear_form
from modinterp.terminal.suggestions import suggestion

SUM_OF_THREE, GROUP = "add3", "group"
OPPOSITE = "b a"  # the product in a group, the second element first
OPS = (*OPERATIONS, SUM_OF_THREE, GROUP, *BY_NAME)
_SAME_FORMS = {(1, 1, 0): "add", (1, -1, 0): "sub"}
OWN_ANSWERS = "answers"  # in place of the name of a group: the table of what the network answers


@dataclass(frozen=True)
class Said:
    """The arguments by which a user describes a network to `explain`; an argument that is not given is None.

    Attributes:
        op: the operation as a key of `OPERATIONS`; a form such as `2a + 3b` or `b - a`; a polynomial such as `a^2 + b`;
            `add3` or `a + b + c` for the sum of three numbers; `group` for the product of two elements of a group, and
            `b a` for the product in the other order. For a network on sequences, `op` is a key of `BY_NAME`, such as
            `max`, `sort` or `digits`.
        p: the modulus, or the number of elements of a group.
        task: any task in place of `op` and `p`.
        equals: True if the token "=" follows the numbers.
        vocabularies: 1 if a and b share their tokens; 2 if the token of b is p + b.
        act_fn, attention_rate, causal, joined: for a file, options of the forward pass; see `ForwardPass`.
        inputs: for a module or function, the form of its input, a key of `modinterp.models.FORMS`.
        tokens: for a module or function, the layout of its tokens, such as `a op b =`, or a function from the numbers
            to the tokens; see `modinterp.models.token_map`.
        hooks: for a module, map from modinterp's hook names to the module's hook points or submodules, such as
            `{"hook_embed": "tok"}`.
        group: name of a group, a CSV file with its table, or `answers` for the table of the network's own answers.
        elements: the elements of a named group in the order of their tokens; see `Group`.
        train: training inputs of the network, as indices into the task's inputs or as a mask.
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
    tokens: str | Callable[..., Any] | None = None
    hooks: Mapping[str, str] = field(default_factory=dict)
    group: str | None = None
    elements: tuple[str, ...] = ()
    train: Rows | None = field(default=None, compare=False)

    @property
    def is_group(self) -> bool:
        """True if the described task is the product in a group."""
        return self.op in (GROUP, OPPOSITE) or self.group is not None

    @property
    def is_own(self) -> bool:
        """True if the group's table is defined by the network's own answers."""
        return self.is_group and self.group in (None, OWN_ANSWERS)

    @property
    def is_sequence(self) -> bool:
        """True if the described task is on sequences, whose inputs form no grid."""
        return self.op in BY_NAME or (self.task is not None and self.task.grid is None)

    @property
    def form(self) -> tuple[int, int, int] | None:
        """The integers (u, v, w) of an operation u a + v b + w, such as `2a + 3b`; None for other operations."""
        return None if self.op is None else linear_form(self.op)

    @property
    def plain(self) -> Said:
        """A copy of the arguments in which operations such as `+` and `a - b` have their usual names.

        Raises:
            ValueError: the operation is unknown, or contradicts the group.
        """
        if self.op in OTHER_NAMES:
            return replace(self, op=OTHER_NAMES[self.op]).plain
        if self.form in _SAME_FORMS:
            return replace(self, op=_SAME_FORMS[self.form])
        if self.op is not None and self.op not in (*OPS, OPPOSITE) and self.form is None:
            if (polynomial := Polynomial.of(self.op)) is not None:
                return replace(self, op=named_operation(polynomial))
            if self.op.replace(" ", "") == "a+b+c":
                return replace(self, op=SUM_OF_THREE)
            forms = "a form such as '2a + 3b' or 'a^2 + b'"
            near = suggestion(self.op, OPS)
            raise ValueError(f"unknown operation {self.op!r}; known are {', '.join(OPS)}, or {forms}{near}")
        if self.is_group and self.op not in (None, GROUP, OPPOSITE):
            raise ValueError(
                f"a group needs the operation op=group, got op={self.op}; give op='group' or leave the group out"
            )
        if self.elements and not self.is_group:
            raise ValueError("the option elements lists the elements of a group; give op='group' as well")
        return self

    def renaming(self, p: int) -> Renaming | None:
        """Return the relabelling of the numbers that turns an operation such as `2a + 3b` into an addition."""
        return None if self.form is None or self.op is None else Renaming.of(self.op, p)

    @property
    def forward_pass(self) -> ForwardPass:
        """The settings of the forward pass of a file's network; settings that are not given have the usual values."""
        names = ("act_fn", "attention_rate", "causal", "joined")
        return ForwardPass(**{name: value for name in names if (value := getattr(self, name)) is not None})


def named_task(said: Said) -> Task | None:
    """Return the task that the arguments define without the shapes of weights; None if the shapes are needed.

    Raises:
        ValueError: the operation is a + b + c, and p is missing.
    """
    if said.task is not None or said.op != SUM_OF_THREE:
        return said.task
    if said.p is None:
        raise ValueError("give the modulus p: it cannot be inferred for a + b + c")
    return ModularSum(said.p, equals=said.equals is not False)
