"""What the page of ARENA's monthly problems begins with."""

from modinterp.sources.story import Story

STORY = Story(
    sentences=(
        "ARENA sets a small transformer as a puzzle each month; trained again from its recipe and seed, that of November has "
        "a singular value of {reproduction[largest singular value of W_E W_V W_O]:.2f}, where the authors' has 22.01.",
        "It says whether the numbers so far add up to less than zero, zero or more. Its head attends to all of them alike, with "
        "no weight off by more than "
        "{cumsum.uniform[largest deviation from uniform attention, as a share]:.2%}; this {cumsum.uniform}.",
        "So it has the mean of the numbers along one direction (correlation "
        "{cumsum.mean[correlation with the mean]:.4f}), and not their sum "
        "({cumsum.mean[correlation with the sum]:.2f}); this {cumsum.mean}.",
        "Without neurons it is right for {cumsum.near_zero[accuracy without neurons, mean below a quarter]:.0%} of the small "
        "means, and for {cumsum.near_zero[accuracy without neurons, mean beyond 1]:.0%} of the large ones; this "
        "{cumsum.near_zero}.",
        "That of October sorts ten numbers with two heads that share them ({sort.copies[numbers copied by a head]:.0f} of 51 are "
        "copied by a head); a number attends most to the next in "
        "{sort.next_larger[share of queries that attend most to the next number, either head]:.0%} of the cases; this "
        "{sort.next_larger}.",
    ),
    figures=("cumsum_line", "cumsum_mean", "sort_copies"),
)
