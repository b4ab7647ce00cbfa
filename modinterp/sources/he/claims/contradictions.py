"""Conflicts that He, Wang, Chen and Yang 2026 have with themselves, with arithmetic, and with their own networks."""

from modinterp.claims.contradiction import Contradiction
from modinterp.sources.he.claims import dynamics, flow_claims, mathematics, voting
from modinterp.sources.he.claims.setup import OVER_CHANCE

CONTRADICTIONS = (
    Contradiction(
        id="X-H1",
        conflict=(
            "The app and the post print equations of the phases whose signs make D = 0 repel. Their theorem "
            "says that D = 0 attracts, and so does their simulation."
        ),
        settled_by={"ode.attractor": (flow_claims.OWN_RATE, flow_claims.APP_RATE, flow_claims.BLOG_RATE)},
        follows="The signs are misprints: the flow derived from the loss attracts, as in the simulation.",
    ),
    Contradiction(
        id="X-H3",
        conflict="The post has a = alpha beta^2, where alpha scales what is read and beta what is written.",
        settled_by={"maths.indicator": ("largest difference from the indicators",)},
        follows="The logit is a square of what is read times what is written: alpha^2 beta.",
    ),
    Contradiction(
        id="X-H4",
        conflict="Figure 8 shows ghosts of the network with ReLU, but computes them with squares in its place.",
        settled_by={"logits.ghost": (voting.GHOST, "ghost over peak with squares as nonlinearity")},
        follows=(
            "With its own ReLU the network has smaller ghosts. With neither ReLU nor squares are the ghosts one "
            "half of the peak."
        ),
    ),
    Contradiction(
        id="X-H6",
        conflict=(
            "The abstract says that magnitude and alignment decide the winner. The post's conclusion says "
            "alignment rather than magnitude."
        ),
        settled_by={
            "lottery.phase": (dynamics.BY_D, dynamics.BY_ALPHA),
            "lottery.time": (dynamics.BY_TIME,),
        },
        follows=(
            "The abstract is right. Magnitude or alignment alone decides few neurons; both together decide nearly "
            "all neurons that have a winner."
        ),
    ),
    Contradiction(
        id="X-H8",
        conflict="The ReLU panels of figure 13 show a network that answers all pairs, at a loss of guessing.",
        settled_by={"setup.solved_relu1": (OVER_CHANCE,)},
        follows="The network answers all pairs correctly by minute leads, and has hardly begun to learn.",
    ),
    Contradiction(
        id="X-H10",
        conflict="By proposition 1 the pairs x = y are the easiest. In networks with ReLU they are the hardest.",
        settled_by={"logits.diagonal": (voting.LEAD,), "maths.square": (mathematics.ON,)},
        follows="Neurons that read square waves have no signal at x = y, since both inputs are read alike.",
    ),
)
