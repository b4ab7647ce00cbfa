"""Contradictions between He, Wang, Chen and Yang 2026 and arithmetic, their own networks, and other parts of their
text.
"""

from modinterp.claims.contradiction import Contradiction
from modinterp.sources.he.claims import dynamics, flow_claims, mathematics, voting
from modinterp.sources.he.claims.setup import OVER_CHANCE

CONTRADICTIONS = (
    Contradiction(
        id="X-H1",
        conflict=(
            "The phase equations that the source's app and post print make the misalignment D = 0 an "
            "unstable point. The source's theorem and simulation say that D = 0 is stable."
        ),
        settled_by={"ode.attractor": (flow_claims.OWN_RATE, flow_claims.APP_RATE, flow_claims.BLOG_RATE)},
        follows=(
            "The signs in the printed phase equations are misprints. In the gradient flow that we derive from "
            "the loss, D = 0 is stable, as in the source's simulation."
        ),
    ),
    Contradiction(
        id="X-H3",
        conflict="The post prints the logits' scale as a = alpha beta^2, where alpha scales the reading weights and "
        "beta the writing weights.",
        settled_by={"maths.indicator": ("largest difference from the indicators",)},
        follows="A logit is the square of the neuron's input times its output weight, so the scale is a = alpha^2 "
        "beta.",
    ),
    Contradiction(
        id="X-H4",
        conflict="Figure 8 shows ghosts (side peaks) of the network with ReLU, but computes the ghosts with squares "
        "in place of ReLU.",
        settled_by={"logits.ghost": (voting.GHOST, "ghost over peak with squares as nonlinearity")},
        follows=(
            "With ReLU, which was used in training, the network has smaller ghosts than with squares. Neither with "
            "ReLU nor with squares are the ghosts half as high as the peak."
        ),
    ),
    Contradiction(
        id="X-H6",
        conflict=(
            "The abstract says that magnitude and alignment together decide the winning frequency. The post's "
            "conclusion says that alignment, rather than magnitude, decides the winning frequency."
        ),
        settled_by={
            "lottery.phase": (dynamics.BY_D, dynamics.BY_ALPHA),
            "lottery.time": (dynamics.BY_TIME,),
        },
        follows=(
            "The abstract is right. Initial magnitude alone, or initial phase alignment alone, predicts in few "
            "neurons which frequency grows largest. Magnitude and alignment together predict this frequency in nearly "
            "all neurons that have one."
        ),
    ),
    Contradiction(
        id="X-H8",
        conflict="The ReLU panels of figure 13 show a network that answers all pairs correctly, but has the loss of "
        "guessing.",
        settled_by={"setup.solved_relu1": (OVER_CHANCE,)},
        follows="The right answers of the network in figure 13 lead by tiny margins: the network has hardly begun to "
        "learn.",
    ),
    Contradiction(
        id="X-H10",
        conflict=(
            "By the source's proposition 1, the pairs x = y are the easiest to answer. In networks with ReLU, "
            "the pairs x = y are the hardest to answer."
        ),
        settled_by={"logits.diagonal": (voting.LEAD,), "maths.square": (mathematics.ON,)},
        follows="In networks with ReLU, neurons read square waves. Neurons that read square waves have no signal at "
        "x = y, where both inputs give equal values.",
    ),
)
