"""Contradictions between the paper, its code and its networks."""

from __future__ import annotations

from modinterp.claims import Contradiction

CONTRADICTIONS = (
    Contradiction(
        id="X-U1",
        conflict=(
            "For cyclic groups, the released code analyses weights with 2 of the 4 entries of each rotation"
            " matrix. For neurons and losses the code uses all 4 entries. The 4 entries of a rotation "
            "matrix, as functions on the group, have rank 2, so two of their four directions are rounding "
            "noise."
        ),
        settled_by={"table.losses.mlp.c113": ()},
        follows=(
            "If only two of the four matrix entries are used, restricted losses of cyclic groups are as "
            "small as restricted losses of other groups; the paper prints 3.6e-3 and 6.9e-3. With two "
            "entries, our excluded losses are below the loss of guessing; the paper's excluded loss of 5.95"
            " nats is above it."
        ),
    ),
    Contradiction(
        id="X-U2",
        conflict=(
            "In the released code, the first 3-dimensional representation of A5 has the number (1 + sqrt 5)/5 "
            "in its rotation axis, where (1 + sqrt 5)/4 would be right."
        ),
        settled_by={"irreps.valid": ()},
        follows=(
            "The released code's matrices are not a representation of A5. We compute the matrices of A5 "
            "from its regular representation; our matrices satisfy all group laws."
        ),
    ),
    Contradiction(
        id="X-U5",
        conflict=(
            "The abstract says that the algorithm explains the logits. In the median seed the algorithm explains "
            "only 0.59 of the logits' variance."
        ),
        settled_by={"s5.logits.fve": (), "s5.restricted": ()},
        follows=(
            "The unexplained part of the logits differs between pairs with equal product. The part of the logits "
            "that depends only on the product suffices for the right answer."
        ),
    ),
    Contradiction(
        id="X-U6",
        conflict="Only 94% of the unembedding W_U lies in the key representations, although the source names no "
        "other part of W_U.",
        settled_by={"s5.unembed": ()},
        follows=(
            "The part of W_U outside the key representations is the mean over answers, which does not change "
            "the softmax."
        ),
    ),
    Contradiction(
        id="X-U12",
        conflict=(
            "Stander et al. 2023 explain networks on groups by cosets; this source explains them by representations. "
            "Shares of weights and restricted losses cannot decide between the two explanations, since indicator "
            "functions of cosets lie in the same spaces."
        ),
        settled_by={"s5.cosets": ()},
        follows=(
            "We measure whether each neuron is constant on cosets, and compare neurons with random functions of the "
            "same representations."
        ),
    ),
)
