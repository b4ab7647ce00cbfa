"""Conflicts that "Circuit engineering" has with itself, with arithmetic, and with the other sources."""

from modinterp.claims.contradiction import Contradiction

CONTRADICTIONS = (
    Contradiction(
        "X-R1",
        "5,000 pairs for addition, where Nanda et al. train on 3,830 of the same 12,769.",
        {"add.dataset": (), "add.grok_window": ("memorised", "grokked")},
        "39% of the pairs instead of 30%: another set-up, not another result.",
    ),
    Contradiction(
        "X-R2",
        "All heads attend to the largest number alone; yet a slope of 0.15 gives a number that is one larger only 1.16 "
        "times the attention, and copying is said to stand no more than 20% to 30% of another number.",
        {
            "max.exclusive_attention": (
                "mass on the largest, worst head, all inputs",
                "mass on the largest, worst head, gap 1",
                "accuracy at gap 1",
            ),
            "max.algorithm": (
                "idealised, gap 1",
                "idealised, all inputs",
                "perfect copy, the source's slope of 0.15",
                "on lines, the rest within what copying tolerates",
            ),
        },
        "Both say too much. Close numbers share attention, and a tenth of the inputs lie beyond what copying "
        "stands; but the larger of two close numbers still gets the larger share, which a perfect copy would name "
        "even at the slope printed. Here the MLP, which sees all shares, does what is left.",
    ),
    Contradiction(
        "X-R3",
        "Small inputs added to the training set bring 10 points of accuracy, and improve performance only marginally.",
        {
            "data.rebalance": (
                "gain on the augmented test set",
                "small numbers alone before",
                "small numbers alone after",
            ),
            "data.marginal": ("gain on the uniform test set",),
        },
        "Two test sets: much is gained where all numbers are small, next to nothing on uniform inputs.",
    ),
    Contradiction(
        "X-R4",
        "The scores of numbers with numbers are read as part of the algorithm, though only CLS is read.",
        {"max.qk_heatmap": ("change of the logits without these queries",)},
        "No query but that of CLS has any effect on the answer.",
    ),
    Contradiction(
        "X-R5",
        "m m < 0 for the slopes of a dimension, and scores written as m x instead of a query times a key.",
        {"max.opposite_slopes": ("dimensions of opposite slopes", "slope from key lines over sqrt(d_head), error")},
        "Meant are the slopes of query and key; the slope of the scores is q . m / sqrt(d_head), the factor included.",
    ),
    Contradiction(
        "X-R6",
        "The sort never generalises properly, and is better learned than the median.",
        {
            "sort.curves": ("accuracy", "generated, whole sequences"),
            "obs.sort_vs_median": (),
            "sort.position_not_value": ("answers by place", "answers by token"),
        },
        "It generalises, token by token and on what it said itself, and from the same 40,000 inputs to a lower loss "
        "than the median. Its answers go by place more than by the number above the current one, but mostly by "
        "neither alone.",
    ),
    Contradiction(
        "X-R7",
        "The introduction has all tasks grok; the section on the maximum has it generalise at once.",
        {"data.max_no_grok": (), "add.grok_window": ("memorised", "grokked")},
        "The maximum does not grok.",
    ),
    Contradiction(
        "X-A4",
        "Position embeddings of commutative addition: a correlation of 0.95 (Syrkis & Søgaard), a cosine of 0.617 "
        "here.",
        {"add.pos_cos": ("cosine",), "add.invariance": ("pairs answered alike in both orders",)},
        "The cosine goes with the seed (six networks of the same task correlate by -0.70 to 1.00, "
        "miiii.fig7.pearson.nanda); that the answer does not change when the numbers change places, to the task.",
    ),
    Contradiction(
        "X-A5",
        "Number of key frequencies: 5 here and in Nanda et al., 3 to 13 elsewhere.",
        {"add.five_freqs": ("important frequencies of W_E", "n_keys")},
        "It goes with the seed and the recipe: 3 to 5 in five seeds of Nanda et al.'s, 12 in a network without "
        "attention.",
    ),
    Contradiction(
        "X-A6",
        "Grokking near epoch 10,000 (Nanda et al.), 4,000 (the Clock), 10,000 to 15,000 here, 2,000 (an MLP).",
        {"add.grok_window": ("start", "end", "grokked")},
        "It belongs to the seed and the recipe.",
    ),
    Contradiction(
        "X-A7",
        "Heads of a single frequency (Nanda et al., fits of 98%), or of many (the Clock).",
        {"add.attn_periodic": ("heads with half their variance at one frequency", "best fit by one frequency, FVE")},
        "All four heads have half of their variance or more at one frequency, the best of them 97%: a matter of "
        "degree.",
    ),
    Contradiction(
        "X-A8",
        "Attention is periodic (the Clock), or a constant half (here).",
        {
            "add.half_attention": (
                "smallest mean attention to a, over heads",
                "largest mean attention to a, over heads",
                "smallest standard deviation over pairs, over heads",
            )
        },
        "Both: a half on average, and periodic about it.",
    ),
)
