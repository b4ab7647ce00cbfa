from __future__ import annotations

import math

import pytest
import torch

from modinterp.tasks import PrimeRemainders, primes_below


def test_twenty_nine_primes_and_1480_classes() -> None:
    task = PrimeRemainders(113)
    assert len(task.output_sizes) == 29
    assert (task.output_sizes[0], task.output_sizes[-1], sum(task.output_sizes)) == (2, 109, 1480)
    assert primes_below(2) == ()


def test_labels_by_their_definition_in_either_order_of_the_digits() -> None:
    for most_significant_first in (False, True):
        task = PrimeRemainders(13, most_significant_first)
        for (first, second, equals), label, number in zip(task.inputs(), task.labels(), task.numbers(), strict=True):
            n = int(first * 13 + second if most_significant_first else first + 13 * second)
            assert equals == 13
            assert number == n
            assert label.tolist() == [n % q for q in (2, 3, 5, 7, 11)]


def test_shuffling_permutes_whole_rows_once() -> None:
    plain, shuffled = PrimeRemainders(23).labels(), PrimeRemainders(23, shuffled=True).labels()
    assert not torch.equal(plain, shuffled)
    assert sorted(plain.tolist()) == sorted(shuffled.tolist())
    assert torch.equal(shuffled, PrimeRemainders(23, shuffled=True).labels())


def test_weights_are_those_of_the_paper_and_masked_primes_weigh_nothing() -> None:
    task = PrimeRemainders(11, masked=(2, 5))
    assert task.loss_weights == pytest.approx([0, 1 / math.log(3) / 4, 0, 1 / math.log(7) / 4])
    assert task.output_names == ("mod_2", "mod_3", "mod_5", "mod_7")


@pytest.mark.parametrize("p", [0, 2, 12, True])
def test_bases_that_are_no_odd_primes_are_refused(p: int) -> None:
    with pytest.raises(ValueError, match="p must be a prime of at least 3|p must be a whole number in"):
        PrimeRemainders(p)


def test_masking_what_is_not_asked_is_refused() -> None:
    with pytest.raises(ValueError, match=r"masked must hold primes below 11, got \[4\]"):
        PrimeRemainders(11, masked=(4,))
