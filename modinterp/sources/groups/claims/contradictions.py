"""Where the paper, its code and its networks disagree."""

from __future__ import annotations

from modinterp.claims import Contradiction

CONTRADICTIONS = (
    Contradiction(
        id="X-U1",
        conflict="For cyclic groups the released code takes 2 columns of each rotation for weights, and all 4 for neurons "
        "and losses, which have rank 2: two directions are rounding noise.",
        settled_by={"table.losses.mlp.c113": ()},
        follows="With the two columns the restricted losses of cyclic groups, printed as 3.6e-3 and 6.9e-3, are those of "
        "other groups; and in our networks the excluded losses, of which 5.95 nats are printed, are below that of guessing.",
    ),
    Contradiction(
        id="X-U2",
        conflict="The first representation of A5 of dimension 3 has (1 + sqrt 5)/5 in its axis in the released code.",
        settled_by={"irreps.valid": ()},
        follows="It is no representation; ours are taken apart from the regular one, and all laws hold.",
    ),
    Contradiction(
        id="X-U5",
        conflict="The abstract speaks of logits that the algorithm explains; in the median seed it explains 0.59 of them.",
        settled_by={"s5.logits.fve": (), "s5.restricted": ()},
        follows="What is left is different for pairs of one product; the part that is of the product suffices.",
    ),
    Contradiction(
        id="X-U6",
        conflict="W_U lies in the key representations to 94% only, although nothing else is said to be there.",
        settled_by={"s5.unembed": ()},
        follows="The rest is the mean over answers, which no softmax sees.",
    ),
    Contradiction(
        id="X-U12",
        conflict="Stander et al. 2023 read such networks as circuits of cosets; shares of weights and restricted losses "
        "cannot tell, since indicators of cosets lie in the same spaces.",
        settled_by={"s5.cosets": ()},
        follows="Whether neurons are constant on cosets is measured neuron by neuron, beside random functions of the same "
        "representations.",
    ),
)
