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
        "That of October sorts ten numbers with two heads that share them ({sort.copies[numbers copied by a head]:.0f} of 51 are "
        "copied by a head); a number attends most to the next in "
        "{sort.next_larger[share of queries that attend most to the next number, either head]:.0%} of the cases; this "
        "{sort.next_larger}.",
        "That of September adds two numbers of four digits. With both digits turned half a step, where no digit stands, the sum "
        "moves by one in {sum.half_turn[digit_half_turn]:.0%} of the cases; this {sum.half_turn}. A carry that came through a "
        "column of nine is right in {sum.through_nines[accuracy_through_nines]:.1%} of the cases; this {sum.through_nines}.",
    ),
    figures=("cumsum_line", "sort_copies", "sum_agreement"),
)
