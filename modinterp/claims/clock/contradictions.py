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
        "",
    ),
)  # fmt: skip
