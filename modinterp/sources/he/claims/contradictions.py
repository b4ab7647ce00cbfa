"""Conflicts that He, Wang, Chen and Yang 2026 have with themselves, with arithmetic, and with their own networks."""

from modinterp.claims.contradiction import Contradiction
from modinterp.sources.he.claims import dynamics, flow_claims, mathematics, voting
from modinterp.sources.he.claims.setup import OVER_CHANCE

CONTRADICTIONS = (
    Contradiction(
        id="X-H1",
        conflict=(
            "The source's app and post print phase equations whose signs make the misalignment D = 0 repel. The "
            "source's theorem and simulation say that D = 0 attracts."
        ),
        settled_by={"ode.attractor": (flow_claims.OWN_RATE, flow_claims.APP_RATE, flow_claims.BLOG_RATE)},
        follows="The printed signs are misprints: in the flow derived from the loss D = 0 attracts, as in the "
        "simulation.",
    ),
    Contradiction(
        id="X-H3",
        conflict="The post prints a = alpha beta^2, where alpha scales the reading weights and beta the writing "
        "weights.",
        settled_by={"maths.indicator": ("largest difference from the indicators",)},
        follows="The logit is the square of the neuron's input times its output weight: alpha^2 beta.",
    ),
    Contradiction(
        id="X-H4",
        conflict="Figure 8 shows ghosts (side peaks) of the network with ReLU, but computes them with squares in place "
        "of ReLU.",
        settled_by={"logits.ghost": (voting.GHOST, "ghost over peak with squares as nonlinearity")},
        follows=(
            "With its own ReLU the network has smaller ghosts. Neither with ReLU nor with squares are the ghosts "
            "half of the peak."
        ),
    ),
    Contradiction(
        id="X-H6",
        conflict=(
            "The abstract says that magnitude and alignment decide the winning frequency. The post's conclusion "
            "says alignment rather than magnitude."
        ),
        settled_by={
            "lottery.phase": (dynamics.BY_D, dynamics.BY_ALPHA),
            "lottery.time": (dynamics.BY_TIME,),
        },
        follows=(
            "The abstract is right. Magnitude or alignment alone decides the frequency of few neurons. Both "
            "together decide nearly all neurons that have a winning frequency."
        ),
    ),
    Contradiction(
        id="X-H8",
        conflict="The ReLU panels of figure 13 show a network that answers all pairs, but whose loss is that of "
        "guessing.",
        settled_by={"setup.solved_relu1": (OVER_CHANCE,)},
        follows="The right answers of this network lead by tiny margins: it has hardly begun to learn.",
    ),
    Contradiction(
        id="X-H10",
        conflict="By proposition 1 the pairs x = y are the easiest. In networks with ReLU the pairs x = y are the "
        "hardest.",
        settled_by={"logits.diagonal": (voting.LEAD,), "maths.square": (mathematics.ON,)},
        follows="Neurons that read square waves have no signal at x = y, since both inputs give equal values.",
    ),
)
