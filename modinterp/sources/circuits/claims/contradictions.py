"""Contradictions between the report "Circuit engineering" and its own numbers, arithmetic, and other sources."""

from modinterp.claims.contradiction import Contradiction

CONTRADICTIONS = (
    Contradiction(
        "X-R1",
        "This source trains addition on 5,000 of 12,769 pairs; Nanda et al. train on 3,830.",
        {"add.dataset": (), "add.grok_window": ("memorised", "grokked")},
        "The source trains on 39% of the pairs instead of 30%: the set-ups differ, and the results do not conflict.",
    ),
    Contradiction(
        "X-R2",
        "The source says that all heads attend to the largest number alone. Yet with the source's slope of "
        "attention scores, 0.15, a number larger by one gets only 1.16 times the attention. The source also"
        " says that a head copies a number correctly only if at most 20% to 30% of its attention goes to "
        "another number.",
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
        "The source's statements on exclusive attention and on the limit of copying both go too far. "
        "Numbers that are close to each other share attention, and in a tenth of the inputs other numbers "
        "get more attention than copying tolerates. But the larger of two close numbers still gets more "
        "attention. A perfect copy would answer the larger number even with the source's slope of attention"
        " scores. In our networks the MLP corrects the remaining errors, since it receives the outputs of "
        "all heads.",
    ),
    Contradiction(
        "X-R3",
        "The source says that adding small inputs to the training set raises accuracy by 10 points. The "
        "source also says that adding small inputs improves performance only marginally.",
        {
            "data.rebalance": (
                "gain on the augmented test set",
                "small numbers alone before",
                "small numbers alone after",
            ),
            "data.marginal": ("gain on the uniform test set",),
        },
        "The two statements about small inputs concern two test sets. Adding small inputs raises accuracy a"
        " lot on inputs with small numbers, and hardly at all on uniform inputs.",
    ),
    Contradiction(
        "X-R4",
        "The source treats attention scores between numbers as part of the algorithm. But the network "
        "writes the answer only at the token CLS.",
        {"max.qk_heatmap": ("change of the logits without these queries",)},
        "Only the query at CLS affects the answer; attention scores between numbers do not.",
    ),
    Contradiction(
        "X-R5",
        "For the slopes of a dimension the source prints m m < 0. The source also writes scores as m x instead of "
        "a query times a key.",
        {"max.opposite_slopes": ("dimensions of opposite slopes", "slope from key lines over sqrt(d_head), error")},
        "In the source's formula m m < 0, the first m is the slope of the query and the second m is the "
        "slope of the key. The slope of the scores is q . m / sqrt(d_head), with the factor 1 / "
        "sqrt(d_head).",
    ),
    Contradiction(
        "X-R6",
        "The source says that the sort task never generalises properly. The source also says that the sort is "
        "learned better than the median.",
        {
            "sort.curves": ("accuracy", "generated, whole sequences"),
            "obs.sort_vs_median": (),
            "sort.position_not_value": ("answers by place", "answers by token"),
        },
        "The sort network generalises, both for each token and for whole sequences in which it reads its "
        "own outputs. After training on 40,000 inputs, the sort has a lower loss than the median. The "
        "sort's answers depend more on the position than on the next larger number, but most answers depend"
        " on neither alone.",
    ),
    Contradiction(
        "X-R7",
        "The source's introduction says that networks grok on all tasks. The section on the maximum says "
        "that the network for the maximum generalises at once.",
        {"data.max_no_grok": (), "add.grok_window": ("memorised", "grokked")},
        "The network for the maximum generalises at once, so it does not grok.",
    ),
    Contradiction(
        "X-A4",
        "The two position embeddings of addition have a correlation of 0.95 (Syrkis & Søgaard) and a cosine of "
        "0.617 (this source).",
        {
            "add.pos_cos": ("cosine of the two position embeddings",),
            "add.invariance": ("pairs answered alike in both orders",),
        },
        "The cosine of the position embeddings depends on the seed: in six networks of one task the two "
        "embeddings have a correlation of -0.70 to 1.00 (miiii.fig7.pearson.nanda). In a commutative task, "
        "exchanging the two numbers never changes the answer.",
    ),
    Contradiction(
        "X-A5",
        "The number of key frequencies is 5 in this source and in Nanda et al., and 3 to 13 in other sources.",
        {"add.five_freqs": ("important frequencies of W_E", "n_keys")},
        "The number of key frequencies depends on seed and recipe: 3 to 5 in five seeds of Nanda et al.'s recipe, "
        "12 in a network without attention.",
    ),
    Contradiction(
        "X-A6",
        "Networks grok near epoch 10,000 (Nanda et al.), 4,000 (the Clock), 10,000 to 15,000 (this source) "
        "and 2,000 (an MLP).",
        {"add.grok_window": ("epoch at which grokking begins", "epoch at which grokking ends", "grokked")},
        "The epoch at which a network groks depends on the seed and the recipe.",
    ),
    Contradiction(
        "X-A7",
        "Nanda et al. say that each head has a single frequency (fits of 98%). The Clock says that some "
        "heads have many frequencies.",
        {"add.attn_periodic": ("heads with half their variance at one frequency", "best fit by one frequency, FVE")},
        "Each of the four heads has at least half of its attention's variance at one frequency, and one "
        "head has 97%. The sources differ only in degree.",
    ),
    Contradiction(
        "X-A8",
        "The Clock says that attention is periodic. This source says that each number always gets half of "
        "the attention.",
        {
            "add.half_attention": (
                "lowest mean attention to a",
                "highest mean attention to a",
                "smallest standard deviation of a head's attention to a",
            )
        },
        "The Clock and this source are both right: the attention to a number is one half on average, and "
        "periodic about this mean.",
    ),
)
