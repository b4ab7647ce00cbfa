"""Define the opening sentences of the page on the blog post about the Clock algorithm."""

from modinterp.sources.story import Story

STORY = Story(
    sentences=(
        "The post analyses a transformer without positional embeddings that adds modulo 113. The network "
        "groks at epoch {s4.curves[grokked]:,.0f} (the post: {s4.curves!s}); the claim {s4.curves}.",
        "The embeddings of the numbers lie on a circle at each key frequency; the claim {s51.we_circles}.",
        "The output of a head is a circle times a wave, which is a petal. The formula predicts "
        "{s62.z_head1_sub4[lowest R squared of the prediction]:.1%} or more of the output's variance; the "
        "claim {s62.z_head1_sub4}.",
        "The heads' petals add up to a circle at the first key frequency; the claim {s71.o_sum_4}.",
        "The post concludes that the neurons do no more than an affine map. In place of the neurons, the "
        "best such map answers {s8.mlp_affine[accuracy with an affine map in place of the neurons]:.0%} of "
        "the pairs; the claim {s8.mlp_affine}.",
    ),
    figures=("embedding_circles", "petals", "linearity"),
)
