"""Define tasks on sequences: sums of long numbers, repeated subsequences, and skip trigrams.

Source: Nanda et al. 2023, appendix D.3. We made the choices that Nanda et al. and their released code leave open;
comments mark these choices.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from modinterp.arguments import Limits, check_fields
from modinterp.tasks.carries import Columns, columns
from modinterp.tasks.sampled import SampledTask
from modinterp.tasks.task import Examples

PLUS, EQUALS = 10, 11


@dataclass(frozen=True)
class DigitAddition(SampledTask):
    """The task of adding long numbers, as in `1 2 3 4 5 + 6 7 8 9 0 = 0 8 0 2 3 5`; each digit is read at the preceding
    token.

    The most significant digit of a number comes first. The last digit of the answer is predicted and not fed in, so a
    sequence has 17 tokens for five digits. (The released code feeds in all 18 tokens and drops the logits of the last
    token.)

    Attributes:
        digits: number of decimal digits of each summand; at most 17, so that a sum fits into 64 bits.

    >>> task = DigitAddition(digits=2)
    >>> task.n_ctx, task.n_read, task.output_names
    (8, 3, ('digit_0', 'digit_1', 'digit_2'))
    """

    digits: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, digits=Limits(1, 17))

    @property
    def name(self) -> str:
        return f"sum of two numbers of {self.digits} digits"

    @property
    def d_vocab(self) -> int:
        return 12

    @property
    def d_vocab_out(self) -> int:
        return 10

    @property
    def n_read(self) -> int:
        return self.digits + 1

    @property
    def n_ctx(self) -> int:
        return 3 * self.digits + 2

    @property
    def output_names(self) -> tuple[str, ...]:
        return tuple(f"digit_{place}" for place in range(self.n_read))

    @property
    def position_names(self) -> tuple[str, ...]:
        numbers = [tuple(f"{name}{place}" for place in range(1, self.digits + 1)) for name in "abc"]
        return (*numbers[0], "+", *numbers[1], "=", "c0", *numbers[2][:-1])

    def columns(self, inputs: Int[Tensor, "input pos"]) -> Columns:
        """Return the columns of the sums, one for each digit of the answer."""
        return columns(inputs[:, : self.digits], inputs[:, self.digits + 1 : 2 * self.digits + 1], is_longer=True)

    def kinds(self, inputs: Int[Tensor, "input pos"]) -> dict[str, Int[Tensor, "input *answer"]]:
        """Return the number of carries in each sum, and the number of columns that each carry passed."""
        found = self.columns(inputs)
        return {"carries": found.carry.sum(dim=1), "columns that the carry came through": found.crossed}

    def _digits(self, numbers: Int[Tensor, " input"], count: int) -> Int[Tensor, "input digit"]:
        return numbers.unsqueeze(1) // 10 ** torch.arange(count - 1, -1, -1) % 10

    def draw(self, n: int, generator: torch.Generator) -> Examples:
        a, b = torch.randint(10**self.digits, (2, n), generator=generator)
        plus, equals, answer = torch.full((n, 1), PLUS), torch.full((n, 1), EQUALS), self._digits(a + b, self.n_read)
        question = [self._digits(a, self.digits), plus, self._digits(b, self.digits), equals]
        return Examples(torch.cat([*question, answer[:, :-1]], dim=1), answer)


@dataclass(frozen=True)
class RepeatedSubsequence(SampledTask):
    """The task of predicting the repetitions of a random subsequence that occurs several times among random tokens.

    A position has a label, the next token, if this token continues a copy of the subsequence after the first copy. The
    paper does not state the positions of the copies; we place them anywhere, without overlap, with any tokens in
    between.

    Attributes:
        vocab: number of tokens in the vocabulary.
        length: number of tokens in a sequence; the last token is predicted and not fed in.
        subsequence: number of tokens in the repeated subsequence.
        copies: number of copies of the subsequence in a sequence, including the first copy.
    """

    vocab: int = 128
    length: int = 85
    subsequence: int = 16
    copies: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        few, length = Limits(2, 2**16), Limits(2, 2**12)
        check_fields(self, vocab=few, length=length, subsequence=length, copies=length)
        if self.subsequence * self.copies > self.length:
            raise ValueError(f"{self.copies} copies of {self.subsequence} tokens do not fit into {self.length}")

    @property
    def name(self) -> str:
        return f"{self.subsequence} tokens {self.copies} times among {self.length}"

    @property
    def d_vocab(self) -> int:
        return self.vocab

    @property
    def d_vocab_out(self) -> int:
        return self.vocab

    @property
    def n_ctx(self) -> int:
        return self.length - 1

    @property
    def n_read(self) -> int:
        return self.n_ctx

    @property
    def n_asked(self) -> int:
        return (self.copies - 1) * (self.subsequence - 1)

    def draw(self, n: int, generator: torch.Generator) -> Examples:
        tokens = torch.randint(self.vocab, (n, self.length), generator=generator)
        repeated = torch.randint(self.vocab, (n, self.subsequence), generator=generator)
        between = self.length - self.subsequence * self.copies
        gaps = torch.randint(between + 1, (n, self.copies), generator=generator).sort(dim=1).values
        starts = gaps + self.subsequence * torch.arange(self.copies)
        places = starts.unsqueeze(2) + torch.arange(self.subsequence)
        tokens.scatter_(1, places.flatten(1), repeated.repeat(1, self.copies))
        labels, predictable = torch.full_like(tokens, -1), places[:, 1:, 1:].flatten(1)
        labels.scatter_(1, predictable, tokens.gather(1, predictable))
        return Examples(tokens[:, :-1], labels[:, 1:])


@dataclass(frozen=True)
class SkipTrigram(SampledTask):
    """The task of finding, in a sequence of digits, the only token that is not a digit; the answer is read at the end.

    The paper does not state the position of the answer token and the length of the sequence; we choose any position
    except the end.

    Attributes:
        length: number of tokens in a sequence.
        trigrams: number of tokens that can be the answer; the same number of other tokens are digits.
    """

    length: int = 8
    trigrams: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, length=Limits(2, 2**12), trigrams=Limits(2, 2**12))

    @property
    def name(self) -> str:
        return f"{self.trigrams} skip trigrams over {self.length} tokens"

    @property
    def d_vocab(self) -> int:
        return 2 * self.trigrams

    @property
    def d_vocab_out(self) -> int:
        return self.trigrams

    @property
    def n_ctx(self) -> int:
        return self.length

    def draw(self, n: int, generator: torch.Generator) -> Examples:
        tokens = torch.randint(self.trigrams, (n, self.length), generator=generator)
        place = torch.randint(self.length - 1, (n, 1), generator=generator)
        answer = torch.randint(self.trigrams, (n, 1), generator=generator)
        return Examples(tokens.scatter(1, place, answer + self.trigrams), answer)
