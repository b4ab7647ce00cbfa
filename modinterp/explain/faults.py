"""Find faults in a mostly correct network: where its errors lie, and single weights that are far too large."""

from __future__ import annotations

from collections import Counter

import torch
from torch import Tensor, nn

from modinterp.measurements import NetworkMeasurements

MOST_OF_ERRORS = 0.9  # which some tokens, answers or a range of answers must hold to be named
MOST_NAMED = 4  # tokens or answers
NARROW = 0.25  # of all answers, the widest range that is named
FEWEST_ERRORS = 4
# The largest weight of a matrix over the second largest, or over the tenth. In 63 shipped networks the first is at most
# 1.5 and the second 3; one with an l1 penalty has 86 and 6,400.
OUT_OF_PROPORTION, OF_SEVERAL = 200, 1e5


def where_errors_lie(m: NetworkMeasurements) -> str:
    """Return a text that names the tokens or the range of answers with nearly all errors of a network; empty if errors
    are spread.
    """
    grid = m.task.grid
    if grid is None or len(grid) != 2:
        return ""
    labels = m.task.labels()[:, 0]
    wrong = m.given.cpu() != labels
    if int(wrong.sum()) < FEWEST_ERRORS:
        return ""
    pairs = m.task.inputs()[wrong][:, :2].tolist()
    answers = labels[wrong].tolist()
    errors = f"{len(pairs):,} of {len(wrong):,} answers are wrong"
    most = min(MOST_NAMED, max(2, grid[0] // 10))  # of few tokens a few hold most pairs, whatever is wrong
    if tokens := _few(pairs, most):
        return f"{errors}, nearly all of them for pairs with the token {_listed(tokens)}"
    said = _few([[answer] for answer in answers], most)
    if 0 < len(said) <= 2:
        return f"{errors}, nearly all of them where the answer is {_listed(said)}"
    if width := _range(answers, m.all_logits.shape[-1]):
        first, last = width
        return f"{errors}, nearly all of them where the answer is from {first} to {last}"
    if said:
        return f"{errors}, nearly all of them where the answer is {_listed(said)}"
    return f"{errors}, spread over many tokens and answers"


def _listed(numbers: tuple[int, ...]) -> str:
    *before, last = map(str, numbers)
    return f"{', '.join(before)} or {last}" if before else last


def _few(errors: list[list[int]], most: int) -> tuple[int, ...]:
    """Return the smallest set of numbers such that nearly all wrong pairs contain one; () if it has more than `most`
    numbers.
    """
    left, found = errors, []
    for _ in range(most):
        number, _ = Counter(number for error in left for number in set(error)).most_common(1)[0]
        found.append(number)
        left = [error for error in left if number not in error]
        if len(left) <= (1 - MOST_OF_ERRORS) * len(errors):
            return tuple(sorted(found))
    return ()


def _range(answers: list[int], classes: int) -> tuple[int, int] | None:
    """Return the narrowest cyclic range mod `classes` that holds nearly all of `answers`; None if the range is wide."""
    ordered, needed = sorted(answers), -(-len(answers) * 9 // 10)
    twice = ordered + [answer + classes for answer in ordered]
    ranges = [(twice[k + needed - 1] - twice[k], twice[k], twice[k + needed - 1]) for k in range(len(ordered))]
    width, first, last = min(ranges)
    return (first, last % classes) if width + 1 <= NARROW * classes else None


def weights_out_of_proportion(network: nn.Module) -> str:
    """Return text that names the largest weight of a matrix if it far exceeds all others; otherwise empty."""
    parameters = {name: w.detach() for name, w in network.named_parameters()}
    found = [(size, of, name, w) for name, w in parameters.items() for size, of in [_proportion(w)] if of]
    if not found:
        return ""
    ratio, of, name, w = max(found, key=lambda x: x[0])
    place = torch.unravel_index(w.abs().argmax(), w.shape)
    where = ", ".join(str(int(index)) for index in place)
    return (
        f"The weight {name}[{where}] is {float(w[place]):.2g}, {ratio:.1g} times the {of} largest of its "
        "matrix, which suggests a flipped bit in the file: the results below may come from a damaged "
        "network."
    )


def _proportion(w: Tensor) -> tuple[float, str]:
    """Return the ratio of the largest weight to the second or tenth largest, and the name of the latter, if the ratio
    is large.
    """
    sizes = w.detach().double().abs().flatten().sort(descending=True).values
    for rank, name, least in ((1, "second", OUT_OF_PROPORTION), (9, "tenth", OF_SEVERAL)):
        if len(sizes) > 2 * rank and sizes[rank] > 0 and float(sizes[0] / sizes[rank]) >= least:
            return float(sizes[0] / sizes[rank]), name
    return 0.0, ""
