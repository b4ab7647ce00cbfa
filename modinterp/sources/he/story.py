"""The opening sentences of the page on He, Wang, Chen and Yang 2026."""

from modinterp.sources.story import Story

STORY = Story(
    sentences=(
        "A hidden layer that reads the sum of two one-hot vectors learns to add modulo 23. With the authors' seed "
        "we reproduce their run, to a loss of {setup.replay[loss at 1,000]:.6f} after 1,000 steps; this "
        "{setup.replay}.",
        "Every neuron learns to write at twice the phase that it reads, to {obs2.align[median |D|]:.3f} radians "
        "in the median; this {obs2.align}. The statement that each neuron has virtually one frequency "
        "{obs1.share}.",
        "Initial size and phase predict, by the gradient flow, which frequency dominates first. This frequency "
        "wins in {lottery.time[winners of least time to dominate, share]:.0%} of the neurons; this "
        "{lottery.time}. The statement that the phase alone decides the frequency {lottery.phase}.",
        "While the network memorises, it answers the mirrors (b, a) of its training pairs and no other test "
        "pairs, within {grok.mirror[test accuracy less the share of mirrored pairs]:.3f}; this {grok.mirror}.",
        "The statement that without weight decay the network never goes beyond mirrored pairs {grok.decay}. With "
        "weight decay, the unseen pairs x = y are the last wrong ones; this {grok.final_diagonal}.",
    ),
    figures=("phases", "lottery", "stages"),
)
