"""Conflicts that "Circuit engineering" has with itself, with arithmetic, and with the other sources."""

from modinterp.claims.contradiction import Contradiction

CONTRADICTIONS = (
    Contradiction(
        "X-R1",
        "Addition trains on 5,000 pairs here; Nanda et al. train on 3,830 of the same 12,769.",
        {"add.dataset": (), "add.grok_window": ("memorised", "grokked")},
        "The training set is 39% of the pairs instead of 30%: another set-up, not another result.",
    ),
    Contradiction(
        "X-R2",
        "All heads attend to the largest number alone. Yet with a slope of 0.15 a number larger by one gets only "
        "1.16 times the attention. Copying is said to work with no more than 20% to 30% of another number.",
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
        "Both statements go too far. Close numbers share attention, and a tenth of the inputs are beyond the "
        "limit of copying. But the larger of two close numbers still gets the larger share, and a perfect copy "
        "would name it even at the printed slope. Here the MLP, which sees all shares, does the rest.",
    ),
    Contradiction(
        "X-R3",
        "Small inputs added to the training set raise accuracy by 10 points, and are also said to improve "
        "performance only marginally.",
        {
            "data.rebalance": (
                "gain on the augmented test set",
                "small numbers alone before",
                "small numbers alone after",
            ),
            "data.marginal": ("gain on the uniform test set",),
        },
        "The two statements are about two test sets. The gain is large where all numbers are small, and almost "
        "none on uniform inputs.",
    ),
    Contradiction(
        "X-R4",
        "The scores between numbers are read as part of the algorithm, though only the output of CLS is read.",
        {"max.qk_heatmap": ("change of the logits without these queries",)},
        "Only the query of CLS has any effect on the answer.",
    ),
    Contradiction(
        "X-R5",
        "m m < 0 is printed for the slopes of a dimension, and scores are written as m x instead of a query times "
        "a key.",
        {"max.opposite_slopes": ("dimensions of opposite slopes", "slope from key lines over sqrt(d_head), error")},
        "The formula means the slopes of query and key. The slope of the scores is q . m / sqrt(d_head), "
        "including the factor.",
    ),
    Contradiction(
        "X-R6",
        "The source says that the sort never generalises properly, and that it is learned better than the median.",
        {
            "sort.curves": ("accuracy", "generated, whole sequences"),
            "obs.sort_vs_median": (),
            "sort.position_not_value": ("answers by place", "answers by token"),
        },
        "The sort generalises, token by token and on its own outputs. From the same 40,000 inputs it reaches a "
        "lower loss than the median. Its answers depend on the place more than on the number above the current "
        "one, but mostly on neither alone.",
    ),
    Contradiction(
        "X-R7",
        "The introduction says that all tasks grok. The section on the maximum says that it generalises at once.",
        {"data.max_no_grok": (), "add.grok_window": ("memorised", "grokked")},
        "The maximum does not grok.",
    ),
    Contradiction(
        "X-A4",
        "Position embeddings of commutative addition have a correlation of 0.95 (Syrkis & Søgaard) and a cosine "
        "of 0.617 (here).",
        {"add.pos_cos": ("cosine",), "add.invariance": ("pairs answered alike in both orders",)},
        "The cosine depends on the seed: six networks of the same task correlate by -0.70 to 1.00 "
        "(miiii.fig7.pearson.nanda). The task decides that exchanging the numbers does not change the answer.",
    ),
    Contradiction(
        "X-A5",
        "The number of key frequencies is 5 here and in Nanda et al., and 3 to 13 elsewhere.",
        {"add.five_freqs": ("important frequencies of W_E", "n_keys")},
        "The number depends on the seed and the recipe: 3 to 5 in five seeds of Nanda et al.'s, 12 in a network "
        "without attention.",
    ),
    Contradiction(
        "X-A6",
        "Grokking is near epoch 10,000 (Nanda et al.), 4,000 (the Clock), 10,000 to 15,000 (here) and 2,000 (an MLP).",
        {"add.grok_window": ("start", "end", "grokked")},
        "The epoch depends on the seed and the recipe.",
    ),
    Contradiction(
        "X-A7",
        "Heads have a single frequency (Nanda et al., fits of 98%), or many (the Clock).",
        {"add.attn_periodic": ("heads with half their variance at one frequency", "best fit by one frequency, FVE")},
        "All four heads have half of their variance or more at one frequency, the best head 97%: the difference "
        "is one of degree.",
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
        "Both are right: attention is a half on average, and periodic about this mean.",
    ),
)
