"""Define the opening sentences of the page on ARENA's monthly problems."""

from modinterp.sources.story import Story

STORY = Story(
    sentences=(
        "ARENA publishes a small transformer each month as a puzzle. We trained the network of ARENA's "
        "November puzzle again from the authors' recipe and seed. The largest singular value of the "
        "November head's matrix W_E W_V W_O is {reproduction[largest singular value of W_E W_V W_O]:.2f} in"
        " our network, and 22.01 in the authors' network.",
        (
            "The November network says whether the numbers so far add up to less than zero, zero or more. The "
            "head of the November network attends to all numbers equally, with no attention weight off by more "
            "than {cumsum.uniform[largest deviation from uniform attention, as a share]:.2%}; this statement "
            "{cumsum.uniform}."
        ),
        "The November network's head writes the mean of the numbers along one direction "
        "(correlation {cumsum.mean[correlation with the mean]:.4f}), and not the sum "
        "({cumsum.mean[correlation with the sum]:.2f}); this statement {cumsum.mean}.",
        (
            "The October network sorts ten numbers with two heads, which copy {sort.copies[numbers copied by a "
            "head]:.0f} of 51 numbers. A number attends most to the next larger number in "
            "{sort.next_larger[share of queries that attend most to the next number, either head]:.0%} of the "
            "cases; this statement {sort.next_larger}."
        ),
        (
            "The September network adds two numbers of four digits. Digits lie on a circle. Rotating both "
            "digits by half a step, to angles without a digit, raises the sum by one in "
            "{sum.half_turn[digit_half_turn]:.0%} of the cases; this statement {sum.half_turn}. Digits whose "
            "carry came through a column of nine are right in {sum.through_nines[accuracy_through_nines]:.1%} "
            "of the cases; this statement {sum.through_nines}."
        ),
    ),
    figures=("cumsum_line", "sort_copies", "sum_agreement"),
)
