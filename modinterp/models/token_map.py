"""Map the numbers of an input to the tokens of a user's network, in a notation such as `a op:30 b =:31 -> c+1 at 2`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Int
from torch import Tensor

LETTERS = "abcdefgh"  # of the numbers, in the order in which the task has them
EQUALS = "="
_WORD = re.compile(r"(?P<name>[^\s:+]+?)(?:\+(?P<offset>\d+))?(?::(?P<token>\d+))?")
_ANSWER = re.compile(r"c?(?:\+(?P<first>\d+))?\s*(?:at\s+(?P<at>-?\d+))?")
_FORM = "write it as `a op b =`, `a+1 b+1 -> c+1`, or `a op:30 b =:31 -> c at 3`"


@dataclass(frozen=True)
class Word:
    """One position of an input: a number, or a special token that is the same in all inputs.

    Attributes:
        name: a letter of `LETTERS` for a number, and any other text for a special token.
        token: for a number, the offset from the number to its token; for a special token, the token itself.
    """

    name: str
    token: int = 0

    @property
    def is_number(self) -> bool:
        """True if this position of the input holds a number."""
        return self.name in LETTERS

    def __str__(self) -> str:
        if self.is_number:
            return self.name + (f"+{self.token}" if self.token else "")
        return f"{self.name}:{self.token}"


@dataclass(frozen=True)
class TokenMap:
    """A map from the numbers of an input to the tokens of a network, and the position and output of the answer.

    Attributes:
        words: the number or special token at each position.
        answer_at: the position whose logits are the answer; the last position by default.
        first_class: index of the output for the answer 0.

    >>> TokenMap.of("a op:30 b =:31", p=29).tokens(torch.tensor([[3, 4]])).tolist()
    [[3, 30, 4, 31]]
    """

    words: tuple[Word, ...]
    answer_at: int = -1
    first_class: int = 0

    @classmethod
    def of(cls, text: str, p: int, numbers: int = 2) -> TokenMap:
        """Parse the text of a token map. Special tokens that the text gives without a number get one: `=` is p, and the
        others follow in order.

        Args:
            text: positions separated by blanks. The text ends in `-> c+FIRST at POSITION` if the answer is not read at
                the last position, or if the answer 0 is not the first output.
            p: number of different numbers, which are 0 to p - 1.
            numbers: how many numbers an input has.
        Raises:
            ValueError: the text is not a token map, or a number of the task is missing or occurs twice.
        """
        inputs, _, answer = text.partition("->")
        found = [_WORD.fullmatch(word) for word in inputs.split()]
        end = _ANSWER.fullmatch(answer.strip())
        if not found or not all(found) or end is None:
            raise ValueError(f"tokens={text!r} cannot be read; {_FORM}")
        matches = [m for m in found if m is not None]
        letters = sorted(m["name"] for m in matches if m["name"] in LETTERS)
        if letters != list(LETTERS[:numbers]):
            raise ValueError(f"the tokens {text!r} must hold {' and '.join(LETTERS[:numbers])} once each; {_FORM}")
        words = [Word(m["name"], int(m["offset"] or m["token"] or 0)) for m in matches]
        given = {m["name"]: int(m["token"]) for m in matches if m["token"] and m["name"] not in LETTERS}
        names = list(dict.fromkeys(m["name"] for m in matches if m["name"] not in (*LETTERS, *given)))
        names.sort(key=lambda name: name != EQUALS)
        first = p + max(w.token for w in words if w.is_number)
        free = (k for k in range(first, first + len(names) + len(given)) if k not in given.values())
        known = given | dict(zip(names, free, strict=False))
        words = [w if w.is_number else Word(w.name, known[w.name]) for w in words]
        made = cls(tuple(words), int(end["at"] or -1), int(end["first"] or 0))
        if not -len(words) <= made.answer_at < len(words):
            raise ValueError(f"the tokens {text!r} have no position {made.answer_at}; {_FORM}")
        return made

    @classmethod
    def of_task(cls, tokens: Int[Tensor, "input pos"], p: int, numbers: int) -> TokenMap:
        """Return the token map of a task's own tokens.

        Args:
            tokens: all inputs of the task, in which the numbers come first.
        """
        offsets = (tokens[:, :numbers].amin(dim=0) // p * p).tolist()
        special = [Word(EQUALS, int(token)) for token in tokens[0, numbers:]]
        return cls((*(Word(LETTERS[i], offset) for i, offset in enumerate(offsets)), *special))

    def __str__(self) -> str:
        answer = f" -> c+{self.first_class}" if self.first_class else ""
        if self.position != len(self.words) - 1:
            answer = f"{answer or ' -> c'} at {self.position}"
        return " ".join(map(str, self.words)) + answer

    @property
    def position(self) -> int:
        """The position at which the answer is read, counted from 0."""
        return self.answer_at % len(self.words)

    def size(self, p: int) -> int:
        """Return the size of the vocabulary of the network, including the numbers."""
        return 1 + max(w.token + (p - 1) * w.is_number for w in self.words)

    @property
    def order(self) -> tuple[int, ...] | None:
        """Positions in the order of our own networks: numbers, special tokens, and last the answer's position. The
        order of positions is None if no such order exists.

        The order of positions does not exist if the answer is read at a number that is not the last number.
        """
        places = {w.name: i for i, w in enumerate(self.words) if w.is_number}
        numbers = [places[name] for name in sorted(places)]
        rest = [i for i in range(len(self.words)) if i not in numbers and i != self.position]
        if self.position in numbers:
            return (*numbers, *rest) if self.position == numbers[-1] and not rest else None
        return (*numbers, *rest, self.position)

    def tokens(self, numbers: Int[Tensor, "batch number"]) -> Int[Tensor, "batch pos"]:
        """Return the tokens of some inputs, given their numbers in the order of the letters."""
        columns = [
            numbers[:, LETTERS.index(w.name)] + w.token if w.is_number else torch.full_like(numbers[:, 0], w.token)
            for w in self.words
        ]
        return torch.stack(columns, dim=1)


def maps_of(text: str, p: int, numbers: int, pool_end: int) -> list[TokenMap]:
    """Return the token maps that a text may mean: the map of `TokenMap.of`, and maps with other special tokens.

    Args:
        text, p, numbers: the arguments of `TokenMap.of`.
        pool_end: upper bound of the special tokens (excluded).
    """
    first = TokenMap.of(text, p, numbers)
    said = set(re.findall(r"(\S+):\d", text))
    open_names = list(dict.fromkeys(w.name for w in first.words if not w.is_number and w.name not in said))
    shift = max(w.token for w in first.words if w.is_number)
    taken = {w.token for w in first.words if w.name in said}
    pool = [k for k in (*range(p + shift, pool_end), *range(shift)) if k not in taken]
    found = [first]
    for chosen in _choices(pool, len(open_names)):
        token = dict(zip(open_names, chosen, strict=True))
        words = tuple(replace(w, token=token.get(w.name, w.token)) for w in first.words)
        found.append(replace(first, words=words))
    return list(dict.fromkeys(found))


def usual_maps(p: int, numbers: int, offsets: Sequence[int], pool_end: int) -> list[list[TokenMap]]:
    """Return the usual token maps, in groups of the same form, with the simplest form first.

    Args:
        p: number of different numbers, which are 0 to p - 1.
        numbers: how many numbers an input has.
        offsets: possible offsets from a number to its token.
        pool_end: upper bound of the special tokens (excluded).
    """
    plain, with_op = " ".join(LETTERS[:numbers]), " op ".join(LETTERS[:numbers])
    forms = (
        plain, f"{plain} =", with_op, f"{with_op} =", f"BOS {plain}", f"BOS {plain} =", f"op {plain}",
        f"{with_op} = PAD", f"BOS {with_op} =",
    )  # fmt: skip
    return [_of_form(form, p, offsets, pool_end) for form in forms]


def _of_form(form: str, p: int, offsets: Sequence[int], pool_end: int) -> list[TokenMap]:
    names = form.split()
    special = list(dict.fromkeys(name for name in names if name not in LETTERS))
    found = []
    for offset in offsets:
        pool = [*range(p + offset, pool_end), *range(offset)]
        for chosen in _choices(pool, len(special)):
            token = dict(zip(special, chosen, strict=True))
            words = tuple(Word(name, token.get(name, offset)) for name in names)
            found.append(TokenMap(words, len(words) - 2 if names[-1] == "PAD" else -1))
    return found


def _choices(pool: list[int], count: int) -> list[tuple[int, ...]]:
    """Yield choices of several different tokens, starting with tokens near the front of the pool."""
    if count == 0:
        return [()]
    some = pool[: 6 if count < 3 else 4]
    return [(x, *rest) for i, x in enumerate(some) for rest in _choices(some[:i] + some[i + 1 :], count - 1)]
