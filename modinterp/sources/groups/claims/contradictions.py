"""Contradictions between the paper, its code and its networks."""

from __future__ import annotations

from modinterp.claims import Contradiction

CONTRADICTIONS = (
    Contradiction(
        id="X-U1",
        conflict=(
            "For cyclic groups, the code of Chughtai et al. 2023 analyses weights with 2 of the 4 entries of "
            "each rotation matrix. For neurons and losses of cyclic groups, the code of Chughtai et al. uses all "
            "4 entries of each rotation matrix. As functions on a cyclic group, the 4 entries of a rotation "
            "matrix have rank 2, so two of four directions are rounding noise."
        ),
        settled_by={"table.losses.mlp.c113": ()},
        follows=(
            "With two of the four entries of rotation matrices, restricted losses of cyclic groups are as small "
            "as restricted losses of other groups. For cyclic groups, Chughtai et al. 2023 print restricted "
            "losses of 3.6e-3 and 6.9e-3. With two entries of rotation matrices, our excluded losses of cyclic "
            "groups are below the loss of guessing. The excluded loss of 5.95 nats that Chughtai et al. 2023 "
            "print is above the loss of guessing."
        ),
    ),
    Contradiction(
        id="X-U2",
        conflict=(
            "Chughtai et al.'s code has a wrong number, (1 + sqrt 5)/5, in a rotation axis of A5's first "
            "3-dimensional representation. The right number in this rotation axis of A5 is (1 + sqrt 5)/4."
        ),
        settled_by={"irreps.valid": ()},
        follows=(
            "The matrices in the code of Chughtai et al. 2023 are not a representation of A5. We compute the "
            "matrices of A5 from the regular representation of A5; our matrices satisfy all group laws."
        ),
    ),
    Contradiction(
        id="X-U5",
        conflict=(
            "The abstract of Chughtai et al. 2023 says that an algorithm based on characters explains the "
            "logits. In the median seed of Chughtai et al. 2023, characters of key representations explain only "
            "0.59 of the logits' variance."
        ),
        settled_by={"s5.logits.fve": (), "s5.restricted": ()},
        follows=(
            "The part of the logits that characters do not explain differs between pairs (a, b) with equal "
            "product ab. The part of the logits that depends only on the product ab suffices for the right "
            "answer."
        ),
    ),
    Contradiction(
        id="X-U6",
        conflict="Only 94% of the unembedding W_U lies in the key representations, although Chughtai et al. 2023 "
        "name no other part of W_U.",
        settled_by={"s5.unembed": ()},
        follows=(
            "The part of W_U outside the key representations is the mean over answers, which does not change "
            "the softmax."
        ),
    ),
    Contradiction(
        id="X-U12",
        conflict=(
            "Stander et al. 2023 explain networks on groups by cosets; Chughtai et al. 2023 explain networks on "
            "groups by representations. Shares of weights and restricted losses cannot decide between cosets and "
            "representations, since representations also span the indicator functions of cosets."
        ),
        settled_by={"s5.cosets": ()},
        follows=(
            "We measure whether each neuron is constant on cosets, and compare each neuron with random functions "
            "of the neuron's representation."
        ),
    ),
)
