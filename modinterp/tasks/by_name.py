"""Find tasks on sequences by a short name, such as `max`, and by the sizes of a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from modinterp.tasks.lists import ASKED, ListQuestion
from modinterp.tasks.ordering import QUESTIONS, Ordering
from modinterp.tasks.repeats import FirstUnique, Palindromes
from modinterp.tasks.sequences import DigitAddition
from modinterp.tasks.streams import ColumnSum, SignOfSum, SortedList
from modinterp.tasks.task import Task

Candidates = Iterator[Task]


def _ordering(ask: str, tokens: int, positions: int) -> Candidates:
    n = positions // 2 if ask == "sort" else positions - 1
    if n > 1:
        yield Ordering(ask, n=n, limit=tokens - 1)
    if ask in ASKED:
        yield ListQuestion(ask, n=positions, limit=tokens)
        if n > 1:
            yield ListQuestion(ask, n=n, limit=tokens - 1, start=True)


def _sort(tokens: int, positions: int) -> Candidates:
    if positions % 2:
        yield SortedList(n=positions // 2, limit=tokens - 1)
    else:
        yield from _ordering("sort", tokens, positions)


def _digits(tokens: int, positions: int) -> Candidates:
    yield DigitAddition(digits=(positions - 2) // 3)
    yield ColumnSum(digits=(positions - 2) // 3)


def _cumsum(tokens: int, positions: int) -> Candidates:
    yield SignOfSum(n=positions, largest=(tokens - 1) // 2)


def _palindrome(tokens: int, positions: int) -> Candidates:
    yield Palindromes(half=(positions - 2) // 2, limit=tokens - 2)


def _unique(tokens: int, positions: int) -> Candidates:
    yield FirstUnique(n=positions, letters=tokens - 1)


def _asking(ask: str) -> Callable[[int, int], Candidates]:
    return lambda tokens, positions: _ordering(ask, tokens, positions)


BY_NAME: dict[str, Callable[[int, int], Candidates]] = {
    **{ask: _asking(ask) for ask in QUESTIONS},
    "sort": _sort,
    "digits": _digits,
    "cumsum": _cumsum,
    "palindrome": _palindrome,
    "unique": _unique,
}


def tasks_by_name(name: str, tokens: int, outputs: int, positions: int) -> list[Task]:
    """Return the tasks with a short name that fit the sizes of a network, most likely first.

    Args:
        name: a key of `BY_NAME`.
        tokens: number of input tokens of the network.
        outputs: number of outputs of the network, which may include tokens that are never the answer.
        positions: number of positions of the network.
    Raises:
        ValueError: no task of this name has these sizes; the message names the nearest task.

    >>> [task.name for task in tasks_by_name("max", 101, 100, 6)]
    ['max of 5 numbers below 100', 'max of 5 numbers below 100, read at the last']
    """
    try:
        candidates = list(BY_NAME[name](tokens, positions))
    except ValueError:  # a size that no such task has
        candidates = []
    fitting = [task for task in candidates if (task.d_vocab, task.n_ctx) == (tokens, positions)]
    own = [task for task in fitting if sum(task.output_sizes) == outputs]
    found = [*own, *(task for task in fitting if task not in own and task.d_vocab == outputs)]
    if found:
        return found
    near = ""
    for task in candidates[:1]:
        sizes = f"{task.d_vocab} tokens, {sum(task.output_sizes)} outputs and {task.n_ctx} positions"
        near = f"; {task.name} has {sizes}"
    raise ValueError(
        f"the operation {name} has no task with {tokens} tokens, {outputs} outputs and {positions} positions{near}"
    )


def is_named(name: str, task: Task) -> bool:
    """Return True if a short name can mean the task.

    >>> from modinterp.tasks import addition
    >>> is_named("sort", SortedList()), is_named("max", Ordering("sort")), is_named("max", addition(5))
    (True, False, False)
    """
    kinds: dict[str, tuple[type[Task], ...]] = {
        "digits": (DigitAddition, ColumnSum), "cumsum": (SignOfSum,), "palindrome": (Palindromes,),
        "unique": (FirstUnique,), "sort": (SortedList,),
    }  # fmt: skip
    return isinstance(task, kinds.get(name, ())) or (isinstance(task, Ordering | ListQuestion) and task.ask == name)
