"""Define the opening sentences of the page on the report "Circuit engineering"."""

from modinterp.sources.story import Story

STORY = Story(
    sentences=(
        "The report trains small transformers to add, to find the largest and the middle one of five "
        "numbers, and to sort. The network for the largest number has an accuracy of "
        "{max.loss[accuracy]:.2%}; the claim {max.loss}.",
        "All heads attend to the largest number: where this number leads by a tenth of the range or more, "
        "the worst head gives it {max.exclusive_attention[mass on the largest, worst head, gap of a "
        "tenth]:.0%} of its attention; the claim {max.exclusive_attention}.",
        "Heads find the largest number because the attention score of a number is linear in the number (the"
        " report: {max.qk_linear!s}). The line explains {max.qk_linear[R squared, worst head]:.0%} of the "
        "scores or more; the claim {max.qk_linear}.",
        "Each head copies the number that it attends to: {max.ov_copy[large numbers copied]:.0%} of the "
        "numbers from 20 on; the claim {max.ov_copy}.",
        "Linear scores and a perfect copy, in place of the network, are right for {max.algorithm[idealised,"
        " wide gap]:.1%} of the inputs whose largest number leads; the claim {max.algorithm}.",
    ),
    figures=("scores", "copying", "idealised"),
)
