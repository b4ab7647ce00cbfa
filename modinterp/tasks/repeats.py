"""Define tasks about repeated tokens: palindromes, and the first letter that occurs only once."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Int
from torch import Tensor

from modinterp.arguments import Limits, check_fields
from modinterp.tasks.streams import StreamTask
from modinterp.tasks.task import Examples


@dataclass(frozen=True, kw_only=True)
class Palindromes(StreamTask):
    """The task of deciding whether the second half of `START 3 1 1 3 END` mirrors the first half, read at END.

    Half of the inputs are palindromes. In other inputs, each position of the second half is redrawn with probability
    one half, so some of these inputs remain palindromes.

    Attributes:
        half: number of tokens in each half.
        limit: the tokens lie from 0 to limit - 1; START and END are the next two.

    >>> Palindromes(half=2, limit=5).examples(torch.tensor([[3, 1, 1, 3], [3, 1, 1, 4]]))
    Examples(inputs=tensor([[5, 3, 1, 1, 3, 6],
            [5, 3, 1, 1, 4, 6]]), labels=tensor([[1],
            [0]]))
    """

    half: int = 10
    limit: int = 31

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, half=Limits(1, 1024), limit=Limits(2, 2**20))
        if self.size % 2 or self.held_out % 2:
            raise ValueError(
                f"half of the inputs are palindromes, so both numbers of inputs must be even; got {self.size} "
                f"and {self.held_out}"
            )

    name = property(lambda self: f"palindromes of {2 * self.half} tokens below {self.limit}")
    d_vocab = property(lambda self: self.limit + 2)
    d_vocab_out = property(lambda self: 2)
    n_ctx = property(lambda self: 2 * self.half + 2)

    @property
    def read_positions(self) -> tuple[int, ...]:
        return (self.n_ctx - 1,)

    def kinds(self, inputs: Int[Tensor, "input pos"]) -> dict[str, Int[Tensor, "input *answer"]]:
        """Return how many pairs of mirrored tokens are unequal."""
        first, second = inputs[:, 1 : self.half + 1], inputs[:, self.half + 1 : -1].flip(-1)
        return {"unequal pairs": (first != second).sum(dim=1)}

    def draw(self, n: int, generator: torch.Generator) -> Examples:
        def half() -> Tensor:
            return torch.randint(0, self.limit, (n // 2, self.half), generator=generator)

        first, other = half(), half()
        is_redrawn = torch.randint(0, 2, (n // 2, self.half), generator=generator).bool()
        others = torch.cat([first, torch.where(is_redrawn, other, first.flip(-1))], dim=1)
        first = half()
        rows = torch.cat([torch.cat([first, first.flip(-1)], dim=1), others])
        return self.examples(rows[torch.randperm(len(rows), generator=generator)])

    def examples(self, tokens: Int[Tensor, "input token"]) -> Examples:
        """Build inputs from tokens without START and END, with the answer 1 for a palindrome and 0 otherwise."""
        answers = (tokens == tokens.flip(-1)).all(dim=-1, keepdim=True).long()
        inputs = F.pad(F.pad(tokens, (1, 0), value=self.limit), (0, 1), value=self.limit + 1)
        return Examples(inputs, answers)


@dataclass(frozen=True, kw_only=True)
class FirstUnique(StreamTask):
    """The task of finding, at every position of `? a b a c`, the first letter that has occurred only once so far, or
    `?`.

    Attributes:
        n: number of tokens, including the first token `?`.
        letters: number of letters, from 0; `?` is the next token.

    >>> FirstUnique(n=5, letters=3).examples(torch.tensor([[0, 1, 0, 1]]))
    Examples(inputs=tensor([[3, 0, 1, 0, 1]]), labels=tensor([[3, 0, 0, 1, 3]]))
    """

    n: int = 20
    letters: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, n=Limits(2, 2**12), letters=Limits(1, 2**12))

    name = property(lambda self: f"first unique of {self.letters} letters")
    d_vocab = property(lambda self: self.letters + 1)
    d_vocab_out = property(lambda self: self.letters + 1)
    n_ctx = property(lambda self: self.n)

    @property
    def read_positions(self) -> tuple[int, ...]:
        return tuple(range(self.n))

    def draw(self, n: int, generator: torch.Generator) -> Examples:
        return self.examples(torch.randint(0, self.letters, (n, self.n - 1), generator=generator))

    def examples(self, letters: Int[Tensor, "input letter"]) -> Examples:
        """Build inputs from letters, with the right answer at every position."""
        inputs = F.pad(letters, (1, 0), value=self.letters)
        n, never = inputs.shape[1], inputs.shape[1]
        stands = F.one_hot(inputs, self.letters + 1)[..., : self.letters]
        first = torch.where(stands.bool(), torch.arange(n).view(1, n, 1), never).cummin(dim=1).values
        since = torch.where(stands.cumsum(dim=1) == 1, first, never)
        earliest, letter = since.min(dim=-1)
        return Examples(inputs, torch.where(earliest < never, letter, self.letters))
