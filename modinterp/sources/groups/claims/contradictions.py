"""Contradictions between the paper, its code and its networks."""

from __future__ import annotations

from modinterp.claims import Contradiction

CONTRADICTIONS = (
    Contradiction(
        id="X-U1",
        conflict=(
            "For cyclic groups the released code uses 2 columns of each rotation matrix for weights. For neurons "
            "and losses the code uses all 4 columns, which have rank 2: two directions are rounding noise."
        ),
        settled_by={"table.losses.mlp.c113": ()},
        follows=(
            "With two columns, cyclic groups have restricted losses like other groups; the paper prints 3.6e-3 "
            "and 6.9e-3. Our excluded losses are below the loss of guessing; the paper prints 5.95 nats."
        ),
    ),
    Contradiction(
        id="X-U2",
        conflict="In the released code, the first 3-dimensional representation of A5 has (1 + sqrt 5)/5 in its "
        "rotation axis.",
        settled_by={"irreps.valid": ()},
        follows=(
            "The code's matrices are not a representation. We compute matrices from the regular representation, "
            "which satisfy all group laws."
        ),
    ),
    Contradiction(
        id="X-U5",
        conflict=(
            "The abstract says that the algorithm explains the logits. In the median seed the algorithm explains "
            "0.59 of their variance."
        ),
        settled_by={"s5.logits.fve": (), "s5.restricted": ()},
        follows=(
            "The unexplained part of the logits differs between pairs with equal product. The part that depends "
            "on the product suffices for the answer."
        ),
    ),
    Contradiction(
        id="X-U6",
        conflict="Only 94% of W_U lies in the key representations, although the source names no other part of W_U.",
        settled_by={"s5.unembed": ()},
        follows="The rest of W_U is the mean over answers, which does not change the softmax.",
    ),
    Contradiction(
        id="X-U12",
        conflict=(
            "Stander et al. 2023 read such networks as circuits of cosets. Shares of weights and restricted "
            "losses cannot decide between the two readings, since indicators of cosets lie in the same "
            "spaces."
        ),
        settled_by={"s5.cosets": ()},
        follows=(
            "We measure whether each neuron is constant on cosets, and compare with random functions of the same "
            "representations."
        ),
    ),
)
