"""Define the opening sentences of the page on He, Wang, Chen and Yang 2026."""

from modinterp.sources.story import Story

STORY = Story(
    sentences=(
        "A hidden layer that reads the sum of two one-hot vectors learns to add modulo 23. With the authors' seed we "
        "reproduce the authors' run, to a loss of {setup.replay[loss at 1,000]:.6f} after 1,000 steps; this "
        "statement {setup.replay}.",
        "Every neuron learns an output phase of twice its input phase, with a median error of {obs2.align[median "
        "|D|]:.3f} radians; this statement {obs2.align}. The statement that virtually each neuron has a single "
        "frequency {obs1.share}.",
        "Initial size and phase predict, by the gradient flow, which frequency dominates first. The predicted "
        "frequency wins in {lottery.time[winners of least time to dominate, share]:.0%} of the neurons; this "
        "statement {lottery.time}. The statement that the phase alone decides the frequency {lottery.phase}.",
        "While the network memorises, it answers the mirrors (b, a) of its training pairs and no other test pairs, "
        "within {grok.mirror[test accuracy less the share of mirrored pairs]:.3f}; this statement {grok.mirror}.",
        "The statement that without weight decay the network never goes beyond mirrored pairs {grok.decay}. With "
        "weight decay, the unseen pairs x = y are the last pairs that the network answers wrongly; this statement "
        "{grok.final_diagonal}.",
    ),
    figures=("phases", "lottery", "stages"),
)
