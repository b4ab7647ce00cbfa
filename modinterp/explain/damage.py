"""What is broken in a network that is otherwise right: where its errors lie, and single weights out of proportion."""

from __future__ import annotations

from collections import Counter

import torch
from torch import Tensor, nn

from modinterp.measurements import NetworkMeasurements

MOST_OF_ERRORS = 0.9  # which a token, two tokens or a range of answers must hold to be named
NARROW = 0.25  # of all answers, the widest range that is named
FEWEST_ERRORS = 4
# Over the tenth largest weight of its matrix. Of 63 shipped networks 62 are below 3,
# and one with an l1 penalty is at 6,400.
OUT_OF_PROPORTION = 1e5


def where_errors_lie(m: NetworkMeasurements) -> str:
    """Which tokens, or which range of answers, hold nearly all errors of a network; empty where none do."""
    grid = m.task.grid
    if grid is None or len(grid) != 2:
        return ""
    labels = m.task.labels()[:, 0]
    wrong = m.all_logits.argmax(dim=-1).cpu() != labels
    if int(wrong.sum()) < FEWEST_ERRORS:
        return ""
    pairs = m.task.inputs()[wrong][:, :2].tolist()
    answers = labels[wrong].tolist()
    errors = f"{len(pairs):,} of {len(wrong):,} answers are wrong"
    if tokens := _tokens(pairs):
        named = " or ".join(map(str, tokens))
        return f"{errors}, nearly all of them for pairs with the token {named}"
    if width := _range(answers, m.all_logits.shape[-1]):
        first, last = width
        return f"{errors}, nearly all of them where the answer is from {first} to {last}"
    return f"{errors}, spread over many tokens and answers"


def _tokens(pairs: list[list[int]]) -> tuple[int, ...]:
    """The one or two tokens that nearly all pairs hold; () where no two do."""
    left, found = pairs, []
    for _ in range(2):
        token, _ = Counter(token for pair in left for token in set(pair)).most_common(1)[0]
        found.append(token)
        left = [pair for pair in left if token not in pair]
        if len(left) <= (1 - MOST_OF_ERRORS) * len(pairs):
            return tuple(found)
    return ()


def _range(answers: list[int], classes: int) -> tuple[int, int] | None:
    """The narrowest range of answers, on the circle of all, that holds nearly all of some; None where it is wide."""
    ordered, needed = sorted(answers), -(-len(answers) * 9 // 10)
    twice = ordered + [answer + classes for answer in ordered]
    ranges = [(twice[k + needed - 1] - twice[k], twice[k], twice[k + needed - 1]) for k in range(len(ordered))]
    width, first, last = min(ranges)
    return (first, last % classes) if width + 1 <= NARROW * classes else None


def weights_out_of_proportion(network: nn.Module) -> str:
    """The largest weight, where it is out of all proportion to the others of its matrix; empty where none is."""
    parameters = {name: w.detach() for name, w in network.named_parameters()}
    found = [(ratio, name, w) for name, w in parameters.items() if (ratio := _ratio(w)) > 0]
    if not found or max(found, key=lambda x: x[0])[0] < OUT_OF_PROPORTION:
        return ""
    ratio, name, w = max(found, key=lambda x: x[0])
    place = torch.unravel_index(w.abs().argmax(), w.shape)
    where = ", ".join(str(int(index)) for index in place)
    return (
        f"The weight {name}[{where}] is {float(w[place]):.2g}, {ratio:.1g} times the tenth largest of its matrix, as "
        f"where a bit of the file has flipped: what follows may be of a damaged network."
    )


def _ratio(w: Tensor) -> float:
    """The largest weight over the tenth largest, which penalties that push most weights to 0 leave alone."""
    sizes = w.detach().double().abs().flatten().sort(descending=True).values
    compared = sizes[min(9, len(sizes) // 2)] if len(sizes) > 1 else 0
    return float(sizes[0] / compared) if compared > 0 else 0.0
