"""Conflicts that He, Wang, Chen and Yang 2026 have with themselves, with arithmetic, and with their own networks."""

from modinterp.claims.contradiction import Contradiction
from modinterp.sources.he.claims import dynamics, flow_claims, mathematics, voting
from modinterp.sources.he.claims.setup import OVER_CHANCE

CONTRADICTIONS = (
    Contradiction(
        id="X-H1",
        conflict="The app's and the post's printed equations of the phases have signs by which D = 0 repels; their theorem "
        "says that it attracts, and so does their simulation.",
        settled_by={"ode.attractor": (flow_claims.OWN_RATE, flow_claims.APP_RATE, flow_claims.BLOG_RATE)},
        follows="The signs are misprints: the flow derived from the loss attracts, as the simulation has it.",
    ),
    Contradiction(
        id="X-H3",
        conflict="The post has a = alpha beta^2, where alpha is read and beta is written.",
        settled_by={"maths.indicator": ("largest difference from the indicators",)},
        follows="A square of what is read times what is written: it is alpha^2 beta.",
    ),
    Contradiction(
        id="X-H4",
        conflict="Figure 8 shows ghosts of the network with ReLU, computed with squares in its place.",
        settled_by={"logits.ghost": (voting.GHOST, "ghost over peak with squares as nonlinearity")},
        follows="With its own nonlinearity the network has smaller ghosts; with neither are they one half.",
    ),
    Contradiction(
        id="X-H6",
        conflict="The abstract has the winner decided by magnitude and alignment; the post's conclusion by alignment "
        "rather than magnitude.",
        settled_by={
            "lottery.phase": (dynamics.BY_D, dynamics.BY_ALPHA),
            "lottery.time": (dynamics.BY_TIME,),
        },
        follows="The abstract is right: each alone decides few neurons, both together nearly all that are decided.",
    ),
    Contradiction(
        id="X-H8",
        conflict="The ReLU panels of figure 13 are of a network that answers all pairs, at a loss of guessing.",
        settled_by={"setup.solved_relu1": (OVER_CHANCE,)},
        follows="It is right on all pairs by minute leads, and has hardly begun to learn.",
    ),
    Contradiction(
        id="X-H10",
        conflict="By proposition 1 pairs x = y are the easiest; in networks with ReLU they are the hardest.",
        settled_by={"logits.diagonal": (voting.LEAD,), "maths.square": (mathematics.ON,)},
        follows="Neurons that read square waves have no signal at x = y, since both inputs are read alike.",
    ),
)
