"""Contradictions between the blog post, the paper that the post explains, and arithmetic."""

from modinterp.claims.contradiction import Contradiction
from modinterp.sources.clock.claims import mlp, motion, petals_of_heads

CONTRADICTIONS = (
    Contradiction(
        id="X-A1",
        conflict=(
            "The blog says that the MLP is an affine map and that the ReLU is unnecessary. Nanda et al. and"
            " Kissane say that the ReLU makes the products of waves."
        ),
        settled_by={
            "s8.mlp_affine": (
                "accuracy with an affine map in place of the neurons",
                "R squared of that map",
                "accuracy without the ReLU",
                mlp.PRODUCTS_BEFORE_MLP,
                "products_after",
            ),
            "s8.bup_sorted": ("biases below -0.1", mlp.NEGATIVE_PRE),
        },
        follows=(
            "The ReLU is needed. The blog is right that few biases of the neurons are negative. Few "
            "negative biases do not show that the ReLU is unnecessary: a third of the pre-activations are "
            "below 0."
        ),
    ),
    Contradiction(
        id="X-A2",
        conflict=(
            "The blog says that a network without ReLU groks. Nanda et al. say that products of waves come from"
            " attention and from the MLP."
        ),
        settled_by={
            "s8.reluless_groks": (
                "highest test accuracy",
                "share of products before the MLP",
                "grokking epochs without ReLU",
            ),
        },
        follows=(
            "The blog and Nanda et al. are both right. Without a ReLU, attention makes all products of "
            "waves, and many more products than with a ReLU."
        ),
    ),
    Contradiction(
        id="X-A3",
        conflict=(
            "The blog says that a network needs at least two circles and two heads, with co-prime "
            "frequencies. Nanda et al. say that several frequencies only increase the margin of the right "
            "logit."
        ),
        settled_by={
            "s111.min2": (
                "margin of one exact circle",
                "test accuracy with one head",
                "key frequencies of the network with one head",
            ),
            "s112.gcd": ("single frequencies that are enough mod 113", "disagreements with gcd(k..., P) = 1"),
        },
        follows=(
            "One exact circle gives a unique answer for a prime P, though with a tiny margin of the right "
            "logit. One head is enough for several circles. For a unique answer the key frequencies must "
            "satisfy gcd(k1, ..., P) = 1."
        ),
    ),
    Contradiction(
        id="X-A7",
        conflict=(
            "Nanda et al. say that each head attends at a single frequency. The blog says that head 0 attends "
            "at many frequencies."
        ),
        settled_by={
            "s6.attention_periodic": (
                "highest share of a head's attention at one frequency",
                "lowest share of a head's attention at one frequency",
            )
        },
        follows=(
            "Heads that attend at one frequency and heads that attend at many frequencies both occur. "
            "Eleven of our twelve heads attend at a single frequency."
        ),
    ),
    Contradiction(
        id="X-A8",
        conflict=(
            "The blog says that attention looks random and is periodic. The circuits report says that each "
            "number gets about half of the attention."
        ),
        settled_by={
            "s6.attn_maps6": (
                "lowest mean attention to a",
                "highest mean attention to a",
                "smallest standard deviation of a tuned head's attention to a",
            )
        },
        follows=(
            "The blog and the circuits report are both right: the attention to a number is one half on "
            "average, and varies widely about one half."
        ),
    ),
    Contradiction(
        id="X-A9",
        conflict="The blog says that the test loss is 0. Nanda et al. say that cross-entropy never reaches 0.",
        settled_by={"s4.curves": ("test loss of the last snapshot",)},
        follows="In float64 the test loss is small, but not 0.",
    ),
    Contradiction(
        id="X-C1",
        conflict="In the blog's text a and b run from 1 to P. In the blog's code a and b run from 0 to P - 1.",
        settled_by={"s2.task": ("smallest operand", "largest operand", "token of =")},
        follows="In our networks the numbers are the tokens 0 to 112, and the token = is 113.",
    ),
    Contradiction(
        id="X-C2",
        conflict=(
            'The blog says that Nanda et al. confirmed positional embeddings to be "irrelevant". Nanda et al. '
            "use positional embeddings, without an ablation."
        ),
        settled_by={"s3.irrelevant": ("delayed", "grokked", "logit_fve")},
        follows=(
            "Networks grok with and without positional embeddings. Only one of our seeds contradicts that "
            "positional embeddings are irrelevant: waves of a + b explain less of this seed's logits."
        ),
    ),
    Contradiction(
        id="X-C3",
        conflict=(
            "The blog says that leaving out b_out warps the circles of W_L. By arithmetic, the bias b_out only "
            "adds a constant to the logits."
        ),
        settled_by={"s52.bdown_warp": ()},
        follows="Leaving out b_out has no visible effect on the circles of W_L.",
    ),
    Contradiction(
        id="X-C4",
        conflict=(
            "The blog says that petals overlap exactly if the attention's frequency is below the embedding's frequency."
        ),
        settled_by={"s61.overlap_rule": ()},
        follows=(
            "The statement on overlapping petals (the closed curves of a head's output) is true only for "
            "embedding frequency 1."
        ),
    ),
    Contradiction(
        id="X-C5",
        conflict=(
            "The blog says that circles written by attention could interfere with the embedding's circles. "
            "At the token = the residual stream before attention holds only the embedding of =, which is "
            "the same for all pairs."
        ),
        settled_by={
            "s8.dihedral": (
                "variance of the residual stream at = before attention",
                "smallest dihedral angle [degrees]",
            )
        },
        follows=(
            "At the token = the residual stream holds no circle of the embedding, so circles written by "
            "attention cannot interfere with circles of the embedding."
        ),
    ),
    Contradiction(
        id="X-C6",
        conflict="The blog's condition P gcd(k1, k2, ...) = 1 cannot be met by integers.",
        settled_by={"s112.gcd": ()},
        follows="The condition on the key frequencies should read gcd(k1, k2, ..., P) = 1.",
    ),
    Contradiction(
        id="X-C7",
        conflict="The blog reads the MLP's output with W_U in one place and with W_L in another.",
        settled_by={"s91.wl_probes": (), "s10.readout_65": ("n_keys",)},
        follows=(
            "W_U reads the MLP's output (128 dimensions), and W_L reads the neurons (512). W_U and W_L agree, "
            "because W_L = W_out W_U."
        ),
    ),
    Contradiction(
        id="X-C8",
        conflict="The blog pulls a plane back through W_V with an equation that has 128 rows and only 32 unknowns.",
        settled_by={
            "s62.z_head1_sub4": (petals_of_heads.PULL_BACK_RESIDUAL,),
            "s62.z_head1_sub32": (petals_of_heads.PULL_BACK_RESIDUAL,),
        },
        follows=(
            "The equation that pulls a plane back through W_V holds only by least squares, with a residual "
            "of 2% to 30%. Pulling a plane back through W_V by least squares leaves the largest residual "
            "where the head's OV circuit passes little of this plane on."
        ),
    ),
    Contradiction(
        id="X-C9",
        conflict="The blog says that only attention makes the circles rotate, and that the MLP only stretches circles.",
        settled_by={
            "s8.mlp_affine": (mlp.PRODUCTS_BEFORE_MLP, "share of products, logits"),
            "s93.rotate": (motion.ROTATION_FIT, motion.WITH_HEAD[motion.ROTATION_FIT]),
        },
        follows=(
            "At frequencies at which some head attends, attention rotates the circles a little. At "
            "frequencies at which no head attends, attention rotates no circle. The ReLU causes most of the"
            " rotation of the circles."
        ),
    ),
)
