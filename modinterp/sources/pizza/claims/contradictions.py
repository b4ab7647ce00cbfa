"""Contradictions between the paper, its code, its table of runs and its networks.

We did not measure three of the contradictions in the paper. With two vocabularies, the released code looks for circles
of 118 tokens among the first 59. A run with two vocabularies can therefore not pass as circular, so we do not train
such a run. A single circle of a network with softmax attention has no meaning: in the released Model B the clock's
formula explains 0.77, 0.05 and -0.60 of three circles. The released sweep draws ReLU or GeLU, but its tables contain
only ReLU, so we train only ReLU networks.
"""

from __future__ import annotations

from modinterp.claims import Contradiction
from modinterp.sources.pizza.claims import circles, models, phases

CONTRADICTIONS = (
    Contradiction(
        id="X-P1",
        conflict=(
            "The source's text and notebook use the distance irrelevance of the correct logit. The code of the "
            "source's sweep, and the resulting table, use the distance irrelevance of the largest wrong logit."
        ),
        settled_by={
            "modelA.di": ("distance_irrelevance", "distance_irrelevance_wrong"),
            "modelB.di": (models.DI_OF_SOLVED, models.DI_WRONG_OF_SOLVED),
        },
        follows=(
            "We report the distance irrelevance of both logits. The text's values 0.17 and 0.85 are of the "
            "correct logit; the source's phase figures show that of the largest wrong logit."
        ),
    ),
    Contradiction(
        id="X-P2",
        conflict="The symmetricity of Model B is printed as 33.36%; other samples of 100 triples give 0.299 to 0.369.",
        settled_by={"modelB.gs": (models.GS, models.RELEASED_GS)},
        follows="The printed symmetricity comes from one sample of 100 triples, and is only known to about 0.03. Our "
        "verdicts use 20,000 triples.",
    ),
    Contradiction(
        id="X-P3",
        conflict=(
            "For one circle of Model A, the formula explains 98.31% in the notebook's column 'Qpizza', but "
            "99.18% in table 1."
        ),
        settled_by={
            "table1.pizza": (circles.FIRST_PIZZA,),
            "table1.code": (circles.LEAST_TWO,),
            "pizza.harmonic": ("squared correlation",),
        },
        follows=(
            "The numbers 98.31% and 99.18% belong to two formulas: two absolute values explain 98.31% of "
            "the logits, and a cosine times a factor of the distance explains 99.18%."
        ),
    ),
    Contradiction(
        id="X-P4",
        conflict=(
            "In the source's text, constant attention seems to average over positions. The source's code gives every "
            "position the weight 1, which adds positions up."
        ),
        settled_by={
            "setup.attention_rate": (
                "largest distance of a row of attention to 2 - rate",
                "attention at rate 0 is 1 everywhere",
            )
        },
        follows="As the attention rate rises from 0 to 1, the sum of each row of attention falls from 2 to 1.",
    ),
    Contradiction(
        id="X-P5",
        conflict="The source's configurations call the attention causal, but its code applies no mask.",
        settled_by={"setup.attention_rate": ("least attention of the first position to the second",)},
        follows=(
            "Every position attends to all positions. In a network of one layer that is read at the last "
            "position, a causal mask would not change anything."
        ),
    ),
    Contradiction(
        id="X-P6",
        conflict="The source says that Model A adds the two embeddings, yet Model A's symmetricity is 0.994 and not 1.",
        settled_by={"modelA.gs": (models.GS, "gradient symmetricity without the skip around attention")},
        follows=(
            "The skip connection around attention passes on only the embedding of b, so a and b are not treated"
            " alike. Without this skip connection the symmetricity is 1."
        ),
    ),
    Contradiction(
        id="X-P8",
        conflict=(
            "The source's circularity is a mean over the leading four principal components. Two good "
            "circles make this mean 1, even if all other components are not circles."
        ),
        settled_by={"circularity": (models.CIRCULARITY, models.LEAST_PURE, models.PURITY)},
        follows="We also report, for every leading circle, the share of its energy at one frequency.",
    ),
    Contradiction(
        id="X-P9",
        conflict=(
            "By the source, a symmetricity near 1 is the sign of a pizza. Yet the released table has "
            "networks, read at a final =, that have a symmetricity of 0.97 although their logits hardly "
            "depend on the distance."
        ),
        settled_by={"phase.equals": ("distance_irrelevance", phases.RELEASED_GS)},
        follows=(
            "The mainline network of Nanda et al., which is read at a final =, has a symmetricity of 0.35. For "
            "networks with =, our verdict uses the distance irrelevance; we only report the symmetricity."
        ),
    ),
)
