"""Conflicts of the blog post with the paper, with itself and with arithmetic."""

from modinterp.claims.contradiction import Contradiction

CONTRADICTIONS = (
    Contradiction(
        "X-A1",
        "The blog: the MLP is an affine map, the ReLU unnecessary. Nanda et al. and Kissane: the ReLU makes the products.",
        {
            "s8.mlp_affine": (
                "accuracy with an affine map in place of the neurons", "R squared of that map", "accuracy without the ReLU",
                "share of products, before the MLP", "share of products, neurons",
            ),
            "s8.bup_sorted": ("biases below -0.1", "pre-activations below 0"),
        },
        "The ReLU is needed. The blog's evidence, that few biases are negative, is true and does not bear on it: a third of "
        "the pre-activations are below 0 all the same.",
    ),
    Contradiction(
        "X-A2",
        "The blog: a network without ReLU groks. Nanda et al.: products come from attention and from the MLP.",
        {
            "s8.reluless_groks": (
                "share of the seeds that reach a test accuracy of 0.99", "share of products before the MLP", "grokking epoch",
            ),
        },
        "Both are right: without ReLU all products come from the attention, which then makes many more of them.",
    ),
    Contradiction(
        "X-A3",
        "The blog: at least two circles and two heads are needed, with co-prime frequencies. Nanda et al.: several "
        "frequencies only widen the margin.",
        {
            "s111.min2": ("margin of one exact circle", "test accuracy with one head", "key frequencies of the network with one head"),
            "s112.gcd": ("single frequencies that are enough mod 113", "disagreements with gcd(k..., P) = 1"),
        },
        "One exact circle is enough for a prime P, though its margin is tiny; one head is enough for several circles; what "
        "counts is gcd(k1, ..., P) = 1.",
    ),
    Contradiction(
        "X-A7",
        "Nanda et al.: each head has a single frequency. The blog: head 0 has many.",
        {"s6.attention_periodic": ("highest share", "lowest share")},
        "Both occur: among our twelve heads all but one are clean.",
    ),
    Contradiction(
        "X-A8",
        "The blog: attention looks random, and is periodic. The circuits report: attention is about one half.",
        {"s6.attn_maps6": ("lowest mean", "highest mean", "smallest standard deviation of a head's attention to a")},
        "Both: one half on average, and swinging far around it.",
    ),
    Contradiction(
        "X-A9",
        "The blog: test loss 0. Nanda et al.: cross-entropy never reaches 0.",
        {"s4.curves": ("final test loss",)},
        "It is small and not 0, in float64.",
    ),
    Contradiction(
        "X-C1",
        "The blog lets a and b run from 1 to P, its code from 0 to P - 1.",
        {"s2.task": ("smallest operand", "largest operand", "token of =")},
        "Tokens run from 0 to 112, and = is 113.",
    ),
    Contradiction(
        "X-C2",
        'The blog: the paper confirmed that positional embeddings are "irrelevant". The paper has them, and no ablation.',
        {"s3.irrelevant": ("delayed", "grokking epoch", "FVE of the logits")},
        "Networks grok with and without; nothing here speaks against the statement but the logits of one seed.",
    ),
    Contradiction(
        "X-C3",
        "The blog: leaving b_out out warps the circles of W_L. Arithmetic: the bias adds a constant to the logits.",
        {"s52.bdown_warp": ()},
        "No effect.",
    ),
    Contradiction(
        "X-C4",
        "The blog: petals overlap exactly if the attention's frequency is below the embedding's.",
        {"s61.overlap_rule": ()},
        "True of embedding frequency 1 alone.",
    ),
    Contradiction(
        "X-C5",
        "The blog: written circles could interfere with the embedding's in the residual stream. At = that stream holds the "
        "embedding of =, which is the same for all pairs.",
        {"s8.dihedral": ("variance of the residual stream at = before attention", "smallest dihedral angle [degrees]")},
        "There is nothing there to interfere with.",
    ),
    Contradiction(
        "X-C6",
        "The blog's condition P gcd(k1, k2, ...) = 1 cannot be met by integers.",
        {"s112.gcd": ()},
        "gcd(k1, k2, ..., P) = 1 is meant, or should be.",
    ),
    Contradiction(
        "X-C7",
        "The blog reads the MLP's output with W_U in one place and with W_L in another.",
        {"s91.wl_probes": (), "s10.readout_65": ("circles",)},
        "W_U reads what the MLP writes (128 dimensions), W_L the neurons (512); they agree, for W_L = W_out W_U.",
    ),
    Contradiction(
        "X-C8",
        "The blog writes the pull-back through W_V as an equation; it has 128 rows and 32 unknowns.",
        {"s62.z_head1_sub4": ("largest residual of the pull-back",), "s62.z_head1_sub32": ("largest residual of the pull-back",)},
        "It holds in the sense of least squares, with a residual of 2% to 30%, the most where a head moves little of the plane.",
    ),
    Contradiction(
        "X-C9",
        "The blog: attention alone makes the circles rotate, the MLP only stretches.",
        {
            "s8.mlp_affine": ("share of products, before the MLP", "share of products, logits"),
            "s93.rotate": ("rotation, lowest R squared", "rotation, lowest R squared, with a head"),
        },
        "Attention makes a little rotation at the frequencies that heads attend at, and none at the others; the ReLU makes "
        "the most of it.",
    ),
)  # fmt: skip
