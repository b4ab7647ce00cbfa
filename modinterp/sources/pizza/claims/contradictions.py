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
            "The text and notebook of Zhong et al. use the distance irrelevance of the correct logit. The code "
            "of Zhong et al.'s sweep, and the resulting table, use the distance irrelevance of the largest wrong "
            "logit."
        ),
        settled_by={
            "modelA.di": ("distance_irrelevance", "distance_irrelevance_wrong"),
            "modelB.di": (models.DI_OF_SOLVED, models.DI_WRONG_OF_SOLVED),
        },
        follows=(
            "We report the distance irrelevance of the correct logit and of the largest wrong logit. In Zhong et "
            "al.'s text, the distance irrelevances of 0.17 and 0.85 are of the correct logit. The phase figures "
            "of Zhong et al. show the distance irrelevance of the largest wrong logit."
        ),
    ),
    Contradiction(
        id="X-P2",
        conflict=(
            "Zhong et al. print 33.36% as the gradient symmetricity of Model B; other samples of 100 triples give "
            "0.299 to 0.369."
        ),
        settled_by={"modelB.gs": (models.GS, models.RELEASED_GS)},
        follows="The printed gradient symmetricity of Model B comes from one sample of 100 triples, and is only "
        "known to about 0.03. Our verdicts use gradient symmetricities from 20,000 triples.",
    ),
    Contradiction(
        id="X-P3",
        conflict=(
            "For one circle of Model A, the notebook's column 'Qpizza' says that the formula explains 98.31% of "
            "the logits; table 1 says 99.18%."
        ),
        settled_by={
            "table1.pizza": (circles.FIRST_PIZZA,),
            "table1.code": (circles.LEAST_TWO,),
            "pizza.harmonic": ("squared correlation",),
        },
        follows=(
            "The numbers 98.31% and 99.18% belong to two formulas. Two absolute values explain 98.31% of the "
            "logits of one circle; a cosine times a factor of the distance explains 99.18% of these logits."
        ),
    ),
    Contradiction(
        id="X-P4",
        conflict=(
            "In the text of Zhong et al., constant attention seems to average over positions. The code of Zhong "
            "et al. gives every position the weight 1, which adds positions up."
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
        conflict="The configurations of Zhong et al. call the attention causal, but their code applies no mask.",
        settled_by={"setup.attention_rate": ("least attention of the first position to the second",)},
        follows=(
            "In the networks of Zhong et al., every position attends to all positions. In a network of one layer "
            "that is read at the last position, a causal mask would not change anything."
        ),
    ),
    Contradiction(
        id="X-P6",
        conflict=(
            "Zhong et al. say that Model A adds the two embeddings, yet Model A's gradient symmetricity is 0.994 and "
            "not 1."
        ),
        settled_by={"modelA.gs": (models.GS, "gradient symmetricity without the skip around attention")},
        follows=(
            "In Model A, the skip connection around attention passes on only the embedding of b, so a and b are "
            "not treated alike. Without the skip connection around attention, the gradient symmetricity of Model "
            "A is 1."
        ),
    ),
    Contradiction(
        id="X-P8",
        conflict=(
            "The circularity of Zhong et al. is a mean over the leading four principal components. Two good "
            "circles make Zhong et al.'s circularity, a mean over four principal components, equal to 1, even if "
            "no other component is a circle."
        ),
        settled_by={"circularity": (models.CIRCULARITY, models.LEAST_PURE, models.PURITY)},
        follows=(
            "Beside the circularity, we report for every leading circle the share of the circle's energy at one "
            "frequency."
        ),
    ),
    Contradiction(
        id="X-P9",
        conflict=(
            "By Zhong et al., a gradient symmetricity near 1 is the sign of a pizza. The table released by Zhong "
            "et al. has networks read at a final = with a gradient symmetricity of 0.97. In Zhong et al.'s "
            "table, the logits of networks read at a final = hardly depend on a - b, as in a clock."
        ),
        settled_by={"phase.equals": ("distance_irrelevance", phases.RELEASED_GS)},
        follows=(
            "The mainline network of Nanda et al., which is read at a final =, has a gradient symmetricity of "
            "0.35. For networks read at =, our verdict uses the distance irrelevance; we only report the "
            "gradient symmetricity."
        ),
    ),
)
