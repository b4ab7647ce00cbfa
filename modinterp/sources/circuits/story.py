"""What the page of the report "Circuit engineering" begins with."""

from modinterp.sources.story import Story

STORY = Story(
    sentences=(
        "The report trains small transformers to add, to find the largest and the middle one of five numbers, and to "
        "sort. The network for the largest number has an accuracy of {max.loss[accuracy]:.2%}; this {max.loss}.",
        "To find it all heads attend to the largest number: where it leads by a tenth of the range or more, the worst"
        " head gives it {max.exclusive_attention[mass on the largest, worst head, gap of a tenth]:.0%} of its "
        "attention; this {max.exclusive_attention}.",
        "They find it because the score of a number is a straight line in the number (the report: {max.qk_linear!s})."
        " The line explains {max.qk_linear[R squared, worst head]:.0%} of the scores or more; this {max.qk_linear}.",
        "The heads copy the number that they attend to: {max.ov_copy[large numbers copied]:.0%} of the numbers from "
        "20 on; this {max.ov_copy}.",
        "Straight lines and a copy, in place of the network, are right for {max.algorithm[idealised, wide gap]:.1%} "
        "of the inputs whose largest number leads; this {max.algorithm}.",
    ),
    figures=("scores", "copying", "idealised"),
)
