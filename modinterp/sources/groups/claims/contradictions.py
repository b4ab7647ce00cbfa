"""Where the paper, its code and its networks disagree."""

from __future__ import annotations

from modinterp.claims import Contradiction

CONTRADICTIONS = (
    Contradiction(
        id="X-U1",
        conflict=(
            "For cyclic groups the released code takes 2 columns of each rotation for weights. For neurons "
            "and losses it takes all 4, which have rank 2: two of these directions are rounding noise."
        ),
        settled_by={"table.losses.mlp.c113": ()},
        follows=(
            "With two columns the restricted losses of cyclic groups are like those of other groups; printed "
            "are 3.6e-3 and 6.9e-3. The excluded losses of our networks are below that of guessing; printed "
            "are 5.95 nats."
        ),
    ),
    Contradiction(
        id="X-U2",
        conflict="The first representation of A5 of dimension 3 has (1 + sqrt 5)/5 in its axis in the released code.",
        settled_by={"irreps.valid": ()},
        follows=(
            "These matrices are no representation. Ours are computed from the regular representation, and satisfy "
            "all laws."
        ),
    ),
    Contradiction(
        id="X-U5",
        conflict=(
            "The abstract says that the algorithm explains the logits; in the median seed it explains 0.59 of them."
        ),
        settled_by={"s5.logits.fve": (), "s5.restricted": ()},
        follows=(
            "The unexplained part differs between pairs of equal product. The part of the logits that depends on "
            "the product suffices."
        ),
    ),
    Contradiction(
        id="X-U6",
        conflict="W_U lies in the key representations to 94% only, although the source names nothing else in it.",
        settled_by={"s5.unembed": ()},
        follows="The rest of W_U is the mean over answers, which changes no softmax.",
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
            "We measure neuron by neuron whether a neuron is constant on cosets, and compare with random "
            "functions of the same representations."
        ),
    ),
)
