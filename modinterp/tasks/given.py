"""Define a task by a list of inputs and answers."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from jaxtyping import Int
from torch import Tensor

from modinterp.tasks.task import Examples, Task


@dataclass(frozen=True, eq=False)
class GivenInputs(Task):
    """A task given by your own inputs and answers, for `explain` and `measure` if no task of modinterp fits.

    A task of given inputs cannot be trained or written to files.

    Attributes:
        tokens: tokens of each input.
        right: right answers at the last positions of each input, one column per position; -1 for no answer.
        d_vocab: number of tokens in the vocabulary.
        d_vocab_out: number of outputs of the network.

    >>> task = GivenInputs.of([[4, 9, 3], [7, 1, 2]], [9, 7], d_vocab=10)
    >>> task.n_ctx, task.read_positions, task.d_vocab_out
    (3, (2,), 10)
    """

    tokens: Int[Tensor, "input pos"] = field(repr=False)
    right: Int[Tensor, "input answer"] = field(repr=False)
    d_vocab: int = 0  # pyright: ignore[reportIncompatibleMethodOverride]
    d_vocab_out: int = 0  # pyright: ignore[reportIncompatibleMethodOverride]

    @classmethod
    def of(
        cls, inputs: object, answers: object, d_vocab: int | None = None, d_vocab_out: int | None = None
    ) -> GivenInputs:
        """Build a task from inputs and answers as tensors, arrays or lists.

        Args:
            inputs: tokens `[input, pos]`, numbered from 0.
            answers: answers `[input]`, read at the last position, or `[input, answer]`, read at the last positions.
            d_vocab: number of tokens in the vocabulary; by default one more than the largest token.
            d_vocab_out: number of outputs; by default one more than the largest answer.
        Raises:
            ValueError: a shape is wrong, a value is not an integer, or a token is outside the vocabulary.
        """
        tokens, right = torch.as_tensor(inputs), torch.as_tensor(answers)
        right = right.unsqueeze(1) if right.ndim == 1 else right
        is_whole = all(x.ndim == 2 and not x.is_floating_point() and x.numel() for x in (tokens, right))
        if not is_whole or len(tokens) != len(right):
            raise ValueError(
                "inputs must be whole numbers [input, pos] and answers [input] or [input, answer], with "
                f"equally many inputs and answers, got {list(tokens.shape)} and {list(right.shape)}"
            )
        if right.shape[1] > tokens.shape[1]:
            raise ValueError(
                f"inputs have {tokens.shape[1]} tokens, which is fewer than the {right.shape[1]} answers for each input"
            )
        known, outputs = d_vocab or int(tokens.max()) + 1, d_vocab_out or int(right.max()) + 1
        if int(tokens.min()) < 0 or int(tokens.max()) >= known or int(right.min()) < -1 or int(right.max()) >= outputs:
            raise ValueError(
                f"tokens must lie from 0 to {known - 1}, and answers from 0 to {outputs - 1}; an answer of "
                "-1 means no answer"
            )
        return cls(tokens.long(), right.long(), known, outputs)

    @property
    def name(self) -> str:
        return f"{len(self.tokens):,} inputs given by the user"

    @property
    def n_ctx(self) -> int:
        return self.tokens.shape[1]

    @property
    def n_read(self) -> int:
        return self.right.shape[1]

    @property
    def grid(self) -> None:
        return None

    def inputs(self) -> Int[Tensor, "input pos"]:
        return self.tokens

    def labels(self) -> Int[Tensor, "input output"]:
        return self.right

    def fresh(self, n: int, seed: int) -> Examples:
        """Return up to `n` of the inputs in random order, without repetition."""
        rows = torch.randperm(len(self.tokens), generator=torch.Generator().manual_seed(seed))[:n]
        return Examples(self.tokens[rows], self.right[rows])
